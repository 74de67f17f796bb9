// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Prefix sum over the threads of a block.
#pragma once

#include <cstdint>

#include "../engine/attributes.h"

namespace gpujoin::resident {

// Sums over the threads of a block of THREADS, a multiple of 32. Lives in shared memory.
template <int THREADS, typename Value = uint32_t>
struct BlockScan {
    static constexpr int WARPS = THREADS / 32;
    Value warpSums[WARPS];

    // Returns the sum of the values of lower threads, and in `total` the sum of all. Contains
    // barriers; the next call may follow at once.
    __device__ Value exclusiveSum(Value value, Value& total) {
        unsigned lane = threadIdx.x % 32;
        unsigned warp = threadIdx.x / 32;
        Value inclusive = warpInclusiveSum(value, lane);
        __syncthreads();
        if (lane == 31) {
            warpSums[warp] = inclusive;
        }
        __syncthreads();
        Value sums = warpInclusiveSum(lane < WARPS ? warpSums[lane] : Value{0}, lane);
        total = __shfl_sync(0xFFFFFFFFu, sums, 31);
        Value before = __shfl_sync(0xFFFFFFFFu, sums, warp == 0 ? 0 : warp - 1);
        return inclusive - value + (warp == 0 ? Value{0} : before);
    }

  private:
    __device__ static Value warpInclusiveSum(Value value, unsigned lane) {
        GPUJOIN_UNROLL
        for (int distance = 1; distance < 32; distance *= 2) {
            Value below = __shfl_up_sync(0xFFFFFFFFu, value, distance);
            value += lane >= distance ? below : Value{0};
        }
        return value;
    }
};

}  // namespace gpujoin::resident
