// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Arithmetic of a join before it runs: the number of partitions and the layout of the workspace. Runs
// on the host and on the device.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "key_bits.h"

namespace gpujoin::resident {

// The table of a partition's build rows in the shared memory of a block: the rows that it holds,
// its slots, and the maximum mean of rows in a partition. The difference between both numbers of
// rows allows for partitions of different sizes. Three such blocks share a multiprocessor.
struct TableShape {
    uint32_t rows;
    uint32_t slotBits;
    uint32_t meanRows;
};

template <typename Word>
constexpr TableShape TABLE_SHAPE{3304, 12, 2560};
template <>
constexpr TableShape TABLE_SHAPE<int32_t>{4368, 13, 4096};

// More digits would make runs too short for efficient writes; fewer digits serialize the additions
// to their counters.
constexpr uint32_t MAX_DIGIT_BITS = 9;
constexpr uint32_t MIN_RADIX_BITS = 6;

// Maximum probe rows of a work item, which spreads the partition of a heavy hitter over the device.
constexpr uint32_t PROBE_SLICE_ROWS = 65536;

// Slots start at multiples of this number of tuples: whole 128-byte lines for 16-byte tuples.
constexpr uint32_t SLOT_ALIGNMENT_ROWS = 8;

constexpr size_t REGION_ALIGNMENT_BYTES = 256;

// Shared memory that a block has on a device of compute capability 8.0, the least that the joins of
// tables in device memory need. The same number as in BulkDevice.java.
constexpr size_t DEVICE_SHARED_BYTES = 163 * 1024;

// The part of it that a launch may request; kernels declare the rest.
constexpr size_t MAX_LAUNCH_SHARED_BYTES = DEVICE_SHARED_BYTES - 2048;

// Returns the rows to reserve for a partition before the table is counted: the mean plus eight
// standard deviations of uniformly hashed keys with `rowsPerKey` rows each on average, but at most
// about a quarter above the mean. Skewed keys can exceed it; then the pass counts the rows and runs
// again.
GPUJOIN_INLINE uint32_t guessedCapacityRows(uint64_t rows, uint32_t partitions, double rowsPerKey) {
    double mean = static_cast<double>(rows) / partitions;
    double deviations = 8.0 * sqrt(mean * (1.0 + rowsPerKey));
    double quarter = mean / 4 + 256;
    double room = deviations < quarter ? deviations : quarter;
    auto capacity = static_cast<uint64_t>(ceil(mean + room)) + SLOT_ALIGNMENT_ROWS;
    return static_cast<uint32_t>(capacity / SLOT_ALIGNMENT_ROWS * SLOT_ALIGNMENT_ROWS);
}

GPUJOIN_INLINE uint32_t alignedRows(uint32_t rows) {
    return (rows + SLOT_ALIGNMENT_ROWS - 1) / SLOT_ALIGNMENT_ROWS * SLOT_ALIGNMENT_ROWS;
}

// A sampled attempt counts one of SAMPLE_STEP groups of SAMPLE_GROUP_ROWS rows.
constexpr uint32_t SAMPLE_STEP = 16;
constexpr uint32_t SAMPLE_GROUP_ROWS = 32;

// Returns the rows to reserve for a partition of which a sample has `count` rows: the estimate plus
// six standard deviations, and an allowance for small counts, whose errors are not normally
// distributed: of 200 rows, the sample has none with a probability of 3e-12.
GPUJOIN_INLINE uint32_t sampledCapacityRows(double count) {
    double room = 6.0 * sqrt((count + 1.0) * SAMPLE_STEP * (SAMPLE_STEP - 1)) + 20.0 * SAMPLE_STEP;
    auto capacity = static_cast<uint64_t>(count * SAMPLE_STEP + room) + SLOT_ALIGNMENT_ROWS;
    return static_cast<uint32_t>(capacity / SLOT_ALIGNMENT_ROWS * SLOT_ALIGNMENT_ROWS);
}

// Returns the rows of a buffer for the slots of all partitions, sufficient for guessed slots, for
// counted and aligned ones, and mostly for sampled ones, which need most if all are alike.
GPUJOIN_INLINE uint64_t slotBufferRows(uint64_t rows, uint32_t partitions, double rowsPerKey) {
    double sampledMean = static_cast<double>(rows) / partitions / SAMPLE_STEP;
    uint64_t guessed = uint64_t{guessedCapacityRows(rows, partitions, rowsPerKey)} * partitions;
    uint64_t sampled = uint64_t{sampledCapacityRows(sampledMean)} * partitions;
    uint64_t counted = rows + uint64_t{SLOT_ALIGNMENT_ROWS} * partitions;
    uint64_t most = guessed > sampled ? guessed : sampled;
    return most > counted ? most : counted;
}

// Digits of the radix passes; `second.bits` is 0 if one pass suffices.
struct RadixPlan {
    RadixDigit first;
    RadixDigit second;

    GPUJOIN_INLINE bool hasTwoPasses() const { return second.bits != 0; }
    GPUJOIN_INLINE uint32_t bits() const { return first.bits + second.bits; }
    GPUJOIN_INLINE uint32_t partitions() const { return 1u << bits(); }

    static GPUJOIN_INLINE RadixPlan of(uint64_t buildRows, TableShape table) {
        uint32_t bits = MIN_RADIX_BITS;
        while (bits < 2 * MAX_DIGIT_BITS && (buildRows >> bits) > table.meanRows) {
            bits++;
        }
        if (bits <= MAX_DIGIT_BITS) {
            return {{0, bits}, {0, 0}};
        }
        uint32_t second = bits / 2;
        return {{second, bits - second}, {0, second}};
    }
};

// Allocates aligned regions one after the other; with a null base it only counts bytes.
class RegionAllocator {
  public:
    explicit GPUJOIN_INLINE RegionAllocator(void* base) : base(static_cast<unsigned char*>(base)) {}

    template <typename T>
    GPUJOIN_INLINE T* allocate(uint64_t count) {
        size_t offset = endOffset;
        size_t length = count * sizeof(T);
        endOffset +=
            (length + REGION_ALIGNMENT_BYTES - 1) / REGION_ALIGNMENT_BYTES * REGION_ALIGNMENT_BYTES;
        return base == nullptr ? nullptr : reinterpret_cast<T*>(base + offset);
    }

    GPUJOIN_INLINE size_t usedBytes() const { return endOffset; }

  private:
    unsigned char* base;
    size_t endOffset = 0;
};

}  // namespace gpujoin::resident
