#pragma once

#include <cstdint>

namespace gpujoin::resident {

/** Sums over the threads of a block of THREADS (a multiple of 32); lives in shared memory. */
template <int THREADS, class Value = std::uint32_t>
struct BlockScan {
    static constexpr int kWarps = THREADS / 32;
    Value warpSums[kWarps];

    /** Sum of the values of lower threads, and of all; a barrier. May be called again at once. */
    __device__ Value exclusiveSum(Value value, Value& total) {
        const unsigned lane = threadIdx.x % 32;
        const unsigned warp = threadIdx.x / 32;
        const Value inclusive = warpInclusiveSum(value, lane);
        __syncthreads();
        if (lane == 31) {
            warpSums[warp] = inclusive;
        }
        __syncthreads();
        const Value sums = warpInclusiveSum(lane < kWarps ? warpSums[lane] : Value{0}, lane);
        total = __shfl_sync(0xFFFFFFFFu, sums, 31);
        const Value before = __shfl_sync(0xFFFFFFFFu, sums, warp == 0 ? 0 : warp - 1);
        return inclusive - value + (warp == 0 ? Value{0} : before);
    }

  private:
    __device__ static Value warpInclusiveSum(Value value, unsigned lane) {
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const Value below = __shfl_up_sync(0xFFFFFFFFu, value, distance);
            value += lane >= distance ? below : Value{0};
        }
        return value;
    }
};

}  // namespace gpujoin::resident
