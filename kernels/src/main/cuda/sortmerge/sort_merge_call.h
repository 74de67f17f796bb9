// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One sort-merge join as its kernels see it: inputs, outputs, plan and workspace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../resident/resident_join.h"
#include "buckets.cuh"
#include "merge_plan.h"
#include "merge_tiles.cuh"
#include "partition_sort.cuh"
#include "sort_plan.h"

namespace gpujoin::sortmerge {

constexpr uint32_t CHECK_THREADS = 512;
constexpr uint32_t LAYOUT_THREADS = 512;
constexpr uint32_t PLAN_THREADS = 256;
static_assert(LAYOUT_THREADS >= MAX_DIGITS && COUNT_THREADS >= MAX_DIGITS,
              "a thread for each bucket");

// Blocks of a kernel for each that a device holds at once: so many share the work evenly, and return
// soon if there is none.
constexpr uint32_t WAVES = 8;

// The kernels for each table, in the order of their launches.
enum TableKernel {
    CLEAR,
    CHECK,
    SAMPLE_FIRST,
    COUNT_FIRST,
    LAY_OUT_FIRST,
    SCATTER_FIRST,
    SAMPLE_SECOND,
    COUNT_SECOND,
    LAY_OUT_SECOND,
    SCATTER_SECOND,
    SORT,
    SORT_LARGE,
    COPY_CONSTANTS,
    TABLE_KERNELS
};

// The kernels after them.
enum MergeKernel { PLAN_TILES, MERGE_TILES, EXPAND_TILES, MERGE_KERNELS };

// How to launch a kernel.
struct KernelShape {
    // Blocks if the device holds any number.
    uint32_t blocks;
    // Maximum of blocks for each multiprocessor; 0 if there is none.
    uint32_t blocksPerSm;
    uint32_t threads;
    uint32_t sharedBytes;

    GPUJOIN_INLINE uint32_t blocksOn(uint32_t multiprocessors) const {
        uint32_t most = multiprocessors * blocksPerSm;
        return most != 0 && most < blocks ? most : blocks;
    }
};

// The host writes the first line of members, and `plan` sets the others.
//
//   0        32       64         104       112              120                    584
//   +--------+--------+----------+---------+----------------+----------------------+-----
//   | build  | probe  | matches  | memory  | workspaceBytes | shapes of kernels    | ...
//   +--------+--------+----------+---------+----------------+----------------------+-----
template <typename Word>
struct SortMergeCall {
    TableView<Word> tables[2];
    MatchColumns<Word> matches;
    // The workspace; null if only its size is asked for.
    void* memory;

    uint64_t workspaceBytes;
    KernelShape tableShapes[2][TABLE_KERNELS];
    KernelShape mergeShapes[MERGE_KERNELS];
    TableSort<Word> sorts[2];
    // Rows after the second pass. Both tables use it, one after the other.
    Tuple<Word>* partitioned;
    MergeTiles tiles;

    GPUJOIN_INLINE void plan() {
        RegionAllocator regions(memory);
        planRows(regions, {tables[0].rows, tables[1].rows},
                 {bucketsOf(tables[0].rows), bucketsOf(tables[1].rows)});
        workspaceBytes = regions.usedBytes();
    }

    // Numbers of the two tables.
    struct OfTables {
        uint64_t of[2];
    };

    // Plans for tables of up to `rows` rows after the first pass.
    GPUJOIN_INLINE void planRows(RegionAllocator& regions, OfTables rows, OfTables buckets) {
        for (int t = 0; t < 2; t++) {
            sorts[t] = TableSort<Word>::allocate(regions, rows.of[t],
                                                 static_cast<uint32_t>(buckets.of[t]));
            planTable(t, rows.of[t]);
        }
        uint64_t most = rows.of[0] > rows.of[1] ? rows.of[0] : rows.of[1];
        partitioned = regions.allocate<Tuple<Word>>(most);
        tiles = MergeTiles::allocate(regions, rows.of[0] + rows.of[1]);
        mergeShapes[PLAN_TILES] = {partsOf(tiles.maxCount + 1, PLAN_THREADS), 0, PLAN_THREADS, 0};
        mergeShapes[MERGE_TILES] = {tiles.maxCount, MERGE_BLOCKS_PER_SM, MERGE_THREADS,
                                    sizeof(MergeMemory<Word>)};
        mergeShapes[EXPAND_TILES] = {tiles.maxCount == 0 ? 0 : EXPAND_BLOCKS, EXPAND_BLOCKS_PER_SM,
                                     MERGE_THREADS, sizeof(ExpandMemory<Word>)};
    }

    GPUJOIN_INLINE uint32_t firstTiles(uint64_t table) const {
        return partsOf(tables[table].rows, ScatterShape<Word>::ROWS);
    }

  private:
    GPUJOIN_INLINE void planTable(int table, uint64_t rows) {
        KernelShape* shapes = tableShapes[table];
        const TableSort<Word>& sort = sorts[table];
        shapes[CLEAR] = {partsOf(sort.maxPartitions, PLAN_THREADS), 0, PLAN_THREADS, 0};
        if (rows == 0) {
            for (int k = CLEAR + 1; k < TABLE_KERNELS; k++) {
                shapes[k] = {0, 0, 32, 0};
            }
            return;
        }
        using Shape = ScatterShape<Word>;
        static_assert(SampleSorter<Word>::SHARED_BYTES <= resident::MAX_LAUNCH_SHARED_BYTES &&
                      Shape::SHARED_BYTES <= resident::MAX_LAUNCH_SHARED_BYTES);
        // A tile of the second pass lies in one bucket.
        uint32_t secondTiles = partsOf(rows, Shape::ROWS) + sort.bucketCount;
        shapes[CHECK] = {partsOf(rows, CHECK_THREADS * 16), 4, CHECK_THREADS, 0};
        shapes[SAMPLE_FIRST] = {1, 0, SAMPLE_THREADS, SampleSorter<Word>::SHARED_BYTES};
        shapes[COUNT_FIRST] = {firstTiles(table), 4, COUNT_THREADS, 0};
        shapes[LAY_OUT_FIRST] = {1, 0, LAYOUT_THREADS, 0};
        shapes[SCATTER_FIRST] = {firstTiles(table), Shape::BLOCKS_PER_SM * WAVES, Shape::THREADS,
                                 Shape::SHARED_BYTES};
        shapes[SAMPLE_SECOND] = {sort.bucketCount, 0, SAMPLE_THREADS,
                                 SampleSorter<Word>::SHARED_BYTES};
        shapes[COUNT_SECOND] = {secondTiles, 4, COUNT_THREADS, 0};
        shapes[LAY_OUT_SECOND] = {sort.bucketCount, 0, LAYOUT_THREADS, 0};
        shapes[SCATTER_SECOND] = {secondTiles, Shape::BLOCKS_PER_SM * WAVES, Shape::THREADS,
                                  Shape::SHARED_BYTES};
        shapes[SORT] = {sort.maxPartitions, SORT_BLOCKS_PER_SM * WAVES, SORT_THREADS,
                        PartitionSorter<Word>::SHARED_BYTES};
        shapes[SORT_LARGE] = {sort.maxPartitions, SORT_BLOCKS_PER_SM, SORT_THREADS,
                              PartitionSorter<Word>::SHARED_BYTES};
        shapes[COPY_CONSTANTS] = {partsOf(rows, COPY_BLOCK_ROWS), 4, COPY_THREADS, 0};
    }
};

constexpr size_t CALL_MEMORY_OFFSET = 104;
constexpr size_t CALL_WORKSPACE_BYTES_OFFSET = 112;
constexpr size_t CALL_SHAPES_OFFSET = 120;
constexpr size_t CALL_BYTES = 1024;
static_assert(offsetof(SortMergeCall<int64_t>, memory) == CALL_MEMORY_OFFSET);
static_assert(offsetof(SortMergeCall<int64_t>, workspaceBytes) == CALL_WORKSPACE_BYTES_OFFSET);
static_assert(offsetof(SortMergeCall<int64_t>, tableShapes) == CALL_SHAPES_OFFSET);
static_assert(sizeof(KernelShape) == 16 && TABLE_KERNELS == 13 && MERGE_KERNELS == 3);
static_assert(sizeof(SortMergeCall<int64_t>) <= CALL_BYTES);

}  // namespace gpujoin::sortmerge
