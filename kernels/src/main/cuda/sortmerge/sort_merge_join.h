// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Inner equi-join of two tables in device memory by sorting both by key and merging them.
//
// A table whose keys are in order is not sorted again, which the device finds out: no size, count or
// order travels to the host between the steps, so a call only enqueues work on its stream. Results
// are in the order of the keys.
//
// Method: the sort phase is a sample sort: splitters from a sample divide the rows into buckets,
// those of each bucket divide it into partitions, and one block sorts a partition in its shared
// memory. Every row moves three times, whatever the width and the distribution of the keys. The join
// phase merges along merge paths (Maltenberger, Tolovski and Rabl, "Efficiently Joining Large
// Relations on Multi-GPU Systems", PVLDB 18(11), 2025, section 3, whose radix partitioning sorts by
// the bits of the key).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "../resident/resident_join.h"

namespace gpujoin::sortmerge {

using resident::JoinStatus;
using resident::MatchColumns;
using resident::TableView;

// Steps of a call in their order: those of the build table, those of the probe table, and the merge.
enum TableStep {
    CHECK_STEP,
    SAMPLE_1,
    COUNT_1,
    PASS_1,
    SAMPLE_2,
    COUNT_2,
    PASS_2,
    SORT_STEP,
    TABLE_STEPS
};
constexpr int MERGE_STEP = 2 * TABLE_STEPS;
constexpr int JOIN_STEP_COUNT = MERGE_STEP + 1;

// Events to record at the end of each step, for measurements; null events are not recorded.
struct JoinTrace {
    cudaEvent_t stepEnds[JOIN_STEP_COUNT] = {};
};

// Returns the bytes of device memory that a join needs in addition to its inputs and outputs. They
// depend only on the sizes: about both tables plus the larger one.
template <typename Word>
size_t workspaceBytes(uint64_t buildRows, uint64_t probeRows);

// Enqueues the join of `build` and `probe` on `stream` and returns. Keys are signed numbers.
//
// Pointers, alignments, sizes, repeated keys and errors are as for resident::joinResident. The rows
// of the result are in ascending order of their keys; the order of rows with equal keys is
// undefined.
template <typename Word>
JoinStatus joinSorted(const TableView<Word>& build, const TableView<Word>& probe,
                      const MatchColumns<Word>& matches, void* workspace,
                      size_t workspaceLengthBytes, cudaStream_t stream,
                      const JoinTrace& trace = {});

}  // namespace gpujoin::sortmerge
