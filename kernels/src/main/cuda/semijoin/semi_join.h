// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Left semi-join and anti join of two tables in device memory, for programs that use the CUDA
// runtime.
//
// The smaller side builds a set of keys. If it is the left one, the right side removes each key that
// it matches from the set, so that later probes of the key end at once; then the build rows whose
// keys were removed are the semi-join, the others the anti join. If the right side is the smaller
// one, left rows are looked up in its keys. Result rows are counted by group and, if needed, listed.
//
// Removal on match and the build side by size are those of NVIDIA's join for TPC-H query 4 on a DGX-2.
// KeySetPlan chooses between a bit for each possible key and a hash table.
#pragma once

#include <cuda_runtime_api.h>

#include "semi_join_call.h"

namespace gpujoin::semijoin {

// The steps of a call, in this order. Each only enqueues work on the stream; a kernel that cannot be
// launched is reported by cudaPeekAtLastError.
//
//   call.planSelection();               // the caller allocates call.selectionBytes
//   enqueueSelection(call, ...);        // the caller reads call.report
//   call.planKeySet(report.selected);   // the caller allocates call.keySetBytes
//   enqueueBuild(call, ...);
//   enqueueProbe(call, ...);
//   enqueueResult(call, ...);           // the caller reads call.report and the result
//
// If report.selected.rows exceeds selectionCapacityRows(), the selection is incomplete: the caller
// sets expectedRows of the build side to it and starts again. At most MAX_BUILD_ROWS rows may be
// selected, and the left side has less than 2^32 rows.
template <typename Word>
void enqueueSelection(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream);
template <typename Word>
void enqueueBuild(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream);
template <typename Word>
void enqueueProbe(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream);
template <typename Word>
void enqueueResult(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream);

}  // namespace gpujoin::semijoin
