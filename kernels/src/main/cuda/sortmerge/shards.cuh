// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// What the kernels of the sharded join do that replace those of the two passes.
//
// The scattered rows of all devices have places that do not overlap, the same on every device, so a
// copy of buckets to their owner keeps the place of each row:
//
//   +--------------------+--------------------+-----
//   | rows of device 0   | rows of device 1   | ...
//   +--------------------+--------------------+-----
#pragma once

#include "sharded_sort_merge.h"
#include "sort_merge_work.cuh"

namespace gpujoin::sortmerge {

// The part of a table that one device had before the exchange.
template <typename Word>
struct ShardPart {
    TableView<Word> view;
    // The device's buckets after its first pass, in its memory.
    Buckets buckets;
    // First row of the part in the scattered table of any device.
    uint64_t begin;
    // The scattered table of the device.
    Tuple<Word>* scattered;
};

// The exchange sends the buckets of an owner in this number of stages, of consecutive buckets each, so
// that the second pass starts while later buckets arrive.
constexpr uint32_t EXCHANGE_STAGES = 2;

// The parts of buckets that a device owns, after the exchange: one of each device for each bucket.
struct OwnedParts {
    // Rows in the scattered table.
    uint32_t* begins;
    uint32_t* ends;
    // First tile of each part and, last, the number of tiles.
    uint32_t* firstTiles;

    static OwnedParts allocate(RegionAllocator& regions) {
        return {regions.allocate<uint32_t>(MAX_DIGITS), regions.allocate<uint32_t>(MAX_DIGITS),
                regions.allocate<uint32_t>(MAX_DIGITS + 1)};
    }
};

// One sharded join as the kernels of one device see it.
template <typename Word>
struct ShardedCall {
    SortMergeCall<Word> local;
    uint32_t device;
    uint32_t deviceCount;
    // Of all devices and both tables.
    ShardPart<Word> parts[MAX_DEVICES][2];
    OwnedParts owned[2];

    GPUJOIN_INLINE uint32_t bucketCount() const { return local.sorts[0].bucketCount; }

    // Devices own equal numbers of consecutive buckets, which the splitters make about equal.
    GPUJOIN_INLINE uint32_t ownedBuckets() const { return bucketCount() / deviceCount; }
    GPUJOIN_INLINE uint32_t firstOwned(uint32_t owner) const { return owner * ownedBuckets(); }
    GPUJOIN_INLINE uint32_t ownedParts() const { return ownedBuckets() * deviceCount; }

    // Returns the first bucket of an owner's stage. A stage ends where the next one begins.
    GPUJOIN_INLINE uint32_t firstOfStage(uint32_t owner, uint32_t stage) const {
        return firstOwned(owner) + ownedBuckets() * stage / EXCHANGE_STAGES;
    }
    // Returns the same for this device, but the first and the last stage include the buckets of other
    // owners, which are empty here.
    GPUJOIN_INLINE uint32_t firstLaidOut(uint32_t stage) const {
        return stage == 0                 ? 0
               : stage == EXCHANGE_STAGES ? bucketCount()
                                          : firstOfStage(device, stage);
    }

    // Plans the join of a device for parts of all devices, of which the views are set. Returns its
    // workspace.
    size_t plan(TotalRows rows) {
        RegionAllocator regions(local.memory);
        uint32_t buckets = bucketsOf(rows.build > rows.probe ? rows.build : rows.probe);
        buckets = (buckets < deviceCount ? 1 : buckets / deviceCount) * deviceCount;
        uint64_t scatteredRows[2];
        for (int t = 0; t < 2; t++) {
            scatteredRows[t] = 0;
            for (uint32_t d = 0; d < deviceCount; d++) {
                parts[d][t].begin = scatteredRows[t];
                scatteredRows[t] += (parts[d][t].view.rows / BUCKET_ALIGNMENT_ROWS + buckets + 1) *
                                    BUCKET_ALIGNMENT_ROWS;
            }
        }
        local.planRows(regions, {scatteredRows[0], scatteredRows[1]}, {buckets, buckets});
        for (int t = 0; t < 2; t++) {
            parts[device][t].buckets = Buckets::allocate(regions, buckets);
            parts[device][t].scattered = local.sorts[t].scattered;
            owned[t] = OwnedParts::allocate(regions);
        }
        return regions.usedBytes();
    }
};

// Clears what the next kernels count.
template <typename Word>
__device__ void clearShard(const ShardedCall<Word>& call, uint64_t table) {
    clear(call.local.sorts[table]);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        call.local.sorts[table].flags->isUnsorted = 1;
    }
    if (i < call.bucketCount()) {
        call.parts[call.device][table].buckets.rows[i] = 0;
    }
}

// Chooses the splitters of both tables from both tables of all devices, which all devices do alike.
template <typename Word>
__device__ void sampleShards(const ShardedCall<Word>& call) {
    uint64_t rows = 0;
    for (uint32_t d = 0; d < call.deviceCount; d++) {
        rows += call.parts[d][0].view.rows + call.parts[d][1].view.rows;
    }
    auto keyAt = [&](uint64_t row) {
        for (uint32_t part = 0;; part++) {
            const TableView<Word>& view = call.parts[part / 2][part % 2].view;
            if (row < view.rows) {
                return view.keys[row];
            }
            row -= view.rows;
        }
    };
    chooseSplitters<Word>(rows, call.bucketCount(), keyAt, call.local.sorts[0].firstSplitters);
}

template <typename Word>
__device__ void countShard(const ShardedCall<Word>& call, uint64_t table) {
    uint32_t* rows = call.parts[call.device][table].buckets.rows;
    countBuckets<Word>(columnsOf(call.local, table), call.local.firstTiles(table),
                       ScatterShape<Word>::ROWS, call.local.sorts[0].firstSplitters,
                       [&](uint32_t) { return rows; });
}

template <typename Word>
__device__ void layOutShard(const ShardedCall<Word>& call, uint64_t table) {
    layOutBuckets<LAYOUT_THREADS>(call.parts[call.device][table].buckets, call.bucketCount(),
                                  ScatterShape<Word>::ROWS);
}

template <typename Word>
__device__ void scatterShard(const ShardedCall<Word>& call, uint64_t table) {
    const ShardPart<Word>& part = call.parts[call.device][table];
    scatterBuckets<Word>(
        columnsOf(call.local, table), call.local.firstTiles(table),
        call.local.sorts[0].firstSplitters, [&](uint32_t) { return part.buckets.cursors; },
        part.scattered + part.begin);
}

// Lays out what this device owns after the exchange, from the counts of all devices. Runs as one block with a thread for each part.
template <typename Word>
__device__ void layOutOwned(const ShardedCall<Word>& call, uint64_t table) {
    __shared__ BlockScan<LAYOUT_THREADS> scan;
    const TableSort<Word>& sort = call.local.sorts[table];
    const OwnedParts& owned = call.owned[table];
    uint32_t i = threadIdx.x;
    bool isPart = i < call.ownedParts();
    uint32_t rows = 0;
    if (isPart) {
        uint32_t bucket = call.firstOwned(call.device) + i / call.deviceCount;
        const ShardPart<Word>& part = call.parts[i % call.deviceCount][table];
        rows = part.buckets.rows[bucket];
        auto begin = static_cast<uint32_t>(part.begin + part.buckets.begins[bucket]);
        owned.begins[i] = begin;
        owned.ends[i] = begin + rows;
    }
    uint32_t total;
    uint32_t tile = scan.exclusiveSum(partsOf(rows, ScatterShape<Word>::ROWS), total);
    if (isPart) {
        owned.firstTiles[i] = tile;
    }
    if (i == 0) {
        owned.firstTiles[call.ownedParts()] = total;
    }
    if (i < sort.bucketCount) {
        sort.buckets.rows[i] = 0;
    }
    __syncthreads();
    if (isPart) {
        atomicAdd(&sort.buckets.rows[call.firstOwned(call.device) + i / call.deviceCount], rows);
    }
    __syncthreads();
    layOutFirst(sort);
}

template <typename Word>
__device__ void sampleOwned(const ShardedCall<Word>& call, uint64_t table, uint32_t stage) {
    const TableSort<Word>& sort = call.local.sorts[table];
    const OwnedParts& owned = call.owned[table];
    uint32_t bucket = call.firstOfStage(call.device, stage) + blockIdx.x;
    uint32_t firstPart = (bucket - call.firstOwned(call.device)) * call.deviceCount;
    uint32_t count = sort.buckets.rows[bucket];
    auto keyAt = [&](uint64_t row) {
        for (uint32_t part = firstPart;; part++) {
            uint32_t rows = owned.ends[part] - owned.begins[part];
            if (row < rows) {
                return sort.scattered[owned.begins[part] + row].key;
            }
            row -= rows;
        }
    };
    chooseSplitters<Word>(count, digitsOf(count), keyAt, sort.secondSplitters + bucket);
}

// Source of the second pass over a stage, whose tiles have the number of their bucket.
template <typename Word>
struct OwnedSource : resident::PartitionSource<Word> {
    uint32_t firstBucket;
    uint32_t bucketParts;
    uint32_t firstTile;
    uint32_t tileCount;

    __device__ static OwnedSource of(const ShardedCall<Word>& call, uint64_t table,
                                     uint32_t stage) {
        const OwnedParts& owned = call.owned[table];
        resident::Slots slots{};
        slots.begin = owned.begins;
        slots.cursor = owned.ends;
        uint32_t firstBucket = call.firstOwned(call.device);
        auto firstTileOf = [&](uint32_t s) {
            uint32_t bucket = call.firstOfStage(call.device, s) - firstBucket;
            return owned.firstTiles[bucket * call.deviceCount];
        };
        uint32_t firstTile = firstTileOf(stage);
        return {{call.local.sorts[table].scattered, slots, owned.firstTiles, call.ownedParts(), 1},
                firstBucket,
                call.deviceCount,
                firstTile,
                firstTileOf(stage + 1) - firstTile};
    }

    __device__ Tile locate(uint32_t tile, uint32_t tiles, uint32_t tileRows) const {
        Tile found = resident::PartitionSource<Word>::locate(firstTile + tile, tiles, tileRows);
        found.partitionBase = firstBucket + found.partitionBase / bucketParts;
        return found;
    }
};

template <typename Word>
__device__ void countOwned(const ShardedCall<Word>& call, uint64_t table, uint32_t stage) {
    const TableSort<Word>& sort = call.local.sorts[table];
    auto source = OwnedSource<Word>::of(call, table, stage);
    countBuckets<Word>(source, source.tileCount, ScatterShape<Word>::ROWS, sort.secondSplitters,
                       [&](uint32_t bucket) {
                           return sort.partitions.cursors + sort.buckets.firstPartitions[bucket];
                       });
}

template <typename Word>
__device__ void layOutOwnedPartitions(const ShardedCall<Word>& call, uint64_t table,
                                      uint32_t stage) {
    layOutPartitions<Word, LAYOUT_THREADS>(call.local.sorts[table],
                                           call.firstLaidOut(stage) + blockIdx.x);
}

template <typename Word>
__device__ void scatterOwned(const ShardedCall<Word>& call, uint64_t table, uint32_t stage) {
    const TableSort<Word>& sort = call.local.sorts[table];
    auto source = OwnedSource<Word>::of(call, table, stage);
    scatterBuckets<Word>(
        source, source.tileCount, sort.secondSplitters,
        [&](uint32_t bucket) {
            return sort.partitions.cursors + sort.buckets.firstPartitions[bucket];
        },
        call.local.partitioned);
}

}  // namespace gpujoin::sortmerge
