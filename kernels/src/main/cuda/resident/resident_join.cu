// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the resident join: lays out the workspace and enqueues the kernels.

#include "resident_join.h"

#include <algorithm>

#include "join_plan.h"
#include "partition.cuh"
#include "partition_join.cuh"

namespace gpujoin::resident {
namespace {

constexpr int SMALL_BLOCK_THREADS = 256;
constexpr int SCAN_THREADS = 1024;

// The largest tiles with which two blocks share a multiprocessor; for narrow rows, registers limit
// them.
template <typename Word>
using PassShape = TileShape<1024, sizeof(Word) == 8 ? 6 : 8, 1, 2>;

// Three blocks share a multiprocessor; more threads would leave too few registers for a batch.
constexpr int JOIN_THREADS = 384;
constexpr int JOIN_BLOCKS_PER_SM = 3;
template <typename Word>
constexpr int PROBE_BATCH_ROWS = sizeof(Word) == 8 ? 4 : 6;

uint32_t blocksFor(uint64_t work, uint64_t perBlock) {
    return static_cast<uint32_t>((work + perBlock - 1) / perBlock);
}

// The partitioned rows of one table and their slots, in the workspace.
template <typename Word>
struct PartitionedTable {
    double rowsPerKey;
    Slots firstSlots;
    // Slots of the last pass, which may be the first.
    Slots slots;
    Tuple<Word>* rows;
    uint32_t* tileStarts;
    // One word with the value 0.
    uint32_t* zero;

    static PartitionedTable allocate(RegionAllocator& regions, const RadixPlan& plan,
                                     uint64_t tableRows, double rowsPerKey) {
        PartitionedTable table;
        table.rowsPerKey = rowsPerKey;
        table.firstSlots = Slots::allocate(regions, plan.first.count());
        table.slots =
            plan.hasTwoPasses() ? Slots::allocate(regions, plan.partitions()) : table.firstSlots;
        table.rows =
            regions.allocate<Tuple<Word>>(slotBufferRows(tableRows, plan.partitions(), rowsPerKey));
        table.tileStarts = regions.allocate<uint32_t>(plan.first.count() + 1);
        table.zero = regions.allocate<uint32_t>(1);
        return table;
    }
};

template <typename Word>
struct Workspace {
    PartitionedTable<Word> build;
    PartitionedTable<Word> probe;
    // Rows between two passes. Both tables use it, one after the other.
    Tuple<Word>* intermediate = nullptr;
    JoinItems items;
    size_t lengthBytes;

    static Workspace allocate(void* base, const RadixPlan& plan, uint64_t buildRows,
                              uint64_t probeRows) {
        RegionAllocator regions(base);
        Workspace workspace;
        // Most probe rows have the key of a build row.
        double probeRowsPerKey =
            1.0 + static_cast<double>(probeRows) / static_cast<double>(buildRows + 1);
        workspace.build = PartitionedTable<Word>::allocate(regions, plan, buildRows, 1.0);
        workspace.probe =
            PartitionedTable<Word>::allocate(regions, plan, probeRows, probeRowsPerKey);
        if (plan.hasTwoPasses()) {
            uint32_t firsts = plan.first.count();
            workspace.intermediate = regions.allocate<Tuple<Word>>(
                std::max(slotBufferRows(buildRows, firsts, 1.0),
                         slotBufferRows(probeRows, firsts, probeRowsPerKey)));
        }
        workspace.items = JoinItems::allocate(regions, plan.partitions());
        workspace.lengthBytes = regions.usedBytes();
        return workspace;
    }
};

// Enqueues kernels on one stream and retains the first error.
class Enqueuer {
  public:
    explicit Enqueuer(cudaStream_t stream) : stream(stream) {}

    template <typename... Parameters, typename... Arguments>
    void launch(void (*kernel)(Parameters...), uint32_t blocks, int threads, size_t sharedBytes,
                Arguments... arguments) {
        if (failure != cudaSuccess || blocks == 0) {
            return;
        }
        failure = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(sharedBytes));
        if (failure == cudaSuccess) {
            kernel<<<blocks, threads, sharedBytes, stream>>>(arguments...);
            failure = cudaPeekAtLastError();
        }
    }

    void clear(void* memory, size_t lengthBytes) {
        if (failure == cudaSuccess) {
            failure = cudaMemsetAsync(memory, 0, lengthBytes, stream);
        }
    }

    void record(cudaEvent_t event) {
        if (failure == cudaSuccess && event != nullptr) {
            failure = cudaEventRecord(event, stream);
        }
    }

    void check(cudaError_t error) { failure = failure == cudaSuccess ? error : failure; }
    JoinStatus status() const {
        return failure == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
    }

  private:
    cudaStream_t stream;
    cudaError_t failure = cudaSuccess;
};

// Source and target of a radix pass.
template <typename Word, typename Source>
struct Pass {
    Source source;
    uint32_t tiles;
    uint64_t rows;
    double rowsPerKey;
    RadixDigit digit;
    uint32_t partitions;
    Slots slots;
    const uint32_t* overflowBefore;
    Tuple<Word>* target;
};

// Enqueues the guessed attempt with a block for each tile, and the counted attempt, which runs if
// the guess fails.
template <typename Word, typename Source>
void enqueuePass(Enqueuer& queue, const Pass<Word, Source>& pass, int multiprocessors) {
    using Shape = PassShape<Word>;
    size_t shared = Shape::template sharedBytes<Word>(pass.digit.count());
    uint32_t slotBlocks = blocksFor(pass.partitions, SMALL_BLOCK_THREADS);
    uint32_t residentBlocks =
        std::min(pass.tiles, static_cast<uint32_t>(multiprocessors * Shape::BLOCKS_PER_SM));
    queue.launch(guessSlots, slotBlocks, SMALL_BLOCK_THREADS, 0, pass.slots, pass.partitions,
                 guessedCapacityRows(pass.rows, pass.partitions, pass.rowsPerKey),
                 pass.overflowBefore);
    queue.launch(scatterTiles<Word, Source, Shape, Attempt::GUESSED>, pass.tiles, Shape::THREADS,
                 shared, pass.source, pass.tiles, pass.digit, pass.slots, pass.target,
                 pass.overflowBefore);
    queue.launch(clearCounts, slotBlocks, SMALL_BLOCK_THREADS, 0, pass.slots, pass.partitions);
    queue.launch(countTiles<Word, Source, Shape>, residentBlocks, Shape::THREADS,
                 pass.digit.count() * sizeof(uint32_t), pass.source, pass.tiles, pass.digit,
                 pass.slots);
    queue.launch(layOutSlots<SCAN_THREADS>, 1, SCAN_THREADS, 0, pass.slots, pass.partitions);
    queue.launch(scatterTiles<Word, Source, Shape, Attempt::COUNTED>, residentBlocks,
                 Shape::THREADS, shared, pass.source, pass.tiles, pass.digit, pass.slots,
                 pass.target, pass.slots.overflow);
}

template <typename Word>
void enqueuePartitioning(Enqueuer& queue, const RadixPlan& plan, const TableView<Word>& table,
                         const PartitionedTable<Word>& result, Tuple<Word>* intermediate,
                         int multiprocessors, cudaEvent_t firstEnd, cudaEvent_t secondEnd) {
    using Shape = PassShape<Word>;
    uint32_t tiles = blocksFor(table.rows, Shape::ROWS);
    uint32_t firsts = plan.first.count();
    queue.clear(result.zero, sizeof(uint32_t));
    Pass<Word, ColumnSource<Word>> first{{table.keys, table.payloads, table.rows},
                                         tiles,
                                         table.rows,
                                         result.rowsPerKey,
                                         plan.first,
                                         firsts,
                                         result.firstSlots,
                                         result.zero,
                                         plan.hasTwoPasses() ? intermediate : result.rows};
    enqueuePass(queue, first, multiprocessors);
    queue.record(firstEnd);
    if (plan.hasTwoPasses()) {
        queue.launch(mapTiles<SCAN_THREADS>, 1, SCAN_THREADS, 0, result.firstSlots, firsts,
                     Shape::ROWS, result.tileStarts);
        Pass<Word, PartitionSource<Word>> second{
            {intermediate, result.firstSlots, result.tileStarts, firsts, plan.second.count()},
            tiles + firsts,
            table.rows,
            result.rowsPerKey,
            plan.second,
            plan.partitions(),
            result.slots,
            result.firstSlots.overflow,
            result.rows};
        enqueuePass(queue, second, multiprocessors);
    }
    queue.record(secondEnd);
}

template <typename Word>
void enqueueJoin(Enqueuer& queue, const Workspace<Word>& workspace,
                 const MatchColumns<Word>& matches, int multiprocessors) {
    queue.launch(planItems<Word, SCAN_THREADS>, 1, SCAN_THREADS, 0, workspace.build.slots,
                 workspace.probe.slots, workspace.items, matches.matchCount);
    queue.launch(joinPartitions<Word, JOIN_THREADS, JOIN_BLOCKS_PER_SM, PROBE_BATCH_ROWS<Word>>,
                 static_cast<uint32_t>(multiprocessors * JOIN_BLOCKS_PER_SM), JOIN_THREADS,
                 ChainTable<Word>::lengthBytes(TABLE_SHAPE<Word>.rows, TABLE_SHAPE<Word>.slotBits),
                 workspace.build.rows, workspace.build.slots, workspace.probe.rows,
                 workspace.probe.slots, workspace.items, MatchWriter<Word>{matches});
}

bool isAligned(const void* pointer, size_t bytes) {
    return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

template <typename Word>
bool isValid(const TableView<Word>& table) {
    bool isPresent = table.rows == 0 || (table.keys != nullptr && table.payloads != nullptr);
    return isPresent && table.rows <= MAX_ROWS && isAligned(table.keys, COLUMN_ALIGNMENT_BYTES) &&
           isAligned(table.payloads, COLUMN_ALIGNMENT_BYTES);
}

template <typename Word>
bool isValid(const MatchColumns<Word>& matches) {
    bool isPresent = matches.capacityRows == 0 ||
                     (matches.buildPayloads != nullptr && matches.probePayloads != nullptr);
    return isPresent && matches.matchCount != nullptr &&
           isAligned(matches.matchCount, sizeof(uint64_t)) &&
           isAligned(matches.keys, sizeof(Word)) &&
           isAligned(matches.buildPayloads, sizeof(Word)) &&
           isAligned(matches.probePayloads, sizeof(Word));
}

}  // namespace

const char* describe(JoinStatus status) {
    switch (status) {
        case JoinStatus::OK:
            return "enqueued";
        case JoinStatus::INVALID_ARGUMENT:
            return "a pointer is null or misaligned, or a table has more than 2^31 rows";
        case JoinStatus::WORKSPACE_TOO_SMALL:
            return "the workspace is smaller than workspaceBytes()";
        case JoinStatus::LAUNCH_FAILED:
            return "the CUDA runtime rejected a launch";
    }
    return "unknown status";
}

template <typename Word>
size_t workspaceBytes(uint64_t buildRows, uint64_t probeRows) {
    return Workspace<Word>::allocate(nullptr, RadixPlan::of(buildRows, TABLE_SHAPE<Word>),
                                     buildRows, probeRows)
        .lengthBytes;
}

template <typename Word>
JoinStatus joinResident(const TableView<Word>& build, const TableView<Word>& probe,
                        const MatchColumns<Word>& matches, void* workspace,
                        size_t workspaceLengthBytes, cudaStream_t stream, const JoinTrace& trace) {
    if (!isValid(build) || !isValid(probe) || !isValid(matches) ||
        !isAligned(workspace, REGION_ALIGNMENT_BYTES)) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    RadixPlan plan = RadixPlan::of(build.rows, TABLE_SHAPE<Word>);
    auto buffers = Workspace<Word>::allocate(workspace, plan, build.rows, probe.rows);
    if (workspace == nullptr || workspaceLengthBytes < buffers.lengthBytes) {
        return JoinStatus::WORKSPACE_TOO_SMALL;
    }
    Enqueuer queue(stream);
    int device = 0;
    int multiprocessors = 0;
    queue.check(cudaGetDevice(&device));
    queue.check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    enqueuePartitioning(queue, plan, build, buffers.build, buffers.intermediate, multiprocessors,
                        trace.stepEnds[0], trace.stepEnds[1]);
    enqueuePartitioning(queue, plan, probe, buffers.probe, buffers.intermediate, multiprocessors,
                        trace.stepEnds[2], trace.stepEnds[3]);
    enqueueJoin(queue, buffers, matches, multiprocessors);
    queue.record(trace.stepEnds[4]);
    return queue.status();
}

template size_t workspaceBytes<int32_t>(uint64_t, uint64_t);
template size_t workspaceBytes<int64_t>(uint64_t, uint64_t);
template JoinStatus joinResident(const TableView<int32_t>&, const TableView<int32_t>&,
                                 const MatchColumns<int32_t>&, void*, size_t, cudaStream_t,
                                 const JoinTrace&);
template JoinStatus joinResident(const TableView<int64_t>&, const TableView<int64_t>&,
                                 const MatchColumns<int64_t>&, void*, size_t, cudaStream_t,
                                 const JoinTrace&);

}  // namespace gpujoin::resident
