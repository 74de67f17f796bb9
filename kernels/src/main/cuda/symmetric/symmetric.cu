// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of symmetric joins: loops around the functions of match_index.h.

#include "match_index.h"

// Looks up the rows `from` to `to - 1` in the input `input`.
extern "C" __global__ void gpujoin_match_probe(const gpujoin::MatchIndex* index, uint64_t input,
                                               const uint64_t* keys, const uint32_t* links,
                                               uint64_t from, uint64_t to, uint32_t* starts,
                                               uint32_t* counts, uint32_t* matches,
                                               uint64_t capacity, uint64_t* claimed,
                                               uint64_t maxChain) {
    gpujoin::MatchProbe probe{keys, links, starts, counts, matches, capacity, claimed, maxChain};
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t base = from + uint64_t{blockIdx.x} * blockDim.x; base < to; base += step) {
        uint64_t row = base + threadIdx.x;
        gpujoin::probeRow(*index, static_cast<uint32_t>(input), probe, row, row < to);
    }
}

// Copies matches to pinned memory: adjacent threads write adjacent words, as the bus requires.
extern "C" __global__ void gpujoin_match_publish(const uint32_t* matches, uint32_t* pinned,
                                                 uint64_t capacity, const uint64_t* claimed) {
    uint64_t count = *claimed < capacity ? *claimed : capacity;
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        pinned[i] = matches[i];
    }
}

extern "C" __global__ void gpujoin_match_add(const gpujoin::MatchIndex* index, uint64_t input,
                                             const uint64_t* keys, const uint32_t* links,
                                             uint64_t count) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        if (links[i] != 0) {
            gpujoin::addRow(*index, static_cast<uint32_t>(input), keys[i], links[i]);
        }
    }
}

extern "C" __global__ void gpujoin_match_claim_removals(const gpujoin::MatchIndex* index,
                                                        const uint64_t* keys, const uint32_t* links,
                                                        uint64_t* slots, uint32_t* next,
                                                        uint64_t count) {
    gpujoin::Removals removals{keys, links, slots, next};
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        gpujoin::claimRemoval(*index, removals, static_cast<uint32_t>(i));
    }
}

extern "C" __global__ void gpujoin_match_settle_removals(const gpujoin::MatchIndex* index,
                                                         uint64_t input, const uint64_t* keys,
                                                         const uint32_t* links, uint64_t* slots,
                                                         uint32_t* next, uint64_t count) {
    gpujoin::Removals removals{keys, links, slots, next};
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        gpujoin::settleRemovals(*index, static_cast<uint32_t>(input), removals,
                                static_cast<uint32_t>(i));
    }
}

// Counts the slots with rows.
extern "C" __global__ void gpujoin_match_count_slots(const gpujoin::MatchIndex* index,
                                                     uint64_t* counter) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    uint64_t slots = index->slotMask + 2;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slots; i += step) {
        if (gpujoin::hasRows(index->slots[i])) {
            gpujoin::countOne(counter);
        }
    }
}

extern "C" __global__ void gpujoin_match_move_slots(const gpujoin::MatchIndex* from,
                                                    const gpujoin::MatchIndex* to) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    uint64_t slots = from->slotMask + 2;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slots; i += step) {
        gpujoin::moveSlot(*from, i, *to);
    }
}

// Copies links when their memory grows.
extern "C" __global__ void gpujoin_match_copy(uint64_t* target, const uint64_t* source,
                                              uint64_t words) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step) {
        target[i] = source[i];
    }
}
