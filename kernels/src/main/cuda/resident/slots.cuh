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
    // Rows of the buffer that sampled or counted slots occupy so far.
    unsigned long long* reservedRows;

    static GPUJOIN_INLINE Slots allocate(RegionAllocator& regions, uint32_t partitions) {
        return {regions.allocate<uint32_t>(partitions), regions.allocate<uint32_t>(partitions),
                regions.allocate<uint32_t>(partitions), regions.allocate<uint32_t>(1),
                regions.allocate<uint32_t>(1),          regions.allocate<unsigned long long>(1)};
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
    if (*condition == 0) {
        return;
    }
    if (p == 0) {
        *slots.reservedRows = 0;
    }
    if (p < partitions) {
        slots.cursor[p] = 0;
    }
}

// Replaces the counts of a sampled or counted attempt by slots; `capacityRows` computes the size of
// a slot from its count. If the slots do not fit `bufferRows`, which happens to sampled ones only,
// the sample overflows. Each block lays out the partitions of its threads, and the blocks reserve
// their ranges of the buffer in any order.
template <int THREADS, typename Capacity>
__device__ void layOutSlots(Slots slots, uint32_t partitions, uint64_t bufferRows,
                            const uint32_t* condition, Capacity capacityRows) {
    __shared__ BlockScan<THREADS, uint64_t> scan;
    __shared__ uint64_t base;
    if (*condition == 0) {
        return;
    }
    uint32_t p = blockIdx.x * THREADS + threadIdx.x;
    uint64_t capacity = p < partitions ? capacityRows(slots.cursor[p]) : 0;
    uint64_t total;
    uint64_t begin = scan.exclusiveSum(capacity, total);
    if (threadIdx.x == 0) {
        base = atomicAdd(slots.reservedRows, static_cast<unsigned long long>(total));
        if (base + total > bufferRows) {
            *slots.sampleOverflow = 1;
        }
    }
    __syncthreads();
    if (p < partitions) {
        slots.begin[p] = static_cast<uint32_t>(base + begin);
        slots.end[p] = static_cast<uint32_t>(base + begin + capacity);
        slots.cursor[p] = static_cast<uint32_t>(base + begin);
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
