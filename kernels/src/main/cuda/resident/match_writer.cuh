// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Writes matches densely to the result columns.
#pragma once

#include <cstdint>

#include "resident_join.h"

namespace gpujoin::resident {

constexpr unsigned FULL_WARP = 0xFFFFFFFFu;

// A block's reservation of result rows, in its shared memory.
struct BlockReservation {
    // Matches of the block's warps in this round and in the next.
    uint32_t matches[2];
    unsigned long long first;

    // Called by one thread, before a barrier and the first reservation.
    __device__ void clear() { matches[0] = 0; }
};

// Reserves rows once for all matches that a block found in a round; adjacent lanes then write
// adjacent rows. A reservation for each warp would be too slow: all of them add to one word, and
// the device performs only 0.4 * 10^9 additions a second to one word.
template <typename Word>
struct MatchWriter {
    MatchColumns<Word> columns;

    static constexpr uint64_t NO_ROOM = ~uint64_t{0};

    // Reserves the rows that the threads of the block found; all threads call it, with `round` 0,
    // 1, 0, ... Returns the first row of the warp, or NO_ROOM if its rows exceed the capacity of
    // the columns. Such rows are counted but not written.
    __device__ uint64_t reserve(BlockReservation& block, uint32_t round, uint32_t found) const {
        uint32_t warpMatches = __reduce_add_sync(FULL_WARP, found);
        uint32_t before = 0;
        if (threadIdx.x % 32 == 0) {
            before = atomicAdd(&block.matches[round], warpMatches);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            block.first = atomicAdd(reinterpret_cast<unsigned long long*>(columns.matchCount),
                                    static_cast<unsigned long long>(block.matches[round]));
            block.matches[round ^ 1u] = 0;
        }
        before = __shfl_sync(FULL_WARP, before, 0);
        __syncthreads();
        uint64_t first = block.first + before;
        return first + warpMatches <= columns.capacityRows ? first : NO_ROOM;
    }

    // Writes the row of each lane that has one, starting at `first`; all lanes call it. Returns the
    // next free row.
    __device__ uint64_t write(uint64_t first, bool matched, Word key, Word buildPayload,
                              Word probePayload) const {
        unsigned lanes = __ballot_sync(FULL_WARP, matched);
        if (matched) {
            uint64_t row = first + __popc(lanes & ((1u << threadIdx.x % 32) - 1u));
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
