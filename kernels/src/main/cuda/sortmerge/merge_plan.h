// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The merge of two sorted tables before it runs: sizes, and its layout of the workspace. Runs on the
// host and on the device.
#pragma once

#include <cstdint>

#include "../resident/join_plan.h"
#include "merge_path.h"

namespace gpujoin::sortmerge {

// Build and probe rows of a tile, and the blocks that merge on a multiprocessor at once.
constexpr uint32_t MERGE_TILE_ROWS = 2048;
constexpr uint32_t MERGE_THREADS = 128;
constexpr uint32_t MERGE_BLOCKS_PER_SM = 9;

// Results of a tile beyond which all blocks share them, and of a block's share of them.
constexpr uint64_t LARGE_TILE_RESULTS = 65536;
constexpr uint64_t EXPAND_SLICE_RESULTS = 16384;
constexpr uint32_t EXPAND_BLOCKS_PER_SM = 4;
// As many as any device holds.
constexpr uint32_t EXPAND_BLOCKS = 2048;

struct MergeTiles {
    uint32_t maxCount;
    // First build row of each tile and, last, the number of build rows.
    uint32_t* buildFirsts;
    // Matches of each tile; see TileSum.
    unsigned long long* sums;
    // Tiles that blocks have claimed.
    uint32_t* claimed;
    // Tiles with very many results, in any order.
    uint32_t* large;
    uint32_t* largeCount;

    // Returns tiles for up to `rows` rows of both tables.
    static GPUJOIN_INLINE MergeTiles allocate(resident::RegionAllocator& regions, uint64_t rows) {
        MergeTiles tiles;
        tiles.maxCount = static_cast<uint32_t>((rows + MERGE_TILE_ROWS - 1) / MERGE_TILE_ROWS);
        tiles.buildFirsts = regions.allocate<uint32_t>(uint64_t{tiles.maxCount} + 1);
        tiles.sums = regions.allocate<unsigned long long>(tiles.maxCount);
        tiles.claimed = regions.allocate<uint32_t>(1);
        tiles.large = regions.allocate<uint32_t>(tiles.maxCount);
        tiles.largeCount = regions.allocate<uint32_t>(1);
        return tiles;
    }
};

}  // namespace gpujoin::sortmerge
