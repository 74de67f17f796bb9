// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A tile of the merge in the shared memory of a block: finds and writes its results.
#pragma once

#include <cstdint>

#include "../resident/resident_join.h"
#include "../resident/tile_source.cuh"
#include "merge_path.h"
#include "merge_plan.h"
#include "tile_sum.cuh"

namespace gpujoin::sortmerge {

using resident::MatchColumns;
using resident::TableView;
using resident::TileBarrier;

// Shared memory of a merging block.
template <typename Word>
struct MergeMemory {
    static constexpr uint32_t UNIT_ROWS = 16 / sizeof(Word);
    // Ranges of both tables begin and end with whole units.
    static constexpr uint32_t COLUMN_ROWS = MERGE_TILE_ROWS + 4 * UNIT_ROWS;

    // Build keys of the tile and a few before them, then its probe keys.
    alignas(16) Word keys[COLUMN_ROWS];
    // Payloads in the same places.
    alignas(16) Word payloads[COLUMN_ROWS];
};

// Shared memory of an expanding block.
template <typename Word>
struct ExpandMemory {
    MergeMemory<Word> tile;
    // For each probe row, its first result within the tile and its first build row.
    uint64_t firstResults[MERGE_TILE_ROWS];
    uint32_t firstBuilds[MERGE_TILE_ROWS];
};

// A range of a table's rows and its place in a column of MergeMemory.
struct StagedRange {
    // First row of the table that is staged, at the start of a unit, and where.
    uint64_t begin;
    uint32_t target;
    uint32_t rows;

    template <typename Word>
    __device__ void copy(Word* column, const Word* source, uint64_t tableRows,
                         TileBarrier& barrier) const {
        constexpr uint32_t UNIT_ROWS = 16 / sizeof(Word);
        uint32_t whole = (rows + UNIT_ROWS - 1) / UNIT_ROWS * UNIT_ROWS;
        if (begin + whole > tableRows) {
            // The table ends within a unit; threads copy the rows of this unit.
            whole = rows / UNIT_ROWS * UNIT_ROWS;
            uint32_t row = whole + threadIdx.x;
            if (row < rows) {
                column[target + row] = source[begin + row];
            }
        }
        resident::stageBytes(column + target, source + begin,
                             whole * static_cast<uint32_t>(sizeof(Word)), barrier);
    }
};

// A tile of the merge in the shared memory of a block. Warps have equal shares of consecutive probe
// rows, of which adjacent lanes have adjacent rows.
template <typename Word>
struct MergeTile {
    static constexpr uint32_t ROWS_PER_THREAD = MERGE_TILE_ROWS / MERGE_THREADS;
    static_assert(ROWS_PER_THREAD < 32, "a lane searches the bound of each row of a warp");
    // Rows of a lane whose searches overlap.
    static constexpr uint32_t BATCH_ROWS = 4;

    TableView<Word> build;
    TableView<Word> probe;
    uint64_t buildFirst;
    uint64_t probeFirst;
    uint32_t buildRows;
    uint32_t probeRows;
    // Probe rows of a lane.
    uint32_t laneRows;
    StagedRange stagedBuild;
    StagedRange stagedProbe;
    MergeMemory<Word>* memory;

    // Matches of the lane's probe rows, and the end of their build rows in the tile.
    uint32_t counts[ROWS_PER_THREAD];
    uint32_t buildEnds[ROWS_PER_THREAD];

    __device__ static MergeTile of(const TableView<Word>& build, const TableView<Word>& probe,
                                   const MergeTiles& tiles, uint32_t t, MergeMemory<Word>* memory) {
        constexpr uint32_t UNIT_ROWS = MergeMemory<Word>::UNIT_ROWS;
        MergeTile tile;
        uint64_t diagonal = uint64_t{t} * MERGE_TILE_ROWS;
        uint64_t rows = build.rows + probe.rows;
        uint64_t end = diagonal + MERGE_TILE_ROWS < rows ? diagonal + MERGE_TILE_ROWS : rows;
        tile.build = build;
        tile.probe = probe;
        tile.buildFirst = tiles.buildFirsts[t];
        tile.probeFirst = diagonal - tile.buildFirst;
        tile.buildRows = static_cast<uint32_t>(tiles.buildFirsts[t + 1] - tile.buildFirst);
        tile.probeRows = static_cast<uint32_t>(end - diagonal) - tile.buildRows;
        tile.laneRows = (tile.probeRows + MERGE_THREADS - 1) / MERGE_THREADS;
        tile.memory = memory;
        // The last two build rows before the tile can match the first probe rows.
        uint64_t buildBegin =
            (tile.buildFirst < 2 ? 0 : tile.buildFirst - 2) / UNIT_ROWS * UNIT_ROWS;
        uint64_t probeBegin = tile.probeFirst / UNIT_ROWS * UNIT_ROWS;
        auto stagedBuildRows = static_cast<uint32_t>(tile.buildFirst - buildBegin) + tile.buildRows;
        tile.stagedBuild = {buildBegin, 0, stagedBuildRows};
        tile.stagedProbe = {probeBegin, (stagedBuildRows + UNIT_ROWS - 1) / UNIT_ROWS * UNIT_ROWS,
                            static_cast<uint32_t>(tile.probeFirst - probeBegin) + tile.probeRows};
        return tile;
    }

    // Row number k of the lane in the tile's probe rows.
    __device__ uint32_t rowOf(uint32_t k) const {
        return (threadIdx.x / 32 * laneRows + k) * 32 + threadIdx.x % 32;
    }
    __device__ bool hasRow(uint32_t k) const { return k < laneRows && rowOf(k) < probeRows; }

    // Build keys of the tile; those before its first row have negative indexes.
    __device__ const Word* buildKeys() const { return memory->keys + buildPlace(); }
    __device__ Word probeKey(uint32_t row) const { return memory->keys[probePlace() + row]; }

    // Starts to copy the keys, or the payloads, to shared memory. All threads call it.
    __device__ void stageKeys(TileBarrier& barrier) const {
        stage(memory->keys, build.keys, probe.keys, barrier);
    }
    __device__ void stagePayloads(TileBarrier& barrier) const {
        stage(memory->payloads, build.payloads, probe.payloads, barrier);
    }

    // Finds the build rows of each probe row. Of equal keys, build rows are before probe rows in the
    // merge, so the last one is in this tile or before, and the first one can be in any tile before.
    // Returns whether a probe row of the lane has several matches. All lanes of a warp call it.
    __device__ bool find() {
        bool isMultiple = false;
        uint32_t bound = boundOfSlice();
        GPUJOIN_UNROLL
        for (uint32_t base = 0; base < ROWS_PER_THREAD; base += BATCH_ROWS) {
            if (base < laneRows) {
                isMultiple |= findBatch(base, bound);
            } else {
                GPUJOIN_UNROLL
                for (uint32_t k = 0; k < BATCH_ROWS; k++) {
                    counts[base + k] = 0;
                }
            }
        }
        return isMultiple;
    }

    // Returns the number of results of the lane.
    __device__ uint64_t laneResults() const {
        uint64_t sum = 0;
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < ROWS_PER_THREAD; k++) {
            sum += counts[k];
        }
        return sum;
    }

    // Writes the results if each probe row has one at most. `first` is the first result row of the
    // warp.
    __device__ void writeSingles(const MatchColumns<Word>& matches, uint64_t first) const {
        unsigned lower = (1u << threadIdx.x % 32) - 1u;
        GPUJOIN_UNROLL
        for (uint32_t base = 0; base < ROWS_PER_THREAD; base += BATCH_ROWS) {
            if (base < laneRows) {
                GPUJOIN_UNROLL
                for (uint32_t k = base; k < base + BATCH_ROWS; k++) {
                    unsigned lanes = __ballot_sync(FULL_WARP, counts[k] != 0);
                    uint64_t row = first + __popc(lanes & lower);
                    if (counts[k] != 0 && row < matches.capacityRows) {
                        uint32_t probeRow = probePlace() + rowOf(k);
                        if (matches.keys != nullptr) {
                            __stcs(matches.keys + row, memory->keys[probeRow]);
                        }
                        __stcs(matches.buildPayloads + row,
                               memory->payloads[buildPlace() + buildEnds[k] - 1]);
                        __stcs(matches.probePayloads + row, memory->payloads[probeRow]);
                    }
                    first += __popc(lanes);
                }
            }
        }
    }

    // Writes all results, at most LARGE_TILE_RESULTS. `first` is the first result row of the warp.
    __device__ void writeAll(const MatchColumns<Word>& matches, uint64_t first) const {
        uint32_t lane = threadIdx.x % 32;
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < ROWS_PER_THREAD; k++) {
            if (k >= laneRows) {
                continue;
            }
            uint32_t end = static_cast<uint32_t>(inclusiveSum(counts[k]));
            uint32_t results = __shfl_sync(FULL_WARP, end, 31);
            for (uint32_t base = 0; base < results; base += 32) {
                uint32_t result = base + lane;
                // The lane whose row has the result.
                uint32_t owner = 0;
                GPUJOIN_UNROLL
                for (uint32_t step = 16; step > 0; step /= 2) {
                    uint32_t endBefore = __shfl_sync(FULL_WARP, end, owner + step - 1);
                    owner += endBefore <= result ? step : 0;
                }
                uint32_t back = __shfl_sync(FULL_WARP, end, owner) - result;
                uint32_t buildEnd = __shfl_sync(FULL_WARP, buildEnds[k], owner);
                if (result < results && first + result < matches.capacityRows) {
                    uint32_t probeRow = probePlace() + rowOf(k) - lane + owner;
                    uint64_t row = first + result;
                    if (matches.keys != nullptr) {
                        __stcs(matches.keys + row, memory->keys[probeRow]);
                    }
                    __stcs(matches.buildPayloads + row,
                           back > buildEnd ? build.payloads[buildFirst + buildEnd - back]
                                           : memory->payloads[buildPlace() + buildEnd - back]);
                    __stcs(matches.probePayloads + row, memory->payloads[probeRow]);
                }
            }
            first += results;
        }
    }

    // Stores the results of each probe row; `before` is the number of results of lower warps. Ends
    // with a barrier.
    __device__ void storeResults(ExpandMemory<Word>& expand, uint64_t before) const {
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < ROWS_PER_THREAD; k++) {
            uint64_t inclusive = inclusiveSum(counts[k]);
            if (hasRow(k)) {
                expand.firstResults[rowOf(k)] = before + inclusive - counts[k];
                expand.firstBuilds[rowOf(k)] =
                    static_cast<uint32_t>(buildFirst) + buildEnds[k] - counts[k];
            }
            before += __shfl_sync(FULL_WARP, inclusive, 31);
        }
        __syncthreads();
    }

    // Writes the results [from, to) of the tile, of which storeResults() stored the positions;
    // `first` is the first result row of the tile. Adjacent threads write adjacent rows.
    __device__ void writeRange(const ExpandMemory<Word>& expand, const MatchColumns<Word>& matches,
                               uint64_t first, uint64_t from, uint64_t to) const {
        for (uint64_t result = from + threadIdx.x; result < to; result += MERGE_THREADS) {
            uint32_t row = upperBound(expand.firstResults, 0u, probeRows, result) - 1;
            uint64_t buildRow = expand.firstBuilds[row] + (result - expand.firstResults[row]);
            if (matches.keys != nullptr) {
                __stcs(matches.keys + first + result, probeKey(row));
            }
            __stcs(matches.buildPayloads + first + result, build.payloads[buildRow]);
            __stcs(matches.probePayloads + first + result, probe.payloads[probeFirst + row]);
        }
    }

  private:
    __device__ static uint64_t inclusiveSum(uint64_t value) {
        GPUJOIN_UNROLL
        for (int distance = 1; distance < 32; distance *= 2) {
            uint64_t below = __shfl_up_sync(FULL_WARP, value, distance);
            value += threadIdx.x % 32 >= distance ? below : 0;
        }
        return value;
    }

    __device__ uint32_t buildPlace() const {
        return static_cast<uint32_t>(buildFirst - stagedBuild.begin);
    }
    __device__ uint32_t probePlace() const {
        return stagedProbe.target + static_cast<uint32_t>(probeFirst - stagedProbe.begin);
    }

    __device__ void stage(Word* column, const Word* builds, const Word* probes,
                          TileBarrier& barrier) const {
        stagedBuild.copy(column, builds, build.rows, barrier);
        stagedProbe.copy(column, probes, probe.rows, barrier);
        if (threadIdx.x == 0) {
            (void)barrier.arrive();
        }
    }

    // Returns for lane k the number of build rows up to the first of the warp's rows number k, which
    // bounds the searches of all of them.
    __device__ uint32_t boundOfSlice() const {
        if (probeRows == 0) {
            return 0;
        }
        uint32_t row = (threadIdx.x / 32 * laneRows + threadIdx.x % 32) * 32;
        return upperBound(buildKeys(), 0u, buildRows,
                          probeKey(row < probeRows ? row : probeRows - 1));
    }

    __device__ bool findBatch(uint32_t base, uint32_t bound) {
        const Word* builds = buildKeys();
        Word keys[BATCH_ROWS];
        uint32_t ends[BATCH_ROWS];
        uint32_t length = 0;
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < BATCH_ROWS; k++) {
            keys[k] = probeKey(hasRow(base + k) ? rowOf(base + k) : probeRows - 1);
            ends[k] = __shfl_sync(FULL_WARP, bound, base + k);
            uint32_t high = __shfl_sync(FULL_WARP, bound, base + k + 1);
            length = high - ends[k] > length ? high - ends[k] : length;
        }
        // All rows of the batch search ranges of one length.
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < BATCH_ROWS; k++) {
            ends[k] = ends[k] < buildRows - length ? ends[k] : buildRows - length;
        }
        while (length > 0) {
            uint32_t half = (length + 1) / 2;
            GPUJOIN_UNROLL
            for (uint32_t k = 0; k < BATCH_ROWS; k++) {
                ends[k] += builds[ends[k] + half - 1] <= keys[k] ? half : 0;
            }
            length -= half;
        }
        bool isMultiple = false;
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < BATCH_ROWS; k++) {
            buildEnds[base + k] = ends[k];
            counts[base + k] = 0;
            int end = static_cast<int>(ends[k]);
            if (hasRow(base + k) && buildFirst + ends[k] >= 1 && builds[end - 1] == keys[k]) {
                counts[base + k] = 1;
                if (buildFirst + ends[k] >= 2 && builds[end - 2] == keys[k]) {
                    counts[base + k] = countRun(keys[k], ends[k]);
                    isMultiple = true;
                }
            }
        }
        return isMultiple;
    }

    // Returns the number of build rows with `key`, the last of which is before `end`.
    __device__ uint32_t countRun(Word key, uint32_t end) const {
        uint32_t begin = lowerBound(buildKeys(), 0u, end, key);
        return begin > 0 ? end - begin
                         : end + static_cast<uint32_t>(buildFirst -
                                                       runStart(build.keys, buildFirst, key));
    }
};

}  // namespace gpujoin::sortmerge
