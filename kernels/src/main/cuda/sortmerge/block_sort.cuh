// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Sorts rows in the shared memory of one block.
//
// Bins of equal width between the least and the greatest key, one or two for each row, are sorted by
// counting. Then each row finds its place among the others of its bin. If bins are large, it does so
// in bins with several keys only; if that takes too long, the block sorts by a bitonic network, whose
// time does not depend on the keys.
#pragma once

#include <cstdint>

#include "../resident/block_scan.cuh"
#include "splitter_table.h"

namespace gpujoin::sortmerge {

// Rows of a bin from which on it is worth to find out whether the bin has several keys.
constexpr uint32_t LARGE_BIN_ROWS = 8;

// Comparisons of a thread beyond which the network is faster.
constexpr uint32_t MAX_COMPARISONS = 512;

template <typename Word, int ThreadCount, int ThreadRows>
struct BlockSorter {
    using Key = OrderedKey<Word>;
    static constexpr int THREADS = ThreadCount;
    static constexpr int ROWS_PER_THREAD = ThreadRows;
    static constexpr uint32_t ROWS = THREADS * ROWS_PER_THREAD;
    static_assert(ROWS <= 65536 && ROWS_PER_THREAD % 4 == 0);

    static constexpr size_t SHARED_BYTES = ROWS * (2 * sizeof(Word) + sizeof(uint32_t));

    // Sorted rows of the last call of sort(), as columns.
    Key* keys;
    Word* payloads;
    // Number of rows of each bin; after the scan, its first row.
    uint32_t* bins;

    __device__ static BlockSorter over(void* memory) {
        BlockSorter sorter;
        sorter.bins = static_cast<uint32_t*>(memory);
        sorter.keys = reinterpret_cast<Key*>(sorter.bins + ROWS);
        sorter.payloads = reinterpret_cast<Word*>(sorter.keys + ROWS);
        return sorter;
    }

    // Row number k of a thread in the block's rows.
    __device__ static uint32_t rowOf(int k) { return threadIdx.x + k * THREADS; }

    // Sorts `count` rows, of which each thread holds those of rowOf(). Starts and ends with a
    // barrier.
    __device__ void sort(const Key (&key)[ROWS_PER_THREAD], const Word (&payload)[ROWS_PER_THREAD],
                         uint32_t count) const {
        Key least;
        Key range;
        findRange(key, count, least, range);
        uint32_t binBits = 5;
        while ((1u << binBits) < 2 * count && (1u << binBits) < ROWS) {
            binBits++;
        }
        uint32_t shift = shiftToBits(range, binBits);
        uint32_t binCount = 1u << binBits;
        // First the bin and the rank in it, then the position of each row.
        uint32_t places[ROWS_PER_THREAD];
        countBins(key, count, least, shift, binCount, places);
        bool hasLargeBin = scanBins(binCount);
        bool isSorted = true;
        if (shift == 0) {
            GPUJOIN_UNROLL
            for (int k = 0; k < ROWS_PER_THREAD; k++) {
                if (rowOf(k) < count) {
                    places[k] = bins[places[k] >> 16] + (places[k] & 0xFFFFu);
                }
            }
        } else {
            isSorted = rankInBins(key, count, binCount, hasLargeBin, places);
        }
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                keys[places[k]] = key[k];
                payloads[places[k]] = payload[k];
            }
        }
        __syncthreads();
        if (!isSorted) {
            sortByNetwork(count);
        }
    }

  private:
    // Marks a bin that has several keys.
    static constexpr uint32_t IS_MIXED = 1u << 31;

    __device__ static void findRange(const Key (&key)[ROWS_PER_THREAD], uint32_t count, Key& least,
                                     Key& range) {
        __shared__ Key lows[THREADS / 32];
        __shared__ Key highs[THREADS / 32];
        Key low = ~Key{0};
        Key high = 0;
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                low = key[k] < low ? key[k] : low;
                high = key[k] > high ? key[k] : high;
            }
        }
        reduceInWarp(low, high);
        __syncthreads();
        if (threadIdx.x % 32 == 0) {
            lows[threadIdx.x / 32] = low;
            highs[threadIdx.x / 32] = high;
        }
        __syncthreads();
        low = lows[threadIdx.x % (THREADS / 32)];
        high = highs[threadIdx.x % (THREADS / 32)];
        reduceInWarp(low, high);
        least = low;
        range = high - low;
    }

    __device__ static void reduceInWarp(Key& low, Key& high) {
        GPUJOIN_UNROLL
        for (int distance = 16; distance > 0; distance /= 2) {
            Key otherLow = __shfl_xor_sync(0xFFFFFFFFu, low, distance);
            Key otherHigh = __shfl_xor_sync(0xFFFFFFFFu, high, distance);
            low = otherLow < low ? otherLow : low;
            high = otherHigh > high ? otherHigh : high;
        }
    }

    // Counts the rows of each bin, and ranks the rows within their bins.
    __device__ void countBins(const Key (&key)[ROWS_PER_THREAD], uint32_t count, Key least,
                              uint32_t shift, uint32_t binCount,
                              uint32_t (&binAndRank)[ROWS_PER_THREAD]) const {
        for (uint32_t bin = threadIdx.x; bin < binCount; bin += THREADS) {
            bins[bin] = 0;
        }
        __syncthreads();
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                auto bin = static_cast<uint32_t>((key[k] - least) >> shift);
                binAndRank[k] = bin << 16 | atomicAdd(&bins[bin], 1u);
            }
        }
        __syncthreads();
    }

    // Replaces the numbers of rows by first rows. Returns whether a bin is large. Ends with a barrier.
    __device__ bool scanBins(uint32_t binCount) const {
        __shared__ resident::BlockScan<THREADS> scan;
        constexpr uint32_t QUADS = ROWS_PER_THREAD / 4;
        uint4* quads = reinterpret_cast<uint4*>(bins) + threadIdx.x * QUADS;
        bool isUsed = threadIdx.x * ROWS_PER_THREAD < binCount;
        uint32_t sum = 0;
        bool isLarge = false;
        uint4 counts[QUADS];
        GPUJOIN_UNROLL
        for (uint32_t q = 0; q < QUADS; q++) {
            counts[q] = isUsed ? quads[q] : uint4{0, 0, 0, 0};
            isLarge |=
                max(max(counts[q].x, counts[q].y), max(counts[q].z, counts[q].w)) >= LARGE_BIN_ROWS;
            sum += counts[q].x + counts[q].y + counts[q].z + counts[q].w;
        }
        uint32_t total;
        uint32_t next = scan.exclusiveSum(sum, total);
        GPUJOIN_UNROLL
        for (uint32_t q = 0; q < QUADS; q++) {
            uint4 starts;
            starts.x = next;
            starts.y = starts.x + counts[q].x;
            starts.z = starts.y + counts[q].y;
            starts.w = starts.z + counts[q].z;
            next = starts.w + counts[q].w;
            if (isUsed) {
                quads[q] = starts;
            }
        }
        return __syncthreads_or(isLarge);
    }

    // Replaces bins and ranks by positions in the order of the keys: a row counts the lesser keys of
    // its bin. Returns false if that takes too long; then rows are ordered by bins only. Ends with a
    // barrier.
    __device__ bool rankInBins(const Key (&key)[ROWS_PER_THREAD], uint32_t count, uint32_t binCount,
                               bool hasLargeBin, uint32_t (&places)[ROWS_PER_THREAD]) const {
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                keys[bins[places[k] >> 16] + (places[k] & 0xFFFFu)] = key[k];
            }
        }
        __syncthreads();
        bool isSlow = hasLargeBin && markMixedBins(key, count, binCount, places);
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                uint32_t bin = places[k] >> 16;
                bool isRanked = !hasLargeBin || (!isSlow && (bins[bin] & IS_MIXED) != 0);
                uint32_t begin;
                uint32_t end = binEnd(bin, binCount, count, begin);
                uint32_t own = begin + (places[k] & 0xFFFFu);
                places[k] = isRanked ? begin : own;
                for (uint32_t other = begin; isRanked && other < end; other++) {
                    Key otherKey = keys[other];
                    places[k] += otherKey < key[k] || (otherKey == key[k] && other < own) ? 1 : 0;
                }
            }
        }
        __syncthreads();
        return !isSlow;
    }

    // Marks bins with several keys. Returns whether ranking the rows of these bins takes too long.
    // Ends with a barrier.
    __device__ bool markMixedBins(const Key (&key)[ROWS_PER_THREAD], uint32_t count,
                                  uint32_t binCount,
                                  const uint32_t (&places)[ROWS_PER_THREAD]) const {
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count) {
                uint32_t* bin = &bins[places[k] >> 16];
                if (keys[*bin & ~IS_MIXED] != key[k]) {
                    atomicOr(bin, IS_MIXED);
                }
            }
        }
        __syncthreads();
        uint32_t comparisons = 0;
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS_PER_THREAD; k++) {
            if (rowOf(k) < count && (bins[places[k] >> 16] & IS_MIXED) != 0) {
                uint32_t begin;
                comparisons += binEnd(places[k] >> 16, binCount, count, begin) - begin;
            }
        }
        return __syncthreads_or(comparisons > MAX_COMPARISONS);
    }

    // Returns the end of a bin's rows, and in `begin` the first of them.
    __device__ uint32_t binEnd(uint32_t bin, uint32_t binCount, uint32_t count,
                               uint32_t& begin) const {
        begin = bins[bin] & ~IS_MIXED;
        return bin + 1 < binCount ? bins[bin + 1] & ~IS_MIXED : count;
    }

    // Sorts by a bitonic network for a power of two of rows. All comparisons have the same direction,
    // so rows from `count` on need not exist.
    __device__ void sortByNetwork(uint32_t count) const {
        uint32_t width = 2;
        while (width < count) {
            width *= 2;
        }
        for (uint32_t size = 2; size <= width; size *= 2) {
            for (uint32_t pair = threadIdx.x; pair < width / 2; pair += THREADS) {
                uint32_t start = pair / (size / 2) * size;
                uint32_t offset = pair % (size / 2);
                exchange(start + offset, start + size - 1 - offset, count);
            }
            __syncthreads();
            for (uint32_t half = size / 4; half > 0; half /= 2) {
                for (uint32_t pair = threadIdx.x; pair < width / 2; pair += THREADS) {
                    uint32_t low = pair / half * 2 * half + pair % half;
                    exchange(low, low + half, count);
                }
                __syncthreads();
            }
        }
    }

    __device__ void exchange(uint32_t low, uint32_t high, uint32_t count) const {
        if (high < count && keys[low] > keys[high]) {
            Key key = keys[low];
            keys[low] = keys[high];
            keys[high] = key;
            Word payload = payloads[low];
            payloads[low] = payloads[high];
            payloads[high] = payload;
        }
    }
};

}  // namespace gpujoin::sortmerge
