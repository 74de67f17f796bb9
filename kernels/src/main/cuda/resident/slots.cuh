// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Slots: the ranges of rows that the partitions of a radix pass occupy in its target buffer.
#pragma once

#include <cstdint>

#include "block_scan.cuh"
#include "join_plan.h"

namespace gpujoin::resident {

// The slots of all partitions, in rows. The rows of a partition are [begin, cursor).
struct Slots {
    uint32_t* begin;
    uint32_t* end;
    uint32_t* cursor;
    // Two words: 1 if a guessed slot was too small, and 1 if a sampled one was.
    uint32_t* overflow;
    uint32_t* sampleOverflow;

    static GPUJOIN_INLINE Slots allocate(RegionAllocator& regions, uint32_t partitions) {
        return {regions.allocate<uint32_t>(partitions), regions.allocate<uint32_t>(partitions),
                regions.allocate<uint32_t>(partitions), regions.allocate<uint32_t>(1),
                regions.allocate<uint32_t>(1)};
    }
};

// Guesses slots of `capacityRows` rows each. `overflowBefore` is null, or the overflow word of the
// table's first pass: if its guess of few slots failed, a guess of many would
// fail too.
static __device__ void guessSlots(Slots slots, uint32_t partitions, uint32_t capacityRows,
                                  const uint32_t* overflowBefore) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p == 0) {
        *slots.overflow = overflowBefore == nullptr ? 0 : *overflowBefore;
        *slots.sampleOverflow = 0;
    }
    if (p < partitions) {
        uint32_t begin = p * capacityRows;
        slots.begin[p] = begin;
        slots.end[p] = begin + capacityRows;
        slots.cursor[p] = begin;
    }
}

// First step of a sampled or counted attempt: uses the cursors as counters.
static __device__ void clearCounts(Slots slots, uint32_t partitions, const uint32_t* condition) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (*condition != 0 && p < partitions) {
        slots.cursor[p] = 0;
    }
}

// Replaces the counts of a sampled attempt by slots, which must fit `bufferRows`. Runs as one
// block.
template <int THREADS>
__device__ void layOutSampledSlots(Slots slots, uint32_t partitions, uint64_t bufferRows) {
    __shared__ BlockScan<THREADS, uint64_t> scan;
    if (*slots.overflow == 0) {
        return;
    }
    uint64_t before = 0;
    for (uint32_t base = 0; base < partitions; base += THREADS) {
        uint32_t p = base + threadIdx.x;
        uint64_t capacity = p < partitions ? sampledCapacityRows(slots.cursor[p]) : 0;
        uint64_t total;
        uint64_t begin = before + scan.exclusiveSum(capacity, total);
        if (p < partitions) {
            slots.begin[p] = static_cast<uint32_t>(begin);
            slots.end[p] = static_cast<uint32_t>(begin + capacity);
            slots.cursor[p] = static_cast<uint32_t>(begin);
        }
        before += total;
    }
    if (threadIdx.x == 0 && before > bufferRows) {
        *slots.sampleOverflow = 1;
    }
}

// Replaces the counts of a counted attempt by slots of exactly that size. Runs as one block.
template <int THREADS>
__device__ void layOutSlots(Slots slots, uint32_t partitions) {
    __shared__ BlockScan<THREADS> scan;
    if (*slots.sampleOverflow == 0) {
        return;
    }
    uint32_t before = 0;
    for (uint32_t base = 0; base < partitions; base += THREADS) {
        uint32_t p = base + threadIdx.x;
        uint32_t count = p < partitions ? slots.cursor[p] : 0;
        uint32_t aligned =
            (count + SLOT_ALIGNMENT_ROWS - 1) / SLOT_ALIGNMENT_ROWS * SLOT_ALIGNMENT_ROWS;
        uint32_t total;
        uint32_t begin = before + scan.exclusiveSum(aligned, total);
        if (p < partitions) {
            slots.begin[p] = begin;
            slots.end[p] = begin + count;
            slots.cursor[p] = begin;
        }
        before += total;
    }
}

// Assigns tiles of the second pass to each partition of the first. Runs as one block with a thread
// for each partition.
template <int THREADS>
__device__ void mapTiles(Slots slots, uint32_t partitions, uint32_t tileRows,
                         uint32_t* tileStarts) {
    __shared__ BlockScan<THREADS> scan;
    uint32_t p = threadIdx.x;
    uint32_t rows = p < partitions ? slots.cursor[p] - slots.begin[p] : 0;
    uint32_t total;
    uint32_t start = scan.exclusiveSum((rows + tileRows - 1) / tileRows, total);
    if (p < partitions) {
        tileStarts[p] = start;
    }
    if (p == 0) {
        tileStarts[partitions] = total;
    }
}

}  // namespace gpujoin::resident
