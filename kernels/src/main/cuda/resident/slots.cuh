#pragma once

#include <cstdint>

#include "block_scan.cuh"
#include "join_plan.h"

namespace gpujoin::resident {

/** Slots of a pass's partitions in its target buffer, in rows; filled partitions are [begin, cursor). */
struct Slots {
    std::uint32_t* begin;
    std::uint32_t* end;
    std::uint32_t* cursor;
    /** One word: whether a guessed slot was too small. */
    std::uint32_t* overflow;

    static Slots cut(RegionCutter& cutter, std::uint32_t partitions) {
        return {cutter.take<std::uint32_t>(partitions), cutter.take<std::uint32_t>(partitions),
                cutter.take<std::uint32_t>(partitions), cutter.take<std::uint32_t>(1)};
    }
};

/**
 * Guesses equal slots of `capacityRows` each. A guess can be lost from the start: `lostBefore` is a word that is
 * 0, or the overflow word of the table's first pass, because rows that did not keep to a guess of few
 * partitions will not keep to one of many.
 */
static __global__ void guessSlots(Slots slots, std::uint32_t partitions, std::uint32_t capacityRows,
                                  const std::uint32_t* lostBefore) {
    const std::uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p == 0) {
        *slots.overflow = *lostBefore;
    }
    if (p < partitions) {
        const std::uint32_t begin = p * capacityRows;
        slots.begin[p] = begin;
        slots.end[p] = begin + capacityRows;
        slots.cursor[p] = begin;
    }
}

/** First step of a counted attempt: cursors become counters. */
static __global__ void clearCounts(Slots slots, std::uint32_t partitions) {
    const std::uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (*slots.overflow != 0 && p < partitions) {
        slots.cursor[p] = 0;
    }
}

/** Turns the counts of a counted attempt into slots that hold exactly them. One block. */
template <int THREADS>
__global__ __launch_bounds__(THREADS) void layOutSlots(Slots slots, std::uint32_t partitions) {
    __shared__ BlockScan<THREADS> scan;
    if (*slots.overflow == 0) {
        return;
    }
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < partitions; base += THREADS) {
        const std::uint32_t p = base + threadIdx.x;
        const std::uint32_t count = p < partitions ? slots.cursor[p] : 0;
        const std::uint32_t aligned =
            (count + kSlotAlignmentRows - 1) / kSlotAlignmentRows * kSlotAlignmentRows;
        std::uint32_t total;
        const std::uint32_t begin = before + scan.exclusiveSum(aligned, total);
        if (p < partitions) {
            slots.begin[p] = begin;
            slots.end[p] = begin + count;
            slots.cursor[p] = begin;
        }
        before += total;
    }
}

/** Gives every partition of a first pass its tiles of a second. One block with a thread per partition. */
template <int THREADS>
__global__ __launch_bounds__(THREADS) void mapTiles(Slots slots, std::uint32_t partitions,
                                                    std::uint32_t tileRows,
                                                    std::uint32_t* tileStarts) {
    __shared__ BlockScan<THREADS> scan;
    const std::uint32_t p = threadIdx.x;
    const std::uint32_t rows = p < partitions ? slots.cursor[p] - slots.begin[p] : 0;
    std::uint32_t total;
    const std::uint32_t start = scan.exclusiveSum((rows + tileRows - 1) / tileRows, total);
    if (p < partitions) {
        tileStarts[p] = start;
    }
    if (p == 0) {
        tileStarts[partitions] = total;
    }
}

}  // namespace gpujoin::resident
