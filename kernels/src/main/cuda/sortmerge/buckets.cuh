// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Divides a table into buckets of the order of its keys: samples, counts, and scatters the rows.
//
// Buckets are counted before rows are scattered, so the rows of a bucket are dense, whatever the
// distribution of the keys.
#pragma once

#include <cstdint>

#include "../resident/block_scan.cuh"
#include "../resident/tile_source.cuh"
#include "block_sort.cuh"
#include "sort_plan.h"

namespace gpujoin::sortmerge {

using resident::BlockScan;
using resident::Tile;
using resident::TileBarrier;

// Sets the word unless all keys are in order. Blocks stop soon after one of them has set it.
template <typename Word>
__device__ void checkOrder(const Word* keys, uint64_t rows, uint32_t* isUnsorted) {
    constexpr uint32_t UNIT_KEYS = 16 / sizeof(Word);
    constexpr int BATCH_UNITS = 4;
    struct alignas(16) Unit {
        Word keys[UNIT_KEYS];
    };
    const Unit* units = reinterpret_cast<const Unit*>(keys);
    uint64_t unitCount = rows / UNIT_KEYS;
    uint64_t step = uint64_t{gridDim.x} * blockDim.x * BATCH_UNITS;
    bool isOrdered = true;
    for (uint64_t base = uint64_t{blockIdx.x} * blockDim.x * BATCH_UNITS + threadIdx.x;
         base < unitCount; base += step) {
        if (*static_cast<volatile uint32_t*>(isUnsorted) != 0) {
            return;
        }
        Unit unit[BATCH_UNITS];
        Word next[BATCH_UNITS];
        GPUJOIN_UNROLL
        for (int k = 0; k < BATCH_UNITS; k++) {
            uint64_t u = base + k * blockDim.x;
            if (u < unitCount) {
                unit[k] = units[u];
                uint64_t after = (u + 1) * UNIT_KEYS;
                next[k] = keys[after < rows ? after : rows - 1];
            }
        }
        GPUJOIN_UNROLL
        for (int k = 0; k < BATCH_UNITS; k++) {
            if (base + k * blockDim.x < unitCount) {
                GPUJOIN_UNROLL
                for (uint32_t i = 0; i + 1 < UNIT_KEYS; i++) {
                    isOrdered &= unit[k].keys[i] <= unit[k].keys[i + 1];
                }
                isOrdered &= unit[k].keys[UNIT_KEYS - 1] <= next[k];
            }
        }
        if (!isOrdered) {
            *isUnsorted = 1;
            return;
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (uint64_t row = unitCount * UNIT_KEYS; row + 1 < rows; row++) {
            if (keys[row] > keys[row + 1]) {
                *isUnsorted = 1;
            }
        }
    }
}

template <typename Word>
using SampleSorter = BlockSorter<Word, SAMPLE_THREADS, SAMPLE_ROWS_PER_THREAD>;

// Chooses the splitters of a table, or of a bucket, from a sample: one random row of each of equal
// ranges. `keyAt` returns the key of a row. Runs as one block.
template <typename Word, typename KeyAt>
__device__ void chooseSplitters(uint64_t rows, uint32_t digits, KeyAt keyAt,
                                SplitterTable<Word>* result) {
    extern __shared__ __align__(16) unsigned char shared[];
    using Sorter = SampleSorter<Word>;
    using Key = OrderedKey<Word>;
    auto sorter = Sorter::over(shared);
    uint32_t sampleRows = sampleRowsOf(rows, digits);
    Key keys[SAMPLE_ROWS_PER_THREAD];
    Word payloads[SAMPLE_ROWS_PER_THREAD];
    GPUJOIN_UNROLL
    for (int k = 0; k < static_cast<int>(SAMPLE_ROWS_PER_THREAD); k++) {
        uint32_t i = Sorter::rowOf(k);
        payloads[k] = 0;
        if (i < sampleRows) {
            uint64_t first = rows * i / sampleRows;
            uint64_t rangeRows = rows * (i + 1) / sampleRows - first;
            uint64_t random = keyHash(static_cast<int64_t>(i + 1)) >> 32;
            keys[k] = ordered(keyAt(first + (random * rangeRows >> 32)));
        }
    }
    sorter.sort(keys, payloads, sampleRows);
    // The bins of the sorter are no longer in use; they hold the finished table.
    auto* table = reinterpret_cast<SplitterTable<Word>*>(sorter.bins);
    static_assert(sizeof(*table) <= SAMPLE_ROWS * sizeof(uint32_t));
    uint32_t count = sampleRows == 0 ? 0 : digits - 1;
    if (threadIdx.x < count) {
        table->splitters[threadIdx.x] =
            SplitterTable<Word>::choose(sorter.keys, sampleRows, digits, threadIdx.x);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        table->describe(count);
    }
    __syncthreads();
    table->fillCells(threadIdx.x, SAMPLE_THREADS);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sizeof(*table) / 16; i += SAMPLE_THREADS) {
        reinterpret_cast<uint4*>(result)[i] = reinterpret_cast<const uint4*>(table)[i];
    }
}

template <typename Word>
__device__ void loadSplitters(SplitterTable<Word>* target, const SplitterTable<Word>* source) {
    for (uint32_t i = threadIdx.x; i < sizeof(*target) / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(target)[i] = __ldg(reinterpret_cast<const uint4*>(source) + i);
    }
}

constexpr uint32_t COUNT_THREADS = 512;

// Adds the rows of each bucket to the counters that `countersOf` returns for a source's bucket, of
// which `tables` has the splitters. Each block counts an equal share of consecutive tiles.
template <typename Word, typename Source, typename CountersOf>
__device__ void countBuckets(const Source& source, uint32_t tiles, uint32_t tileRows,
                             const SplitterTable<Word>* tables, CountersOf countersOf) {
    constexpr int BATCH_ROWS = 8;
    __shared__ SplitterTable<Word> table;
    __shared__ uint32_t counts[MAX_DIGITS];
    auto end = static_cast<uint32_t>(uint64_t{tiles} * (blockIdx.x + 1) / gridDim.x);
    auto t = static_cast<uint32_t>(uint64_t{tiles} * blockIdx.x / gridDim.x);
    while (t < end) {
        Tile run = source.locate(t, end - t, tileRows);
        if (run.rows == 0) {
            return;
        }
        loadSplitters(&table, tables + run.partitionBase);
        for (uint32_t d = threadIdx.x; d < MAX_DIGITS; d += COUNT_THREADS) {
            counts[d] = 0;
        }
        __syncthreads();
        const typename SplitterTable<Word>::Search search(&table);
        for (uint32_t base = threadIdx.x; base < run.rows; base += BATCH_ROWS * COUNT_THREADS) {
            Word keys[BATCH_ROWS];
            GPUJOIN_UNROLL
            for (int k = 0; k < BATCH_ROWS; k++) {
                uint32_t row = base + k * COUNT_THREADS;
                keys[k] = row < run.rows ? source.keyAt(run.first + row) : Word{0};
            }
            GPUJOIN_UNROLL
            for (int k = 0; k < BATCH_ROWS; k++) {
                if (base + k * COUNT_THREADS < run.rows) {
                    atomicAdd(&counts[search.bucketOf(ordered(keys[k]))], 1u);
                }
            }
        }
        __syncthreads();
        uint32_t* counters = countersOf(run.partitionBase);
        for (uint32_t d = threadIdx.x; d < table.digits(); d += COUNT_THREADS) {
            if (counts[d] != 0) {
                atomicAdd(&counters[d], counts[d]);
            }
        }
        t += (run.rows + tileRows - 1) / tileRows;
        __syncthreads();
    }
}

// Lays out the counted buckets of a table. Runs as one block with a thread for each bucket.
template <int THREADS>
__device__ void layOutBuckets(const Buckets& buckets, uint32_t count, uint32_t tileRows) {
    __shared__ BlockScan<THREADS> scan;
    uint32_t b = threadIdx.x;
    uint32_t rows = b < count ? buckets.rows[b] : 0;
    uint32_t alignedRows =
        (rows + BUCKET_ALIGNMENT_ROWS - 1) / BUCKET_ALIGNMENT_ROWS * BUCKET_ALIGNMENT_ROWS;
    auto layOut = [&](uint32_t* starts, uint32_t length) {
        uint32_t total;
        uint32_t start = scan.exclusiveSum(length, total);
        if (b < count) {
            starts[b] = start;
        }
        if (b == 0) {
            starts[count] = total;
        }
        return start;
    };
    uint32_t begin = layOut(buckets.begins, alignedRows);
    if (b < count) {
        buckets.ends[b] = begin + rows;
        buckets.cursors[b] = begin;
    }
    layOut(buckets.sortedBegins, rows);
    layOut(buckets.firstPartitions, b < count ? digitsOf(rows) : 0);
    layOut(buckets.firstTiles, partsOf(rows, tileRows));
}

// Lays out the counted partitions of a bucket. Runs as one block for each bucket.
template <typename Word, int THREADS>
__device__ void layOutPartitions(const TableSort<Word>& sort, uint32_t bucket) {
    __shared__ BlockScan<THREADS> scan;
    const SplitterTable<Word>& splitters = sort.secondSplitters[bucket];
    const Partitions& partitions = sort.partitions;
    uint32_t p = sort.buckets.firstPartitions[bucket] + threadIdx.x;
    bool isPartition = p < sort.buckets.firstPartitions[bucket + 1];
    uint32_t rows = isPartition ? partitions.cursors[p] : 0;
    uint32_t total;
    uint32_t begin = sort.buckets.sortedBegins[bucket] + scan.exclusiveSum(rows, total);
    if (isPartition) {
        bool isLarge = rows > SORT_BLOCK_ROWS;
        bool isLargeConstant = isLarge && splitters.isConstant(threadIdx.x);
        partitions.begins[p] = begin;
        partitions.cursors[p] = begin;
        partitions.isLargeConstant[p] = isLargeConstant ? 1 : 0;
        if (isLargeConstant) {
            sort.flags->hasLargeConstants = 1;
        } else if (isLarge) {
            partitions.large[atomicAdd(&sort.flags->largeCount, 1u)] = p;
        }
    }
    if (bucket + 1 == sort.bucketCount && threadIdx.x == 0) {
        partitions.begins[sort.partitionCount()] = sort.sortedRows();
    }
}

template <typename Word>
struct ScatterShape {
    static constexpr uint32_t THREADS = 1024;
    static constexpr uint32_t ROWS_PER_THREAD = sizeof(Word) == 8 ? 5 : 8;
    static constexpr uint32_t BLOCKS_PER_SM = 2;
    static constexpr uint32_t ROWS = THREADS * ROWS_PER_THREAD;
    static_assert(ROWS < 65536 && MAX_DIGITS <= 65536, "rows and digits have 16 bits");

    static constexpr size_t SHARED_BYTES = ROWS * (2 * sizeof(Word) + sizeof(uint32_t)) +
                                           MAX_DIGITS * 2 * sizeof(uint32_t) +
                                           sizeof(SplitterTable<Word>);
};

// Shared memory of a scattering block. Every member starts at a multiple of 16 bytes.
template <typename Word>
struct ScatterMemory {
    using Shape = ScatterShape<Word>;
    // The tile in the layout of its source.
    void* rows;
    // Digit and row of the tile for each position in digit order.
    uint32_t* digitsAndRows;
    // Number of rows of each digit; after the scan, the first position of the digit in the tile.
    uint32_t* positions;
    // Difference between the row in the target and the position in the tile, for each digit.
    uint32_t* shifts;
    SplitterTable<Word>* table;

    __device__ static ScatterMemory over(void* memory) {
        ScatterMemory result;
        result.rows = memory;
        result.digitsAndRows =
            reinterpret_cast<uint32_t*>(static_cast<Word*>(memory) + 2 * Shape::ROWS);
        result.positions = result.digitsAndRows + Shape::ROWS;
        result.shifts = result.positions + MAX_DIGITS;
        result.table = reinterpret_cast<SplitterTable<Word>*>(result.shifts + MAX_DIGITS);
        return result;
    }
};

// Reserves the runs of the tile's digits in the target, and replaces the counts of the digits by
// first positions.
template <typename Word>
__device__ void reserveRuns(const ScatterMemory<Word>& memory, uint32_t* cursors) {
    __shared__ BlockScan<ScatterShape<Word>::THREADS> scan;
    uint32_t d = threadIdx.x;
    uint32_t count = d < MAX_DIGITS ? memory.positions[d] : 0;
    uint32_t target = count == 0 ? 0 : atomicAdd(&cursors[d], count);
    uint32_t total;
    uint32_t position = scan.exclusiveSum(count, total);
    if (d < MAX_DIGITS) {
        memory.positions[d] = position;
        memory.shifts[d] = target - position;
    }
}

// Scatters a tile. All threads of the block call it; the next call has the other parity.
template <typename Word, typename Source>
__device__ void scatterTile(const Source& source, const Tile& tile,
                            const SplitterTable<Word>* tables, uint32_t* cursors,
                            Tuple<Word>* target, const ScatterMemory<Word>& memory,
                            TileBarrier& staged, bool parity) {
    using Shape = ScatterShape<Word>;
    source.template stage<Shape::ROWS>(tile, memory.rows, staged);
    loadSplitters(memory.table, tables + tile.partitionBase);
    if (threadIdx.x < MAX_DIGITS) {
        memory.positions[threadIdx.x] = 0;
    }
    if (threadIdx.x == 0) {
        (void)staged.arrive();
    }
    staged.wait_parity(parity);
    __syncthreads();
    const typename SplitterTable<Word>::Search search(memory.table);
    uint32_t digits[Shape::ROWS_PER_THREAD];
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t row = threadIdx.x + k * Shape::THREADS;
        if (row < tile.rows) {
            digits[k] =
                search.bucketOf(ordered(Source::template stagedKey<Shape::ROWS>(memory.rows, row)));
        }
    }
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        if (threadIdx.x + k * Shape::THREADS < tile.rows) {
            digits[k] = digits[k] << 16 | atomicAdd(&memory.positions[digits[k]], 1u);
        }
    }
    __syncthreads();
    reserveRuns(memory, cursors);
    __syncthreads();
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t row = threadIdx.x + k * Shape::THREADS;
        if (row < tile.rows) {
            uint32_t position = memory.positions[digits[k] >> 16] + (digits[k] & 0xFFFFu);
            memory.digitsAndRows[position] = (digits[k] & 0xFFFF0000u) | row;
        }
    }
    __syncthreads();
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t position = threadIdx.x + k * Shape::THREADS;
        if (position < tile.rows) {
            uint32_t digitAndRow = memory.digitsAndRows[position];
            uint32_t digit = digitAndRow >> 16;
            target[memory.shifts[digit] + position] =
                Source::template stagedTuple<Shape::ROWS>(memory.rows, digitAndRow & 0xFFFFu);
        }
    }
}

// Scatters all tiles to the rows of `target` that `cursorsOf` returns the cursors of, for a source's
// bucket. The grid may have any size.
template <typename Word, typename Source, typename CursorsOf>
__device__ void scatterBuckets(const Source& source, uint32_t tiles,
                               const SplitterTable<Word>* tables, CursorsOf cursorsOf,
                               Tuple<Word>* target) {
    extern __shared__ __align__(16) unsigned char shared[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ TileBarrier staged;
    auto memory = ScatterMemory<Word>::over(shared);
    if (threadIdx.x == 0) {
        init(&staged, 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        cuda::device::experimental::fence_proxy_async_shared_cta();
#endif
    }
    bool parity = false;
    for (uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        Tile tile = source.locate(t, 1, ScatterShape<Word>::ROWS);
        __syncthreads();
        if (tile.rows == 0) {
            return;
        }
        scatterTile<Word, Source>(source, tile, tables, cursorsOf(tile.partitionBase), target,
                                  memory, staged, parity);
        parity = !parity;
    }
}

}  // namespace gpujoin::sortmerge
