// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the sort-merge join for programs that use the CUDA runtime: enqueues the kernels.

#include "sort_merge_join.h"

#include "../resident/join_arguments.h"
#include "sort_merge_kernels.cuh"
#include "sort_merge_launch.cuh"

namespace gpujoin::sortmerge {
namespace {

// The kernels for words of one width.
template <typename Word>
struct Kernels;

#define GPUJOIN_SORT_MERGE_NAMES(Word, Bits)                                                      \
    template <>                                                                                   \
    struct Kernels<Word> {                                                                        \
        using OfTable = void (*)(SortMergeCall<Word>, uint64_t);                                  \
        using OfMerge = void (*)(SortMergeCall<Word>);                                            \
        static constexpr OfTable TABLE[TABLE_KERNELS] = {                                         \
            gpujoin_sort_merge_clear_##Bits,          gpujoin_sort_merge_check_##Bits,            \
            gpujoin_sort_merge_sample_first_##Bits,   gpujoin_sort_merge_count_first_##Bits,      \
            gpujoin_sort_merge_lay_out_first_##Bits,  gpujoin_sort_merge_scatter_first_##Bits,    \
            gpujoin_sort_merge_sample_second_##Bits,  gpujoin_sort_merge_count_second_##Bits,     \
            gpujoin_sort_merge_lay_out_second_##Bits, gpujoin_sort_merge_scatter_second_##Bits,   \
            gpujoin_sort_merge_sort_##Bits,           gpujoin_sort_merge_sort_large_##Bits,       \
            gpujoin_sort_merge_copy_constants_##Bits};                                            \
        static constexpr OfMerge MERGE[MERGE_KERNELS] = {gpujoin_sort_merge_plan_tiles_##Bits,    \
                                                         gpujoin_sort_merge_merge_tiles_##Bits,   \
                                                         gpujoin_sort_merge_expand_tiles_##Bits}; \
    };

GPUJOIN_SORT_MERGE_NAMES(int32_t, 32)
GPUJOIN_SORT_MERGE_NAMES(int64_t, 64)

template <typename Word>
SortMergeCall<Word> callOf(const TableView<Word>& build, const TableView<Word>& probe,
                           const MatchColumns<Word>& matches, void* workspace) {
    SortMergeCall<Word> call{};
    call.tables[0] = build;
    call.tables[1] = probe;
    call.matches = matches;
    call.memory = workspace;
    call.plan();
    return call;
}

// The step of each kernel; some have several kernels.
constexpr TableStep STEPS[TABLE_KERNELS] = {CHECK_STEP, CHECK_STEP, SAMPLE_1, COUNT_1, COUNT_1,
                                            PASS_1,     SAMPLE_2,   COUNT_2,  COUNT_2, PASS_2,
                                            SORT_STEP,  SORT_STEP,  SORT_STEP};

}  // namespace

template <typename Word>
void enqueueTable(Enqueuer& queue, const SortMergeCall<Word>& call, uint64_t table,
                  TableKernel first, TableKernel last, const JoinTrace& trace) {
    for (int k = first; k <= last; k++) {
        queue.launch(Kernels<Word>::TABLE[k], call.tableShapes[table][k], call, table);
        if (k + 1 == TABLE_KERNELS || STEPS[k + 1] != STEPS[k]) {
            queue.record(trace.stepEnds[table * TABLE_STEPS + STEPS[k]]);
        }
    }
}

template <typename Word>
void enqueueMerge(Enqueuer& queue, const SortMergeCall<Word>& call) {
    for (int k = 0; k < MERGE_KERNELS; k++) {
        queue.launch(Kernels<Word>::MERGE[k], call.mergeShapes[k], call);
    }
}

template <typename Word>
size_t workspaceBytes(uint64_t buildRows, uint64_t probeRows) {
    TableView<Word> build{nullptr, nullptr, buildRows};
    TableView<Word> probe{nullptr, nullptr, probeRows};
    return callOf<Word>(build, probe, {}, nullptr).workspaceBytes;
}

template <typename Word>
JoinStatus joinSorted(const TableView<Word>& build, const TableView<Word>& probe,
                      const MatchColumns<Word>& matches, void* workspace,
                      size_t workspaceLengthBytes, cudaStream_t stream, const JoinTrace& trace) {
    if (!resident::isValid(build) || !resident::isValid(probe) || !resident::isValid(matches) ||
        !resident::isAligned(workspace, resident::REGION_ALIGNMENT_BYTES)) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    SortMergeCall<Word> call = callOf(build, probe, matches, workspace);
    if (workspace == nullptr || workspaceLengthBytes < call.workspaceBytes) {
        return JoinStatus::WORKSPACE_TOO_SMALL;
    }
    Enqueuer queue(stream);
    for (uint64_t table = 0; table < 2; table++) {
        enqueueTable(queue, call, table, CLEAR, COPY_CONSTANTS, trace);
    }
    enqueueMerge(queue, call);
    queue.record(trace.stepEnds[MERGE_STEP]);
    return queue.status();
}

template void enqueueTable<int32_t>(Enqueuer&, const SortMergeCall<int32_t>&, uint64_t, TableKernel,
                                    TableKernel, const JoinTrace&);
template void enqueueTable<int64_t>(Enqueuer&, const SortMergeCall<int64_t>&, uint64_t, TableKernel,
                                    TableKernel, const JoinTrace&);
template void enqueueMerge<int32_t>(Enqueuer&, const SortMergeCall<int32_t>&);
template void enqueueMerge<int64_t>(Enqueuer&, const SortMergeCall<int64_t>&);
template size_t workspaceBytes<int32_t>(uint64_t, uint64_t);
template size_t workspaceBytes<int64_t>(uint64_t, uint64_t);
template JoinStatus joinSorted(const TableView<int32_t>&, const TableView<int32_t>&,
                               const MatchColumns<int32_t>&, void*, size_t, cudaStream_t,
                               const JoinTrace&);
template JoinStatus joinSorted(const TableView<int64_t>&, const TableView<int64_t>&,
                               const MatchColumns<int64_t>&, void*, size_t, cudaStream_t,
                               const JoinTrace&);

}  // namespace gpujoin::sortmerge
