// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of a sort-merge join, for words of 32 and of 64 bits. Each has the planned call as its
// first parameter, and those of a table a second one: 0 for build, 1 for probe. The kernel that
// plans writes the call in device memory.
#pragma once

#include "sort_merge_work.cuh"

#define GPUJOIN_SORT_MERGE_KERNEL(name, Word, Bits, bounds, body, ...)                      \
    extern "C" __global__ void bounds gpujoin_sort_merge_##name##_##Bits(                   \
        const __grid_constant__ gpujoin::sortmerge::SortMergeCall<Word> call __VA_ARGS__) { \
        using namespace gpujoin::sortmerge;                                                 \
        body;                                                                               \
    }

// A kernel for one table, which runs whether the table is sorted or not.
#define GPUJOIN_TABLE_KERNEL(name, Word, Bits, bounds, body) \
    GPUJOIN_SORT_MERGE_KERNEL(name, Word, Bits, bounds, body, , uint64_t table)

// A kernel of the sort, which has no work if the table is sorted.
#define GPUJOIN_SORT_KERNEL(name, Word, Bits, bounds, body) \
    GPUJOIN_TABLE_KERNEL(                                   \
        name, Word, Bits, bounds, if (call.sorts[table].flags->isUnsorted != 0) { body; })

#define GPUJOIN_SORT_MERGE_KERNELS(Word, Bits)                                                    \
    extern "C" __global__ void gpujoin_sort_merge_plan_##Bits(                                    \
        gpujoin::sortmerge::SortMergeCall<Word>* call) {                                          \
        call->plan();                                                                             \
    }                                                                                             \
    GPUJOIN_TABLE_KERNEL(clear, Word, Bits, , clear(call.sorts[table]))                           \
    GPUJOIN_TABLE_KERNEL(check, Word, Bits, __launch_bounds__(gpujoin::sortmerge::CHECK_THREADS), \
                         checkOrder(call.tables[table].keys, call.tables[table].rows,             \
                                    &call.sorts[table].flags->isUnsorted))                        \
    GPUJOIN_SORT_KERNEL(sample_first, Word, Bits,                                                 \
                        __launch_bounds__(gpujoin::sortmerge::SAMPLE_THREADS),                    \
                        sampleFirst(call, table))                                                 \
    GPUJOIN_SORT_KERNEL(count_first, Word, Bits,                                                  \
                        __launch_bounds__(gpujoin::sortmerge::COUNT_THREADS, 4),                  \
                        countFirst(call, table))                                                  \
    GPUJOIN_SORT_KERNEL(lay_out_first, Word, Bits,                                                \
                        __launch_bounds__(gpujoin::sortmerge::LAYOUT_THREADS),                    \
                        layOutFirst(call.sorts[table]))                                           \
    GPUJOIN_SORT_KERNEL(scatter_first, Word, Bits,                                                \
                        __launch_bounds__(gpujoin::sortmerge::ScatterShape<Word>::THREADS,        \
                                          gpujoin::sortmerge::ScatterShape<Word>::BLOCKS_PER_SM), \
                        scatterFirst(call, table))                                                \
    GPUJOIN_SORT_KERNEL(sample_second, Word, Bits,                                                \
                        __launch_bounds__(gpujoin::sortmerge::SAMPLE_THREADS),                    \
                        sampleSecond(call.sorts[table]))                                          \
    GPUJOIN_SORT_KERNEL(count_second, Word, Bits,                                                 \
                        __launch_bounds__(gpujoin::sortmerge::COUNT_THREADS, 4),                  \
                        countSecond(call, table))                                                 \
    GPUJOIN_SORT_KERNEL(lay_out_second, Word, Bits,                                               \
                        __launch_bounds__(gpujoin::sortmerge::LAYOUT_THREADS),                    \
                        (layOutPartitions<Word, LAYOUT_THREADS>(call.sorts[table], blockIdx.x)))  \
    GPUJOIN_SORT_KERNEL(scatter_second, Word, Bits,                                               \
                        __launch_bounds__(gpujoin::sortmerge::ScatterShape<Word>::THREADS,        \
                                          gpujoin::sortmerge::ScatterShape<Word>::BLOCKS_PER_SM), \
                        scatterSecond(call, table))                                               \
    GPUJOIN_SORT_KERNEL(sort, Word, Bits,                                                         \
                        __launch_bounds__(gpujoin::sortmerge::SORT_THREADS,                       \
                                          gpujoin::sortmerge::SORT_BLOCKS_PER_SM),                \
                        sortPartitions(call.sorts[table], call.partitioned))                      \
    GPUJOIN_SORT_KERNEL(sort_large, Word, Bits,                                                   \
                        __launch_bounds__(gpujoin::sortmerge::SORT_THREADS,                       \
                                          gpujoin::sortmerge::SORT_BLOCKS_PER_SM),                \
                        sortLargePartitions(call.sorts[table], call.partitioned))                 \
    GPUJOIN_SORT_KERNEL(copy_constants, Word, Bits,                                               \
                        __launch_bounds__(gpujoin::sortmerge::COPY_THREADS),                      \
                        if (call.sorts[table].flags->hasLargeConstants != 0)                      \
                            copyConstants(call.sorts[table], call.partitioned))                   \
    GPUJOIN_SORT_MERGE_KERNEL(plan_tiles, Word, Bits,                                             \
                              __launch_bounds__(gpujoin::sortmerge::PLAN_THREADS),                \
                              planTiles(sortedTable(call, 0), sortedTable(call, 1), call.tiles,   \
                                        call.matches.matchCount), )                               \
    GPUJOIN_SORT_MERGE_KERNEL(                                                                    \
        merge_tiles, Word, Bits,                                                                  \
        __launch_bounds__(gpujoin::sortmerge::MERGE_THREADS,                                      \
                          gpujoin::sortmerge::MERGE_BLOCKS_PER_SM),                               \
        mergeTiles(sortedTable(call, 0), sortedTable(call, 1), call.tiles, call.matches), )       \
    GPUJOIN_SORT_MERGE_KERNEL(                                                                    \
        expand_tiles, Word, Bits,                                                                 \
        __launch_bounds__(gpujoin::sortmerge::MERGE_THREADS,                                      \
                          gpujoin::sortmerge::EXPAND_BLOCKS_PER_SM),                              \
        expandTiles(sortedTable(call, 0), sortedTable(call, 1), call.tiles, call.matches), )

GPUJOIN_SORT_MERGE_KERNELS(int32_t, 32)
GPUJOIN_SORT_MERGE_KERNELS(int64_t, 64)
