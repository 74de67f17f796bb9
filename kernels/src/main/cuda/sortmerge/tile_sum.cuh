// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Passes sums of matches between the tiles of a merge (Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", 2016).
#pragma once

#include <cstdint>

#include "../engine/attributes.h"

namespace gpujoin::sortmerge {

constexpr unsigned FULL_WARP = 0xFFFFFFFFu;

struct TileSum {
    static constexpr unsigned long long OF_TILE = 1ull << 62;
    static constexpr unsigned long long OF_ALL_UP_TO_TILE = 2ull << 62;
    static constexpr unsigned long long VALUE = OF_TILE - 1;

    // Publishes the matches of a tile and returns those of all tiles before. Called by one warp. Ends,
    // since blocks claim tiles in their order.
    __device__ static uint64_t exchange(unsigned long long* sums, uint32_t tile, uint64_t matches) {
        uint32_t lane = threadIdx.x % 32;
        if (lane == 0) {
            store(sums + tile, (tile == 0 ? OF_ALL_UP_TO_TILE : OF_TILE) | matches);
        }
        uint64_t before = 0;
        for (int64_t window = int64_t{tile} - 1; window >= 0; window -= 32) {
            int64_t other = window - lane;
            unsigned long long sum = OF_ALL_UP_TO_TILE;
            do {
                if (other >= 0) {
                    sum = load(sums + other);
                }
            } while (__any_sync(FULL_WARP, sum == 0));
            unsigned complete = __ballot_sync(FULL_WARP, (sum & OF_ALL_UP_TO_TILE) != 0);
            uint32_t last = complete == 0 ? 31 : __ffs(complete) - 1;
            uint64_t value = lane <= last ? sum & VALUE : 0;
            GPUJOIN_UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                value += __shfl_xor_sync(FULL_WARP, value, distance);
            }
            before += value;
            if (complete != 0) {
                break;
            }
        }
        if (lane == 0 && tile != 0) {
            store(sums + tile, OF_ALL_UP_TO_TILE | (before + matches));
        }
        return before;
    }

    // Returns the matches of all tiles before, after the kernel that exchanged them.
    __device__ static uint64_t before(const unsigned long long* sums, uint32_t tile) {
        return tile == 0 ? 0 : sums[tile - 1] & VALUE;
    }

  private:
    // The word carries all that it publishes, so no order with other memory is needed.
    __device__ static void store(unsigned long long* word, unsigned long long value) {
        *static_cast<volatile unsigned long long*>(word) = value;
    }
    __device__ static unsigned long long load(const unsigned long long* word) {
        return *static_cast<const volatile unsigned long long*>(word);
    }
};

}  // namespace gpujoin::sortmerge
