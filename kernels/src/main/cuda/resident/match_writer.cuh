#pragma once

#include <cstdint>

#include "resident_join.h"

namespace gpujoin::resident {

constexpr unsigned kFullWarp = 0xFFFFFFFFu;

/** Reservations of a block in the result, in its shared memory. */
struct BlockReservation {
    /** Matches of the block's warps in this round and the next one. */
    std::uint32_t matches[2];
    unsigned long long first;

    /** One thread, before a barrier and the first reservation. */
    __device__ void clear() { matches[0] = 0; }
};

/**
 * Writes matches densely: one reservation for all rows that a block found in a round, then neighbouring lanes
 * side by side. One reservation a block and not a warp, because all go to one word, and the device serves a
 * word only 0.4 G times a second.
 */
template <class Word>
struct MatchWriter {
    MatchColumns<Word> columns;

    static constexpr std::uint64_t kNoRoom = ~std::uint64_t{0};

    /**
     * Reserves the rows that the block's threads found together; all threads call it, with `round` 0, 1, 0, ...
     * Returns the first row of the thread's warp, or kNoRoom where the columns end before the warp's last:
     * such rows are counted, not written.
     */
    __device__ std::uint64_t reserve(BlockReservation& block, std::uint32_t round,
                                     std::uint32_t found) const {
        const std::uint32_t warpMatches = __reduce_add_sync(kFullWarp, found);
        std::uint32_t before = 0;
        if (threadIdx.x % 32 == 0) {
            before = atomicAdd(&block.matches[round], warpMatches);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            block.first = atomicAdd(reinterpret_cast<unsigned long long*>(columns.matchCount),
                                    static_cast<unsigned long long>(block.matches[round]));
            block.matches[round ^ 1u] = 0;
        }
        before = __shfl_sync(kFullWarp, before, 0);
        __syncthreads();
        const std::uint64_t first = block.first + before;
        return first + warpMatches <= columns.capacityRows ? first : kNoRoom;
    }

    /** Writes the row of each lane that has one, from `first` on; all lanes call it. Returns the row after. */
    __device__ std::uint64_t write(std::uint64_t first, bool matched, Word key, Word buildPayload,
                                   Word probePayload) const {
        const unsigned lanes = __ballot_sync(kFullWarp, matched);
        if (matched) {
            const std::uint64_t row = first + __popc(lanes & ((1u << threadIdx.x % 32) - 1u));
            if (columns.keys != nullptr) {
                __stcs(columns.keys + row, key);
            }
            __stcs(columns.buildPayloads + row, buildPayload);
            __stcs(columns.probePayloads + row, probePayload);
        }
        return first + __popc(lanes);
    }
};

}  // namespace gpujoin::resident
