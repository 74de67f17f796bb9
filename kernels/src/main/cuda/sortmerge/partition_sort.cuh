// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Sorts the partitions of a table, each by one block, from tuples to columns.
#pragma once

#include <cstdint>

#include "block_sort.cuh"
#include "merge_path.h"
#include "sort_plan.h"

namespace gpujoin::sortmerge {

// Sorts the first `count` rows, at most as many as a block sorts.
template <typename Word, typename Sorter>
__device__ void sortRows(const Sorter& sorter, const Tuple<Word>* rows, uint32_t count,
                         const SortedColumns<Word>& target) {
    OrderedKey<Word> keys[Sorter::ROWS_PER_THREAD];
    Word payloads[Sorter::ROWS_PER_THREAD];
    GPUJOIN_UNROLL
    for (int k = 0; k < Sorter::ROWS_PER_THREAD; k++) {
        uint32_t row = Sorter::rowOf(k);
        if (row < count) {
            Tuple<Word> tuple = rows[row];
            keys[k] = ordered(tuple.key);
            payloads[k] = tuple.payload;
        }
    }
    sorter.sort(keys, payloads, count);
    GPUJOIN_UNROLL
    for (int k = 0; k < Sorter::ROWS_PER_THREAD; k++) {
        uint32_t row = Sorter::rowOf(k);
        if (row < count) {
            target.keys[row] = unordered<Word>(sorter.keys[row]);
            target.payloads[row] = sorter.payloads[row];
        }
    }
}

// Merges the sorted rows [0, middle) and [middle, end). Each thread merges a few rows at a time.
template <typename Word, int THREADS>
__device__ void mergeRuns(const SortedColumns<Word>& source, const SortedColumns<Word>& target,
                          uint64_t middle, uint64_t end) {
    constexpr uint64_t STEP_ROWS = 8;
    const Word* low = source.keys;
    const Word* high = source.keys + middle;
    for (uint64_t row = threadIdx.x * STEP_ROWS; row < end; row += THREADS * STEP_ROWS) {
        uint64_t l = mergePath(low, middle, high, end - middle, row);
        uint64_t h = row - l;
        uint64_t stepEnd = row + STEP_ROWS < end ? row + STEP_ROWS : end;
        for (uint64_t r = row; r < stepEnd; r++) {
            bool isLow = middle + h == end || (l < middle && low[l] <= high[h]);
            uint64_t from = isLow ? l++ : middle + h++;
            target.keys[r] = source.keys[from];
            target.payloads[r] = source.payloads[from];
        }
    }
}

// Sorts a partition that a block cannot sort at once: parts of it first, which it merges. Such
// partitions are rare, since a sample chose their bounds. `rows` is overwritten.
template <typename Word, typename Sorter>
__device__ void sortLarge(const Sorter& sorter, Tuple<Word>* rows, uint64_t count,
                          const SortedColumns<Word>& target) {
    for (uint64_t first = 0; first < count; first += Sorter::ROWS) {
        uint64_t rest = count - first;
        sortRows(sorter, rows + first,
                 static_cast<uint32_t>(rest < Sorter::ROWS ? rest : Sorter::ROWS),
                 target.from(first));
        __syncthreads();
    }
    Word* words = reinterpret_cast<Word*>(rows);
    SortedColumns<Word> from = target;
    SortedColumns<Word> to{words, words + count};
    for (uint64_t runRows = Sorter::ROWS; runRows < count; runRows *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * runRows) {
            uint64_t rest = count - first;
            mergeRuns<Word, Sorter::THREADS>(from.from(first), to.from(first),
                                             rest < runRows ? rest : runRows,
                                             rest < 2 * runRows ? rest : 2 * runRows);
        }
        __syncthreads();
        SortedColumns<Word> merged = to;
        to = from;
        from = merged;
    }
    if (from.keys != target.keys) {
        for (uint64_t row = threadIdx.x; row < count; row += Sorter::THREADS) {
            target.keys[row] = from.keys[row];
            target.payloads[row] = from.payloads[row];
        }
    }
}

template <typename Word>
using PartitionSorter = BlockSorter<Word, SORT_THREADS, SORT_ROWS_PER_THREAD>;

// Sorts the partitions that a block sorts at once. The grid may have any size.
template <typename Word>
__device__ void sortPartitions(const TableSort<Word>& sort, const Tuple<Word>* rows) {
    extern __shared__ __align__(16) unsigned char shared[];
    auto sorter = PartitionSorter<Word>::over(shared);
    uint32_t partitions = sort.partitionCount();
    for (uint32_t p = blockIdx.x; p < partitions; p += gridDim.x) {
        uint32_t begin = sort.partitions.begins[p];
        uint32_t count = sort.partitions.begins[p + 1] - begin;
        if (count > 0 && count <= SORT_BLOCK_ROWS) {
            sortRows(sorter, rows + begin, count, sort.sorted.from(begin));
        }
    }
}

// Sorts the large partitions with several keys.
template <typename Word>
__device__ void sortLargePartitions(const TableSort<Word>& sort, Tuple<Word>* rows) {
    extern __shared__ __align__(16) unsigned char shared[];
    auto sorter = PartitionSorter<Word>::over(shared);
    for (uint32_t i = blockIdx.x; i < sort.flags->largeCount; i += gridDim.x) {
        uint32_t p = sort.partitions.large[i];
        uint32_t begin = sort.partitions.begins[p];
        sortLarge(sorter, rows + begin, sort.partitions.begins[p + 1] - begin,
                  sort.sorted.from(begin));
        __syncthreads();
    }
}

constexpr uint32_t COPY_THREADS = 512;
constexpr uint32_t COPY_BLOCK_ROWS = COPY_THREADS * 16;

// Copies the large partitions with one key, which need no sorting. A block copies an equal share of
// the table's rows, since one such partition may have most of them.
template <typename Word>
__device__ void copyConstants(const TableSort<Word>& sort, const Tuple<Word>* rows) {
    uint64_t tableRows = sort.sortedRows();
    uint32_t partitions = sort.partitionCount();
    const uint32_t* begins = sort.partitions.begins;
    for (uint64_t first = uint64_t{blockIdx.x} * COPY_BLOCK_ROWS; first < tableRows;
         first += uint64_t{gridDim.x} * COPY_BLOCK_ROWS) {
        uint64_t end = first + COPY_BLOCK_ROWS < tableRows ? first + COPY_BLOCK_ROWS : tableRows;
        uint32_t p = upperBound(begins, 0u, partitions, static_cast<uint32_t>(first)) - 1;
        for (; p < partitions && begins[p] < end; p++) {
            if (sort.partitions.isLargeConstant[p] == 0) {
                continue;
            }
            uint64_t from = begins[p] < first ? first : begins[p];
            uint64_t to = begins[p + 1] < end ? begins[p + 1] : end;
            for (uint64_t row = from + threadIdx.x; row < to; row += COPY_THREADS) {
                Tuple<Word> tuple = rows[row];
                sort.sorted.keys[row] = tuple.key;
                sort.sorted.payloads[row] = tuple.payload;
            }
        }
    }
}

}  // namespace gpujoin::sortmerge
