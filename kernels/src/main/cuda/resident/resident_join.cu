// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the resident join for programs that use the CUDA runtime: enqueues the kernels.

#include "resident_join.h"

#include <algorithm>
#include <initializer_list>

#include "enqueuer.h"
#include "join_arguments.h"
#include "resident_call.h"
#include "resident_kernels.cuh"

namespace gpujoin::resident {
namespace {

template <typename Word>
ResidentCall<Word> callOf(const TableView<Word>& build, const TableView<Word>& probe,
                          const MatchColumns<Word>& matches, void* workspace) {
    ResidentCall<Word> call{};
    call.build = build;
    call.probe = probe;
    call.matches = matches;
    call.memory = workspace;
    call.plan();
    return call;
}

// The kernels for words of one width.
template <typename Word>
struct Kernels;

template <typename Word>
using TableKernel = void (*)(ResidentCall<Word>, uint64_t);

// Clears counts, counts, lays out slots and scatters.
template <typename Word>
struct AttemptKernels {
    TableKernel<Word> clear;
    TableKernel<Word> count;
    TableKernel<Word> layOut;
    TableKernel<Word> scatter;
};

#define GPUJOIN_ATTEMPT_NAMES(order, attempt, Bits)            \
    gpujoin_resident_clear_##order##_##attempt##_##Bits,       \
        gpujoin_resident_count_##order##_##attempt##_##Bits,   \
        gpujoin_resident_lay_out_##order##_##attempt##_##Bits, \
        gpujoin_resident_scatter_##order##_##attempt##_##Bits

#define GPUJOIN_RESIDENT_NAMES(Word, Bits)                                                   \
    template <>                                                                              \
    struct Kernels<Word> {                                                                   \
        using OfTable = TableKernel<Word>;                                                   \
        struct PassKernels {                                                                 \
            OfTable guess;                                                                   \
            OfTable scatterGuessed;                                                          \
            AttemptKernels<Word> sampled;                                                    \
            AttemptKernels<Word> counted;                                                    \
        };                                                                                   \
        using OfJoin = void (*)(ResidentCall<Word>, ItemRange);                              \
        static constexpr PassKernels FIRST{gpujoin_resident_guess_first_##Bits,              \
                                           gpujoin_resident_scatter_first_guessed_##Bits,    \
                                           {GPUJOIN_ATTEMPT_NAMES(first, sampled, Bits)},    \
                                           {GPUJOIN_ATTEMPT_NAMES(first, counted, Bits)}};   \
        static constexpr PassKernels SECOND{gpujoin_resident_guess_second_##Bits,            \
                                            gpujoin_resident_scatter_second_guessed_##Bits,  \
                                            {GPUJOIN_ATTEMPT_NAMES(second, sampled, Bits)},  \
                                            {GPUJOIN_ATTEMPT_NAMES(second, counted, Bits)}}; \
        static constexpr OfTable MAP_TILES = gpujoin_resident_map_tiles_##Bits;              \
        static constexpr OfTable ITEMS = gpujoin_resident_items_##Bits;                      \
        static constexpr OfJoin JOIN = gpujoin_resident_join_##Bits;                         \
    };

GPUJOIN_RESIDENT_NAMES(int32_t, 32)
GPUJOIN_RESIDENT_NAMES(int64_t, 64)

// Enqueues the guessed attempt with a block for each tile, which is the fastest, and the others with
// fewer blocks, which return soon if the guess succeeded.
template <typename Word>
void enqueuePass(Enqueuer& queue, const typename Kernels<Word>::PassKernels& kernels,
                 const RadixPass<Word>& pass, const ResidentCall<Word>& call, uint64_t table,
                 int multiprocessors) {
    using Shape = PassShape<Word>;
    uint32_t shared = Shape::template sharedBytes<Word>(pass.digit.count());
    uint32_t slotBlocks = blocksFor(pass.partitions, SLOT_THREADS);
    uint32_t residentBlocks =
        std::min(pass.tiles, static_cast<uint32_t>(multiprocessors * Shape::BLOCKS_PER_SM));
    uint32_t scatterBlocks = std::min(pass.tiles, residentBlocks * SCATTER_WAVES);
    queue.launch(kernels.guess, slotBlocks, SLOT_THREADS, 0, call, table);
    queue.launch(kernels.scatterGuessed, pass.tiles, Shape::THREADS, shared, call, table);
    for (bool isSampled : {true, false}) {
        const AttemptKernels<Word>& attempt = isSampled ? kernels.sampled : kernels.counted;
        queue.launch(attempt.clear, slotBlocks, SLOT_THREADS, 0, call, table);
        queue.launch(attempt.count, residentBlocks, Shape::THREADS,
                     pass.digit.count() * sizeof(uint32_t), call, table);
        queue.launch(attempt.layOut, blocksFor(pass.partitions, SCAN_THREADS), SCAN_THREADS, 0,
                     call, table);
        queue.launch(attempt.scatter, scatterBlocks, Shape::THREADS, shared, call, table);
    }
}

template <typename Word>
void enqueuePartitioning(Enqueuer& queue, const ResidentCall<Word>& call, uint32_t table,
                         int multiprocessors, cudaEvent_t firstEnd, cudaEvent_t secondEnd) {
    enqueuePass<Word>(queue, Kernels<Word>::FIRST, call.firstPass(table), call, table,
                      multiprocessors);
    queue.record(firstEnd);
    if (call.radix.hasTwoPasses()) {
        queue.launch(Kernels<Word>::MAP_TILES, 1, SCAN_THREADS, 0, call, uint64_t{table});
        enqueuePass<Word>(queue, Kernels<Word>::SECOND, call.secondPass(table), call, table,
                          multiprocessors);
    }
    queue.record(secondEnd);
}

template <typename Word>
void enqueueJoin(Enqueuer& queue, const ResidentCall<Word>& call, int multiprocessors) {
    queue.launch(Kernels<Word>::ITEMS, 1, SCAN_THREADS, 0, call, uint64_t{0});
    queue.launch(Kernels<Word>::JOIN, static_cast<uint32_t>(multiprocessors * JOIN_BLOCKS_PER_SM),
                 JOIN_THREADS, call.launch.joinBytes, call, ItemRange::all());
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
    TableView<Word> build{nullptr, nullptr, buildRows};
    TableView<Word> probe{nullptr, nullptr, probeRows};
    return callOf<Word>(build, probe, {}, nullptr).workspaceBytes;
}

template <typename Word>
JoinStatus joinResident(const TableView<Word>& build, const TableView<Word>& probe,
                        const MatchColumns<Word>& matches, void* workspace,
                        size_t workspaceLengthBytes, cudaStream_t stream, const JoinTrace& trace) {
    if (!isValid(build) || !isValid(probe) || !isValid(matches) ||
        !isAligned(workspace, REGION_ALIGNMENT_BYTES)) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    ResidentCall<Word> call = callOf(build, probe, matches, workspace);
    if (workspace == nullptr || workspaceLengthBytes < call.workspaceBytes) {
        return JoinStatus::WORKSPACE_TOO_SMALL;
    }
    Enqueuer queue(stream);
    int device = 0;
    int multiprocessors = 0;
    queue.check(cudaGetDevice(&device));
    queue.check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    enqueuePartitioning<Word>(queue, call, 0, multiprocessors, trace.stepEnds[0],
                              trace.stepEnds[1]);
    enqueuePartitioning<Word>(queue, call, 1, multiprocessors, trace.stepEnds[2],
                              trace.stepEnds[3]);
    enqueueJoin<Word>(queue, call, multiprocessors);
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
