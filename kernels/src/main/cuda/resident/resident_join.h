// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Inner equi-join of two tables in device memory, materialized in one pass.
//
// Radix partitioning by the hash of the key takes one or two passes through shared memory, each of
// which reads and writes every row once. Then the build rows of a partition and their hash table
// fit into the shared memory of one block, which joins the partition. No size or count travels to
// the host between the steps, so a call only enqueues work on its stream.
//
// Method: Rui and Tu, "Fast Equi-Join Algorithms on GPUs: Design and Implementation" (SSDBM 2017),
// section 3.2: multi-pass radix partitioning with histograms for each block, output in one pass
// through an atomic position, oversized partitions in parts. Comments in the code name the
// departures.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "run_rows.h"

namespace gpujoin::resident {

// Maximum rows of either table: positions in the workspace have 32 bits.
constexpr uint64_t MAX_ROWS = uint64_t{1} << 31;

// Input columns start at multiples of this number of bytes, which the bulk copy engine requires.
constexpr size_t COLUMN_ALIGNMENT_BYTES = 16;

// One table in device memory, whose words are int32_t or int64_t. Either two columns of `rows` words
// each, or runs that each start with RUN_ROWS keys, fewer in the last one; then the payload of a row
// is its number.
template <typename Word>
struct TableView {
    const Word* keys = nullptr;
    const Word* payloads = nullptr;
    uint64_t rows = 0;
    // Null if the table has columns.
    const Word* const* runs = nullptr;
};

// Result columns in device memory, `capacityRows` words each, and the counter of matches. The order
// of the rows is undefined. `keys` is null if the caller does not need the keys. The call sets
// `matchCount`, which is exact even if it exceeds `capacityRows`; the columns are complete only if
// it does not.
template <typename Word>
struct MatchColumns {
    Word* keys = nullptr;
    Word* buildPayloads = nullptr;
    Word* probePayloads = nullptr;
    uint64_t capacityRows = 0;
    uint64_t* matchCount = nullptr;
};

enum class JoinStatus {
    OK,
    // A pointer is null or misaligned (inputs by 16 bytes, outputs by their word, the workspace by
    // 256), or a table has more than MAX_ROWS rows.
    INVALID_ARGUMENT,
    // The workspace is smaller than workspaceBytes().
    WORKSPACE_TOO_SMALL,
    // The runtime rejected a launch or an attribute; cudaPeekAtLastError() returns the cause.
    LAUNCH_FAILED
};

// Returns a description of the status for messages.
const char* describe(JoinStatus status);

// Steps of a call in their order. For small build tables the second passes are empty.
enum class JoinStep { BUILD_PASS_1, BUILD_PASS_2, PROBE_PASS_1, PROBE_PASS_2, JOIN };
constexpr int JOIN_STEP_COUNT = 5;

// Events to record at the end of each step, for measurements; null events are not recorded.
struct JoinTrace {
    cudaEvent_t stepEnds[JOIN_STEP_COUNT] = {};
};

// Returns the bytes of device memory that a join needs in addition to its inputs and outputs. They
// depend only on the sizes: about 1.1 times both tables, plus 1.1 times the larger one if one radix
// pass does not suffice (more than 1.3 million build rows).
template <typename Word>
size_t workspaceBytes(uint64_t buildRows, uint64_t probeRows);

// Enqueues the join of `build` and `probe` on `stream` and returns.
//
// All pointers refer to memory of the current device. Inputs, outputs and workspace do not overlap
// and remain valid until the work has finished. Both sides may repeat keys any number of times. The
// call allocates nothing, does not wait and keeps no state: it can be captured in a graph, and
// calls on different streams with different workspaces can run concurrently. Errors of the work
// itself surface on the stream.
template <typename Word>
JoinStatus joinResident(const TableView<Word>& build, const TableView<Word>& probe,
                        const MatchColumns<Word>& matches, void* workspace,
                        size_t workspaceLengthBytes, cudaStream_t stream,
                        const JoinTrace& trace = {});

}  // namespace gpujoin::resident
