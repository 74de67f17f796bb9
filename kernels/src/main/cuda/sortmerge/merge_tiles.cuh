// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Merges two sorted tables. Merge paths divide the merge into tiles of equal length, whatever the
// numbers of rows of each table and key, so a tile fits into shared memory.
//
// Results are in the order of the keys: the first result row of a tile is the sum of the matches of
// all tiles before. A tile with very many matches is left to a second kernel, in which all blocks
// share its rows.
#pragma once

#include <cstdint>

#include "../resident/block_scan.cuh"
#include "merge_tile.cuh"

namespace gpujoin::sortmerge {

using resident::BlockScan;

template <typename Word>
__device__ uint32_t tileCount(const TableView<Word>& build, const TableView<Word>& probe) {
    return static_cast<uint32_t>((build.rows + probe.rows + MERGE_TILE_ROWS - 1) / MERGE_TILE_ROWS);
}

// Divides the merge into tiles, and clears their sums. One thread for each tile, and one more.
template <typename Word>
__device__ void planTiles(const TableView<Word>& build, const TableView<Word>& probe,
                          const MergeTiles& tiles, uint64_t* matchCount) {
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t count = tileCount(build, probe);
    if (t == 0) {
        *tiles.claimed = 0;
        *tiles.largeCount = 0;
        if (count == 0) {
            *matchCount = 0;
        }
    }
    if (t <= count) {
        uint64_t diagonal = uint64_t{t} * MERGE_TILE_ROWS;
        uint64_t rows = build.rows + probe.rows;
        tiles.buildFirsts[t] = static_cast<uint32_t>(mergePath(
            build.keys, build.rows, probe.keys, probe.rows, diagonal < rows ? diagonal : rows));
        if (t < count) {
            tiles.sums[t] = 0;
        }
    }
}

// Barriers of the copies of a tile, in shared memory.
struct MergeBarriers {
    TileBarrier keys;
    TileBarrier payloads;

    // Called by one thread, before a barrier of the block.
    __device__ void initialize() {
        init(&keys, 1);
        init(&payloads, 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        cuda::device::experimental::fence_proxy_async_shared_cta();
#endif
    }
};

// Merges tiles until none is left. The grid may have any size.
template <typename Word>
__device__ void mergeTiles(const TableView<Word>& build, const TableView<Word>& probe,
                           const MergeTiles& tiles, const MatchColumns<Word>& matches) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Tile = MergeTile<Word>;
    constexpr uint32_t WARPS = MERGE_THREADS / 32;
    auto* memory = reinterpret_cast<MergeMemory<Word>*>(shared);
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ MergeBarriers barriers;
    __shared__ BlockScan<MERGE_THREADS, uint64_t> scan;
    __shared__ uint32_t warpResults[WARPS];
    __shared__ uint32_t claimed;
    __shared__ uint64_t firstResult;
    const uint32_t count = tileCount(build, probe);
    if (threadIdx.x == 0) {
        barriers.initialize();
        claimed = atomicAdd(tiles.claimed, 1u);
    }
    for (bool parity = false;; parity = !parity) {
        __syncthreads();
        uint32_t t = claimed;
        if (t >= count) {
            return;
        }
        Tile tile = Tile::of(build, probe, tiles, t, memory);
        tile.stageKeys(barriers.keys);
        tile.stagePayloads(barriers.payloads);
        barriers.keys.wait_parity(parity);
        __syncthreads();
        bool isMultiple = tile.find();
        auto sum = static_cast<uint32_t>(tile.laneResults());
        sum = __reduce_add_sync(FULL_WARP, sum);
        if (threadIdx.x % 32 == 0) {
            warpResults[threadIdx.x / 32] = sum;
        }
        bool hasMultiples = __syncthreads_or(isMultiple);
        uint64_t before;
        uint64_t results;
        if (hasMultiples) {
            before = __shfl_sync(FULL_WARP, scan.exclusiveSum(tile.laneResults(), results), 0);
        } else {
            uint32_t other = threadIdx.x % 32;
            uint32_t value = other < WARPS ? warpResults[other] : 0;
            results = __reduce_add_sync(FULL_WARP, value);
            before = __reduce_add_sync(FULL_WARP, other < threadIdx.x / 32 ? value : 0);
        }
        uint32_t next = 0;
        if (threadIdx.x < 32) {
            uint64_t first = TileSum::exchange(tiles.sums, t, results);
            if (threadIdx.x == 0) {
                // The write hides the latency of the next claim.
                next = atomicAdd(tiles.claimed, 1u);
                firstResult = first;
                if (t + 1 == count) {
                    *matches.matchCount = first + results;
                }
                if (results > LARGE_TILE_RESULTS) {
                    tiles.large[atomicAdd(tiles.largeCount, 1u)] = t;
                }
            }
        }
        barriers.payloads.wait_parity(parity);
        __syncthreads();
        if (!hasMultiples) {
            tile.writeSingles(matches, firstResult + before);
        } else if (results <= LARGE_TILE_RESULTS) {
            tile.writeAll(matches, firstResult + before);
        }
        if (threadIdx.x == 0) {
            claimed = next;
        }
    }
}

// Returns the results of a tile that the result columns have room for.
template <typename Word>
__device__ uint64_t writableResults(const MatchColumns<Word>& matches, uint64_t first,
                                    uint64_t results) {
    uint64_t room = first < matches.capacityRows ? matches.capacityRows - first : 0;
    return results < room ? results : room;
}

// Writes the results of large tiles, in slices that all blocks share.
template <typename Word>
__device__ void expandTiles(const TableView<Word>& build, const TableView<Word>& probe,
                            const MergeTiles& tiles, const MatchColumns<Word>& matches) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Tile = MergeTile<Word>;
    auto& memory = *reinterpret_cast<ExpandMemory<Word>*>(shared);
    __shared__ MergeBarriers barriers;
    __shared__ BlockScan<MERGE_THREADS, uint64_t> scan;
    if (threadIdx.x == 0) {
        barriers.initialize();
    }
    __syncthreads();
    bool parity = false;
    // Slices of the tiles so far.
    uint64_t slicesBefore = 0;
    for (uint32_t i = 0; i < *tiles.largeCount; i++) {
        uint32_t t = tiles.large[i];
        uint64_t first = TileSum::before(tiles.sums, t);
        uint64_t results =
            writableResults(matches, first, TileSum::before(tiles.sums, t + 1) - first);
        uint64_t slices = (results + EXPAND_SLICE_RESULTS - 1) / EXPAND_SLICE_RESULTS;
        // The first slice whose number, counted over all tiles, is one of this block.
        uint64_t slice = (blockIdx.x + gridDim.x - slicesBefore % gridDim.x) % gridDim.x;
        slicesBefore += slices;
        if (slice >= slices) {
            continue;
        }
        Tile tile = Tile::of(build, probe, tiles, t, &memory.tile);
        tile.stageKeys(barriers.keys);
        barriers.keys.wait_parity(parity);
        parity = !parity;
        __syncthreads();
        tile.find();
        uint64_t all;
        tile.storeResults(memory,
                          __shfl_sync(FULL_WARP, scan.exclusiveSum(tile.laneResults(), all), 0));
        for (; slice < slices; slice += gridDim.x) {
            uint64_t from = slice * EXPAND_SLICE_RESULTS;
            uint64_t to = from + EXPAND_SLICE_RESULTS;
            tile.writeRange(memory, matches, first, from, to < results ? to : results);
        }
        __syncthreads();
    }
}

}  // namespace gpujoin::sortmerge
