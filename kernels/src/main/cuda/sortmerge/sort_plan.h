// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The sort of one table before it runs: sizes, and its layout of the workspace. Runs on the host and
// on the device.
#pragma once

#include <cstdint>

#include "../resident/join_plan.h"
#include "../resident/key_bits.h"
#include "splitter_table.h"

namespace gpujoin::sortmerge {

using resident::RegionAllocator;
using resident::Tuple;

// Mean rows of a partition. The splitters of a sample leave sizes whose standard deviation is about a
// fifth of the mean.
constexpr uint32_t PARTITION_ROWS = 2560;

// A block that sorts a partition, and its maximum of rows.
constexpr uint32_t SORT_THREADS = 512;
constexpr uint32_t SORT_ROWS_PER_THREAD = 8;
constexpr uint32_t SORT_BLOCK_ROWS = SORT_THREADS * SORT_ROWS_PER_THREAD;
constexpr uint32_t SORT_BLOCKS_PER_SM = 2;

constexpr uint32_t SAMPLE_THREADS = 1024;
constexpr uint32_t SAMPLE_ROWS_PER_THREAD = 8;
constexpr uint32_t SAMPLE_ROWS = SAMPLE_THREADS * SAMPLE_ROWS_PER_THREAD;
// Sampled rows for each bucket, if there are few buckets.
constexpr uint32_t SAMPLE_ROWS_PER_DIGIT = 64;

// Buckets start at multiples of this number of tuples, which the bulk copy engine requires.
constexpr uint32_t BUCKET_ALIGNMENT_ROWS = 8;

GPUJOIN_INLINE uint32_t partsOf(uint64_t rows, uint64_t partRows) {
    return static_cast<uint32_t>((rows + partRows - 1) / partRows);
}

// Returns the number of partitions of a bucket.
GPUJOIN_INLINE uint32_t digitsOf(uint64_t rows) {
    uint32_t parts = partsOf(rows, PARTITION_ROWS);
    return parts < 1 ? 1 : parts > MAX_DIGITS ? MAX_DIGITS : parts;
}

// Returns the number of buckets of a table: about as many as each has partitions.
GPUJOIN_INLINE uint32_t bucketsOf(uint64_t rows) {
    uint64_t parts = partsOf(rows, PARTITION_ROWS);
    uint32_t buckets = 1;
    while (buckets < MAX_DIGITS && uint64_t{buckets} * buckets < parts) {
        buckets *= 2;
    }
    return buckets;
}

// Returns the rows to sample for `digits` buckets of a table.
GPUJOIN_INLINE uint32_t sampleRowsOf(uint64_t rows, uint32_t digits) {
    uint32_t most = digits * SAMPLE_ROWS_PER_DIGIT;
    most = most < SAMPLE_ROWS ? most : SAMPLE_ROWS;
    return rows < most ? static_cast<uint32_t>(rows) : most;
}

// The buckets of the first pass. Starts have one more entry than there are buckets: the end of the
// last one.
struct Buckets {
    // Rows of each bucket.
    uint32_t* rows;
    // Its first row in the scattered table, and the row after its last one.
    uint32_t* begins;
    uint32_t* ends;
    // Next free row of the first pass.
    uint32_t* cursors;
    // Its first row in the sorted table.
    uint32_t* sortedBegins;
    uint32_t* firstPartitions;
    // Its first tile in the second pass.
    uint32_t* firstTiles;

    static GPUJOIN_INLINE Buckets allocate(RegionAllocator& regions, uint32_t count) {
        return {regions.allocate<uint32_t>(count + 1), regions.allocate<uint32_t>(count + 1),
                regions.allocate<uint32_t>(count + 1), regions.allocate<uint32_t>(count + 1),
                regions.allocate<uint32_t>(count + 1), regions.allocate<uint32_t>(count + 1),
                regions.allocate<uint32_t>(count + 1)};
    }
};

// The partitions of the second pass, in the order of their keys. Large ones have more rows than a
// block sorts at once.
struct Partitions {
    // Rows of each partition; after the layout, the next free row of the pass.
    uint32_t* cursors;
    // First row of each partition and, last, the number of all rows.
    uint32_t* begins;
    // 1 for a large partition that can have one key only.
    uint8_t* isLargeConstant;
    // The other large partitions, in any order.
    uint32_t* large;

    static GPUJOIN_INLINE Partitions allocate(RegionAllocator& regions, uint32_t count) {
        return {regions.allocate<uint32_t>(count), regions.allocate<uint32_t>(count + 1),
                regions.allocate<uint8_t>(count), regions.allocate<uint32_t>(count)};
    }
};

// Decides which kernels of a sort have work.
struct SortFlags {
    uint32_t isUnsorted;
    uint32_t hasLargeConstants;
    uint32_t largeCount;
};

// Columns of sorted rows.
template <typename Word>
struct SortedColumns {
    Word* keys;
    Word* payloads;

    GPUJOIN_INLINE SortedColumns from(uint64_t row) const { return {keys + row, payloads + row}; }
};

// The sort of one table, in the workspace.
template <typename Word>
struct TableSort {
    uint32_t bucketCount;
    // The actual number is firstPartitions[bucketCount].
    uint32_t maxPartitions;
    SortFlags* flags;
    SplitterTable<Word>* firstSplitters;
    SplitterTable<Word>* secondSplitters;
    Buckets buckets;
    Partitions partitions;
    // Rows between the passes. The sorted columns take their place.
    Tuple<Word>* scattered;
    SortedColumns<Word> sorted;

    // Returns a sort of up to `rows` rows.
    static GPUJOIN_INLINE TableSort allocate(RegionAllocator& regions, uint64_t rows,
                                             uint32_t bucketCount) {
        TableSort sort;
        sort.bucketCount = bucketCount;
        sort.maxPartitions = partsOf(rows, PARTITION_ROWS) + sort.bucketCount;
        sort.flags = regions.allocate<SortFlags>(1);
        sort.firstSplitters = regions.allocate<SplitterTable<Word>>(1);
        sort.secondSplitters = regions.allocate<SplitterTable<Word>>(sort.bucketCount);
        sort.buckets = Buckets::allocate(regions, sort.bucketCount);
        sort.partitions = Partitions::allocate(regions, sort.maxPartitions);
        sort.scattered = regions.allocate<Tuple<Word>>(rows + uint64_t{BUCKET_ALIGNMENT_ROWS} *
                                                                  sort.bucketCount);
        Word* words = reinterpret_cast<Word*>(sort.scattered);
        uint64_t alignedRows =
            (rows + BUCKET_ALIGNMENT_ROWS - 1) / BUCKET_ALIGNMENT_ROWS * BUCKET_ALIGNMENT_ROWS;
        sort.sorted = {words, words == nullptr ? nullptr : words + alignedRows};
        return sort;
    }

    // The following are known after the layout of the first pass.
    GPUJOIN_INLINE uint32_t sortedRows() const { return buckets.sortedBegins[bucketCount]; }
    GPUJOIN_INLINE uint32_t secondTiles() const { return buckets.firstTiles[bucketCount]; }
    GPUJOIN_INLINE uint32_t partitionCount() const { return buckets.firstPartitions[bucketCount]; }
};

}  // namespace gpujoin::sortmerge
