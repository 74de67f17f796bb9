#include "resident_join.h"

#include <algorithm>

#include "join_plan.h"
#include "partition.cuh"
#include "partition_join.cuh"

namespace gpujoin::resident {
namespace {

constexpr int kSmallBlockThreads = 256;
constexpr int kScanThreads = 1024;

/** Tiles as large as lets two blocks share a multiprocessor; for narrow rows, as their registers allow. */
template <class Word>
using PassShape = TileShape<1024, sizeof(Word) == 8 ? 6 : 8, 1, 2>;

/** Three blocks on a multiprocessor; more threads would have too few registers for their batches. */
constexpr int kJoinThreads = 384;
constexpr int kJoinBlocksPerSm = 3;
template <class Word>
constexpr int kProbeBatchRows = sizeof(Word) == 8 ? 4 : 6;

std::uint32_t blocksFor(std::uint64_t work, std::uint64_t perBlock) {
    return static_cast<std::uint32_t>((work + perBlock - 1) / perBlock);
}

/** One table's partitioned rows and the slots they lie in, in the workspace. */
template <class Word>
struct PartitionedTable {
    double repeats;
    Slots firstSlots;
    /** Of the last pass; the first's where there is but one. */
    Slots slots;
    Tuple<Word>* rows;
    std::uint32_t* tileStarts;
    /** One word that is 0. */
    std::uint32_t* never;

    static PartitionedTable cut(RegionCutter& cutter, const RadixPlan& plan,
                                std::uint64_t tableRows, double repeats) {
        PartitionedTable table;
        table.repeats = repeats;
        table.firstSlots = Slots::cut(cutter, plan.first.count());
        table.slots = plan.twoPasses() ? Slots::cut(cutter, plan.partitions()) : table.firstSlots;
        table.rows =
            cutter.take<Tuple<Word>>(slotBufferRows(tableRows, plan.partitions(), repeats));
        table.tileStarts = cutter.take<std::uint32_t>(plan.first.count() + 1);
        table.never = cutter.take<std::uint32_t>(1);
        return table;
    }
};

template <class Word>
struct Workspace {
    PartitionedTable<Word> build;
    PartitionedTable<Word> probe;
    /** Rows between two passes; the tables use it one after the other. */
    Tuple<Word>* between = nullptr;
    JoinItems items;
    std::size_t lengthBytes;

    static Workspace cut(void* base, const RadixPlan& plan, std::uint64_t buildRows,
                         std::uint64_t probeRows) {
        RegionCutter cutter(base);
        Workspace w;
        // A probe row's key is one of the build rows' as a rule, so that probe keys repeat this often.
        const double probeRepeats =
            1.0 + static_cast<double>(probeRows) / static_cast<double>(buildRows + 1);
        w.build = PartitionedTable<Word>::cut(cutter, plan, buildRows, 1.0);
        w.probe = PartitionedTable<Word>::cut(cutter, plan, probeRows, probeRepeats);
        if (plan.twoPasses()) {
            const std::uint32_t firsts = plan.first.count();
            w.between =
                cutter.take<Tuple<Word>>(std::max(slotBufferRows(buildRows, firsts, 1.0),
                                                  slotBufferRows(probeRows, firsts, probeRepeats)));
        }
        w.items = JoinItems::cut(cutter, plan.partitions());
        w.lengthBytes = cutter.usedBytes();
        return w;
    }
};

/** Enqueues kernels on one stream and remembers the first refusal. */
class Enqueuer {
  public:
    explicit Enqueuer(cudaStream_t stream) : stream_(stream) {}

    template <class... Parameters, class... Arguments>
    void launch(void (*kernel)(Parameters...), std::uint32_t blocks, int threads,
                std::size_t sharedBytes, Arguments... arguments) {
        if (status_ != cudaSuccess || blocks == 0) {
            return;
        }
        status_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(sharedBytes));
        if (status_ == cudaSuccess) {
            kernel<<<blocks, threads, sharedBytes, stream_>>>(arguments...);
            status_ = cudaPeekAtLastError();
        }
    }

    void clear(void* memory, std::size_t lengthBytes) {
        if (status_ == cudaSuccess) {
            status_ = cudaMemsetAsync(memory, 0, lengthBytes, stream_);
        }
    }

    void record(cudaEvent_t event) {
        if (status_ == cudaSuccess && event != nullptr) {
            status_ = cudaEventRecord(event, stream_);
        }
    }

    void check(cudaError_t error) { status_ = status_ == cudaSuccess ? error : status_; }
    JoinStatus status() const {
        return status_ == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
    }

  private:
    cudaStream_t stream_;
    cudaError_t status_ = cudaSuccess;
};

/** What a pass moves where. */
template <class Word, class Source>
struct Pass {
    Source source;
    std::uint32_t tiles;
    std::uint64_t rows;
    double repeats;
    RadixDigit digit;
    std::uint32_t partitions;
    Slots slots;
    const std::uint32_t* lostBefore;
    Tuple<Word>* target;
};

/** A guess, with a block for each tile, and the counted attempt that runs where the guess fails. */
template <class Word, class Source>
void enqueuePass(Enqueuer& queue, const Pass<Word, Source>& pass, int multiprocessors) {
    using Shape = PassShape<Word>;
    const std::size_t shared = Shape::template sharedBytes<Word>(pass.digit.count());
    const std::uint32_t slotBlocks = blocksFor(pass.partitions, kSmallBlockThreads);
    const std::uint32_t residentBlocks =
        std::min(pass.tiles, static_cast<std::uint32_t>(multiprocessors * Shape::kBlocksPerSm));
    queue.launch(guessSlots, slotBlocks, kSmallBlockThreads, 0, pass.slots, pass.partitions,
                 guessedCapacityRows(pass.rows, pass.partitions, pass.repeats), pass.lostBefore);
    queue.launch(scatterTiles<Word, Source, Shape, Attempt::GUESSED>, pass.tiles, Shape::kThreads,
                 shared, pass.source, pass.tiles, pass.digit, pass.slots, pass.target,
                 pass.lostBefore);
    queue.launch(clearCounts, slotBlocks, kSmallBlockThreads, 0, pass.slots, pass.partitions);
    queue.launch(countTiles<Word, Source, Shape>, residentBlocks, Shape::kThreads,
                 pass.digit.count() * sizeof(std::uint32_t), pass.source, pass.tiles, pass.digit,
                 pass.slots);
    queue.launch(layOutSlots<kScanThreads>, 1, kScanThreads, 0, pass.slots, pass.partitions);
    queue.launch(scatterTiles<Word, Source, Shape, Attempt::COUNTED>, residentBlocks,
                 Shape::kThreads, shared, pass.source, pass.tiles, pass.digit, pass.slots,
                 pass.target, pass.slots.overflow);
}

template <class Word>
void enqueuePartitioning(Enqueuer& queue, const RadixPlan& plan, const TableView<Word>& table,
                         const PartitionedTable<Word>& result, Tuple<Word>* between,
                         int multiprocessors, cudaEvent_t firstEnd, cudaEvent_t secondEnd) {
    using Shape = PassShape<Word>;
    const std::uint32_t tiles = blocksFor(table.rows, Shape::kRows);
    const std::uint32_t firsts = plan.first.count();
    queue.clear(result.never, sizeof(std::uint32_t));
    const Pass<Word, ColumnSource<Word>> first{{table.keys, table.payloads, table.rows},
                                               tiles,
                                               table.rows,
                                               result.repeats,
                                               plan.first,
                                               firsts,
                                               result.firstSlots,
                                               result.never,
                                               plan.twoPasses() ? between : result.rows};
    enqueuePass(queue, first, multiprocessors);
    queue.record(firstEnd);
    if (plan.twoPasses()) {
        queue.launch(mapTiles<kScanThreads>, 1, kScanThreads, 0, result.firstSlots, firsts,
                     Shape::kRows, result.tileStarts);
        const Pass<Word, PartitionSource<Word>> second{
            {between, result.firstSlots, result.tileStarts, firsts, plan.second.count()},
            tiles + firsts,
            table.rows,
            result.repeats,
            plan.second,
            plan.partitions(),
            result.slots,
            result.firstSlots.overflow,
            result.rows};
        enqueuePass(queue, second, multiprocessors);
    }
    queue.record(secondEnd);
}

template <class Word>
void enqueueJoin(Enqueuer& queue, const Workspace<Word>& w, const MatchColumns<Word>& matches,
                 int multiprocessors) {
    queue.launch(planItems<Word, kScanThreads>, 1, kScanThreads, 0, w.build.slots, w.probe.slots,
                 w.items, matches.matchCount);
    queue.launch(joinPartitions<Word, kJoinThreads, kJoinBlocksPerSm, kProbeBatchRows<Word>>,
                 static_cast<std::uint32_t>(multiprocessors * kJoinBlocksPerSm), kJoinThreads,
                 ChainTable<Word>::lengthBytes(kTableShape<Word>.rows, kTableShape<Word>.slotBits),
                 w.build.rows, w.build.slots, w.probe.rows, w.probe.slots, w.items,
                 MatchWriter<Word>{matches});
}

bool aligned(const void* pointer, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class Word>
bool legal(const TableView<Word>& table) {
    const bool present = table.rows == 0 || (table.keys != nullptr && table.payloads != nullptr);
    return present && table.rows <= kMaxRows && aligned(table.keys, kColumnAlignmentBytes) &&
           aligned(table.payloads, kColumnAlignmentBytes);
}

template <class Word>
bool legal(const MatchColumns<Word>& matches) {
    const bool present = matches.capacityRows == 0 ||
                         (matches.buildPayloads != nullptr && matches.probePayloads != nullptr);
    return present && matches.matchCount != nullptr &&
           aligned(matches.matchCount, sizeof(std::uint64_t)) &&
           aligned(matches.keys, sizeof(Word)) && aligned(matches.buildPayloads, sizeof(Word)) &&
           aligned(matches.probePayloads, sizeof(Word));
}

}  // namespace

const char* describe(JoinStatus status) {
    switch (status) {
        case JoinStatus::OK:
            return "enqueued";
        case JoinStatus::INVALID_ARGUMENT:
            return "a pointer is null or misaligned, or a table has over 2^31 rows";
        case JoinStatus::WORKSPACE_TOO_SMALL:
            return "the workspace is shorter than workspaceBytes() says";
        case JoinStatus::LAUNCH_FAILED:
            return "the CUDA runtime refused a launch";
    }
    return "unknown status";
}

template <class Word>
std::size_t workspaceBytes(std::uint64_t buildRows, std::uint64_t probeRows) {
    return Workspace<Word>::cut(nullptr, RadixPlan::of(buildRows, kTableShape<Word>), buildRows,
                                probeRows)
        .lengthBytes;
}

template <class Word>
JoinStatus joinResident(const TableView<Word>& build, const TableView<Word>& probe,
                        const MatchColumns<Word>& matches, void* workspace,
                        std::size_t workspaceLengthBytes, cudaStream_t stream,
                        const JoinTrace& trace) {
    if (!legal(build) || !legal(probe) || !legal(matches) ||
        !aligned(workspace, kRegionAlignmentBytes)) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    const RadixPlan plan = RadixPlan::of(build.rows, kTableShape<Word>);
    const auto cut = Workspace<Word>::cut(workspace, plan, build.rows, probe.rows);
    if (workspace == nullptr || workspaceLengthBytes < cut.lengthBytes) {
        return JoinStatus::WORKSPACE_TOO_SMALL;
    }
    Enqueuer queue(stream);
    int device = 0;
    int multiprocessors = 0;
    queue.check(cudaGetDevice(&device));
    queue.check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    enqueuePartitioning(queue, plan, build, cut.build, cut.between, multiprocessors,
                        trace.stepEnds[0], trace.stepEnds[1]);
    enqueuePartitioning(queue, plan, probe, cut.probe, cut.between, multiprocessors,
                        trace.stepEnds[2], trace.stepEnds[3]);
    enqueueJoin(queue, cut, matches, multiprocessors);
    queue.record(trace.stepEnds[4]);
    return queue.status();
}

template std::size_t workspaceBytes<std::int32_t>(std::uint64_t, std::uint64_t);
template std::size_t workspaceBytes<std::int64_t>(std::uint64_t, std::uint64_t);
template JoinStatus joinResident(const TableView<std::int32_t>&, const TableView<std::int32_t>&,
                                 const MatchColumns<std::int32_t>&, void*, std::size_t,
                                 cudaStream_t, const JoinTrace&);
template JoinStatus joinResident(const TableView<std::int64_t>&, const TableView<std::int64_t>&,
                                 const MatchColumns<std::int64_t>&, void*, std::size_t,
                                 cudaStream_t, const JoinTrace&);

}  // namespace gpujoin::resident
