// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Appends rows of a block to a list in shared or in device memory.
#pragma once

#include <cstdint>

#include "../engine/attributes.h"

namespace gpujoin::semijoin {

// Adds the rows of all threads to `found`, which is in shared memory. Returns the place of the
// thread's first row. All threads of a warp call it.
__device__ inline uint32_t placeInBlock(uint32_t* found, uint32_t rows) {
    constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
    uint32_t lane = threadIdx.x % 32;
    uint32_t upTo = rows;
    GPUJOIN_UNROLL
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        uint32_t before = __shfl_up_sync(ALL_LANES, upTo, distance);
        upTo += lane >= distance ? before : 0;
    }
    uint32_t warpPlace = 0;
    if (lane == 31 && upTo != 0) {
        warpPlace = atomicAdd(found, upTo);
    }
    return __shfl_sync(ALL_LANES, warpPlace, 31) + upTo - rows;
}

// Adds `rows` to a total in device memory and returns the total before.
__device__ inline uint64_t reserve(uint64_t* total, uint32_t rows) {
    return atomicAdd(reinterpret_cast<unsigned long long*>(total),
                     static_cast<unsigned long long>(rows));
}

// Reserves places of a list in device memory for all rows that a block found in a round at once: the
// device performs only 0.4 * 10^9 additions a second to one word. In shared memory.
struct RowAppender {
    uint32_t found[2];
    uint64_t firstPlace;

    // Called by one thread, before a barrier and the first call of `place`.
    __device__ void clear() { found[0] = 0; }

    // All threads of a block call it, with `round` 0, 1, 0, ... and their numbers of rows. Returns
    // the place of the thread's first row and adds all rows to `total`.
    __device__ uint64_t place(uint32_t round, uint32_t rows, uint64_t* total) {
        uint32_t inBlock = placeInBlock(&found[round], rows);
        __syncthreads();
        if (threadIdx.x == 0) {
            firstPlace = found[round] == 0 ? 0 : reserve(total, found[round]);
            found[round ^ 1u] = 0;
        }
        __syncthreads();
        return firstPlace + inBlock;
    }
};

}  // namespace gpujoin::semijoin
