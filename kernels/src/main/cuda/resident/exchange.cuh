// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The exchange of a table between the members of a device group: a radix pass whose target is the
// memory of all members.
//
// Each sender has a region of its own in the inbox of each receiver, so it reserves runs by atomic
// additions in its own memory, and no two members write to the same row. When a sender has ended, it
// publishes the bounds of its slots to the receivers. Guessed, sampled and counted attempts are
// those of any pass, for each sender alone.
#pragma once

#include <cstdint>

#include "block_scan.cuh"
#include "exchange_plan.h"
#include "partition.cuh"
#include "slots.cuh"
#include "tile_source.cuh"

namespace gpujoin::resident {

// Inboxes of all members as the target of a pass. The highest bits of a digit are the number of the
// owner.
template <typename Word>
struct PeerRows {
    // First row of each inbox; in shared memory, since threads of a warp read different ones.
    Tuple<Word>* const* inboxes;
    uint32_t localBits;
};

template <typename Word>
__device__ Tuple<Word>& targetRow(const PeerRows<Word>& target, uint32_t digit, uint32_t row) {
    return target.inboxes[digit >> target.localBits][row];
}

// The region of a sender in each inbox.
struct Region {
    uint64_t firstRow;
    uint64_t rows;
    uint32_t localPartitions;
};

// The slots that a sender fills, and the tiles that its blocks have claimed in each attempt.
struct SentSlots {
    static constexpr uint32_t ATTEMPTS = 3;
    Slots slots;
    uint32_t* claimedTiles;

    static GPUJOIN_INLINE SentSlots allocate(RegionAllocator& regions, uint32_t partitions) {
        return {Slots::allocate(regions, partitions), regions.allocate<uint32_t>(ATTEMPTS)};
    }
};

// Guesses slots of `capacityRows` rows each in the regions of all receivers, and resets the claims.
static __device__ void guessRegionSlots(const SentSlots& sent, const Region& region,
                                        uint32_t partitions, uint32_t capacityRows) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < SentSlots::ATTEMPTS) {
        sent.claimedTiles[p] = 0;
    }
    if (p == 0) {
        *sent.slots.overflow = 0;
        *sent.slots.sampleOverflow = 0;
    }
    if (p < partitions) {
        uint32_t local = p & (region.localPartitions - 1u);
        uint32_t begin = static_cast<uint32_t>(region.firstRow) + local * capacityRows;
        sent.slots.begin[p] = begin;
        sent.slots.end[p] = begin + capacityRows;
        sent.slots.cursor[p] = begin;
    }
}

// Replaces the counts of a sampled or counted attempt by slots in the regions of all receivers. If
// the slots do not fit a region, which happens to sampled ones only, the sample overflows. Runs as
// one block with a thread for each partition.
template <int THREADS, typename Capacity>
__device__ void layOutRegionSlots(const Slots& slots, const Region& region, uint32_t partitions,
                                  const uint32_t* condition, Capacity capacityRows) {
    __shared__ BlockScan<THREADS, uint64_t> scan;
    __shared__ uint64_t ownerStarts[MAX_MEMBERS];
    if (*condition == 0) {
        return;
    }
    uint32_t p = threadIdx.x;
    uint32_t owner = p / region.localPartitions;
    uint64_t capacity = p < partitions ? capacityRows(slots.cursor[p]) : 0;
    uint64_t total;
    uint64_t start = scan.exclusiveSum(capacity, total);
    if (p < partitions && p % region.localPartitions == 0) {
        ownerStarts[owner] = start;
    }
    __syncthreads();
    if (p < partitions) {
        uint64_t row = start - ownerStarts[owner];
        if (row + capacity > region.rows) {
            *slots.sampleOverflow = 1;
        }
        slots.begin[p] = static_cast<uint32_t>(region.firstRow + row);
        slots.end[p] = static_cast<uint32_t>(region.firstRow + row + capacity);
        slots.cursor[p] = static_cast<uint32_t>(region.firstRow + row);
    }
}

// Scatters all tiles of a table. The grid is small, to leave multiprocessors to other kernels, so
// each block scatters many tiles. Blocks claim tiles in ascending order: with equal shares, fast
// blocks would run ahead, and the guess would seem to fail (see withheldRows). `condition` as for
// scatterTiles.
template <typename Word, typename Source, typename Shape, Attempt ATTEMPT>
__device__ void scatterClaimedTiles(const Source& source, uint32_t tiles, RadixDigit digit,
                                    const SentSlots& sent, const PeerRows<Word>& target,
                                    const uint32_t* condition) {
    extern __shared__ __align__(16) unsigned char shared[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ TileBarrier staged;
    __shared__ uint32_t withheld;
    __shared__ uint32_t claimed;
    uint32_t overflowed = condition == nullptr ? 0 : *condition;
    if (overflowed != (ATTEMPT == Attempt::GUESSED ? 0 : 1)) {
        return;
    }
    uint32_t* claims = sent.claimedTiles + static_cast<int>(ATTEMPT);
    if (threadIdx.x == 0) {
        claimed = atomicAdd(claims, 1u);
        init(&staged, 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        cuda::device::experimental::fence_proxy_async_shared_cta();
#endif
    }
    __syncthreads();
    bool parity = false;
    for (uint32_t t = claimed; t < tiles; t = claimed) {
        // Claimed early, since the result takes long.
        uint32_t next = 0;
        if (threadIdx.x == 0) {
            next = atomicAdd(claims, 1u);
            withheld = ATTEMPT == Attempt::GUESSED
                           ? withheldRows(*sent.slots.end - *sent.slots.begin, t, tiles)
                           : 0;
        }
        __syncthreads();
        scatterTile<Word, Source, Shape, ATTEMPT>(source, source.locate(t, 1, Shape::ROWS), digit,
                                                  sent.slots, target, shared, staged, parity,
                                                  withheld);
        parity = !parity;
        if (threadIdx.x == 0) {
            claimed = next;
        }
        __syncthreads();
    }
}

// The slots that a member received, in its workspace: those of the first sender, of the second, ...
struct ReceivedSlots {
    uint32_t* begin;
    uint32_t* cursor;
    // The overflow word of each sender.
    uint32_t* overflow;

    static GPUJOIN_INLINE ReceivedSlots allocate(RegionAllocator& regions, uint32_t slots) {
        return {regions.allocate<uint32_t>(slots), regions.allocate<uint32_t>(slots),
                regions.allocate<uint32_t>(MAX_MEMBERS)};
    }
};

// Writes one filled slot to its receiver.
static __device__ void publishSlot(const Slots& sent, const ReceivedSlots& received,
                                   uint32_t sender, uint32_t partition, uint32_t localPartitions) {
    uint32_t local = partition & (localPartitions - 1u);
    uint32_t slot = sender * localPartitions + local;
    received.begin[slot] = sent.begin[partition];
    received.cursor[slot] = sent.cursor[partition];
    if (local == 0) {
        received.overflow[sender] = *sent.overflow;
    }
}

// Source of a second pass: the slots that a member received. A tile lies within one of them.
template <typename Word>
struct InboxSource : PartitionSource<Word> {
    // Target partitions minus one. Slots of all senders have the same target partitions.
    uint32_t partitionMask;

    __device__ Tile locate(uint32_t tile, uint32_t tiles, uint32_t tileRows) const {
        Tile found = PartitionSource<Word>::locate(tile, tiles, tileRows);
        found.partitionBase &= partitionMask;
        return found;
    }

    __device__ uint32_t tileCount() const { return this->tileStarts[this->partitions]; }
};

}  // namespace gpujoin::resident
