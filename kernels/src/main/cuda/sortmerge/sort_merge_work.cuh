// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// What the kernels of a sort-merge join do, for a planned call and a table: 0 for build, 1 for probe.
#pragma once

#include "sort_merge_call.h"

namespace gpujoin::sortmerge {

template <typename Word>
__device__ resident::ColumnSource<Word> columnsOf(const SortMergeCall<Word>& call, uint64_t table) {
    const TableView<Word>& view = call.tables[table];
    return {view.keys, view.payloads, view.rows};
}

// Returns the buckets after the first pass, whose number is the base of a tile's partition.
template <typename Word>
__device__ resident::PartitionSource<Word> bucketsOf(const TableSort<Word>& sort) {
    resident::Slots slots{};
    slots.begin = sort.buckets.begins;
    slots.cursor = sort.buckets.ends;
    return {sort.scattered, slots, sort.buckets.firstTiles, sort.bucketCount, 1};
}

template <typename Word>
__device__ void clear(const TableSort<Word>& sort) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *sort.flags = {0, 0};
    }
    if (i < sort.bucketCount) {
        sort.buckets.rows[i] = 0;
    }
    if (i < sort.maxPartitions) {
        sort.partitions.cursors[i] = 0;
    }
}

template <typename Word>
__device__ void sampleFirst(const SortMergeCall<Word>& call, uint64_t table) {
    const TableView<Word>& view = call.tables[table];
    const TableSort<Word>& sort = call.sorts[table];
    chooseSplitters<Word>(
        view.rows, sort.bucketCount, [&](uint64_t row) { return view.keys[row]; },
        sort.firstSplitters);
}

template <typename Word>
__device__ void countFirst(const SortMergeCall<Word>& call, uint64_t table) {
    const TableSort<Word>& sort = call.sorts[table];
    countBuckets<Word>(columnsOf(call, table), call.firstTiles(table), ScatterShape<Word>::ROWS,
                       sort.firstSplitters, [&](uint32_t) { return sort.buckets.rows; });
}

template <typename Word>
__device__ void layOutFirst(const TableSort<Word>& sort) {
    layOutBuckets<LAYOUT_THREADS>(sort.buckets, sort.bucketCount, ScatterShape<Word>::ROWS);
}

template <typename Word>
__device__ void scatterFirst(const SortMergeCall<Word>& call, uint64_t table) {
    const TableSort<Word>& sort = call.sorts[table];
    scatterBuckets<Word>(
        columnsOf(call, table), call.firstTiles(table), sort.firstSplitters,
        [&](uint32_t) { return sort.buckets.cursors; }, sort.scattered);
}

template <typename Word>
__device__ void sampleSecond(const TableSort<Word>& sort) {
    uint32_t bucket = blockIdx.x;
    const Tuple<Word>* rows = sort.scattered + sort.buckets.begins[bucket];
    uint32_t count = sort.buckets.rows[bucket];
    chooseSplitters<Word>(
        count, digitsOf(count), [&](uint64_t row) { return rows[row].key; },
        sort.secondSplitters + bucket);
}

template <typename Word>
__device__ void countSecond(const SortMergeCall<Word>& call, uint64_t table) {
    const TableSort<Word>& sort = call.sorts[table];
    countBuckets<Word>(bucketsOf(sort), sort.secondTiles(), ScatterShape<Word>::ROWS,
                       sort.secondSplitters, [&](uint32_t bucket) {
                           return sort.partitions.cursors + sort.buckets.firstPartitions[bucket];
                       });
}

template <typename Word>
__device__ void scatterSecond(const SortMergeCall<Word>& call, uint64_t table) {
    const TableSort<Word>& sort = call.sorts[table];
    scatterBuckets<Word>(
        bucketsOf(sort), sort.secondTiles(), sort.secondSplitters,
        [&](uint32_t bucket) {
            return sort.partitions.cursors + sort.buckets.firstPartitions[bucket];
        },
        call.partitioned);
}

// Returns the table in the order of its keys: the input, or the sorted columns.
template <typename Word>
__device__ TableView<Word> sortedTable(const SortMergeCall<Word>& call, int table) {
    const TableSort<Word>& sort = call.sorts[table];
    if (sort.flags->isUnsorted == 0) {
        return call.tables[table];
    }
    return {sort.sorted.keys, sort.sorted.payloads, sort.sortedRows()};
}

}  // namespace gpujoin::sortmerge
