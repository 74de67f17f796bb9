#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "key_bits.cuh"

/* Host arithmetic of a join: how many partitions, where what lies in the workspace. Tested without a device. */
namespace gpujoin::resident {

/**
 * The table of a partition's build rows in a thread block's shared memory: the rows it holds, its slots, and the
 * most rows that the mean partition may have; the room between is for how far partitions differ. Three such
 * blocks share a multiprocessor.
 */
struct TableShape {
    std::uint32_t rows;
    std::uint32_t slotBits;
    std::uint32_t meanRows;
};

template <class Word>
constexpr TableShape kTableShape{3304, 12, 2560};
template <>
constexpr TableShape kTableShape<std::int32_t>{4368, 13, 4096};

/** A pass with more digits writes runs too short for the memory; one with fewer serialises its counters. */
constexpr std::uint32_t kMaxDigitBits = 9;
constexpr std::uint32_t kMinRadixBits = 6;

/** Probe rows that one work item takes at most, so that a heavy key's partition spreads over the device. */
constexpr std::uint32_t kProbeSliceRows = 65536;

/** Slots begin at multiples of this many tuples: whole 128-byte lines for 16-byte tuples. */
constexpr std::uint32_t kSlotAlignmentRows = 8;

constexpr std::size_t kRegionAlignmentBytes = 256;

/**
 * Rows set aside for a partition before anything is counted: the mean and eight standard deviations of
 * uniformly hashed keys that occur `repeats` times each on average, but never more than a quarter over the
 * mean. Skewed keys can exceed it; then the pass counts first and runs again.
 */
inline std::uint32_t guessedCapacityRows(std::uint64_t rows, std::uint32_t partitions,
                                         double repeats) {
    const double mean = static_cast<double>(rows) / partitions;
    const double room = std::min(8.0 * std::sqrt(mean * (1.0 + repeats)), mean / 4 + 256);
    const auto capacity = static_cast<std::uint64_t>(std::ceil(mean + room)) + kSlotAlignmentRows;
    return static_cast<std::uint32_t>(capacity / kSlotAlignmentRows * kSlotAlignmentRows);
}

/** Rows of a buffer for `partitions` slots, large enough for guessed slots and for counted, aligned ones. */
inline std::uint64_t slotBufferRows(std::uint64_t rows, std::uint32_t partitions, double repeats) {
    const std::uint64_t guessed =
        std::uint64_t{guessedCapacityRows(rows, partitions, repeats)} * partitions;
    const std::uint64_t counted = rows + std::uint64_t{kSlotAlignmentRows} * partitions;
    return guessed > counted ? guessed : counted;
}

/** Digits of the radix passes; `second.bits` is 0 where one pass is enough. */
struct RadixPlan {
    RadixDigit first;
    RadixDigit second;

    bool twoPasses() const { return second.bits != 0; }
    std::uint32_t bits() const { return first.bits + second.bits; }
    std::uint32_t partitions() const { return 1u << bits(); }

    static RadixPlan of(std::uint64_t buildRows, const TableShape& table) {
        std::uint32_t bits = kMinRadixBits;
        while (bits < 2 * kMaxDigitBits && (buildRows >> bits) > table.meanRows) {
            bits++;
        }
        if (bits <= kMaxDigitBits) {
            return {{0, bits}, {0, 0}};
        }
        const std::uint32_t second = bits / 2;
        return {{second, bits - second}, {0, second}};
    }
};

/** Hands out aligned regions one after the other; with a null base it only counts. */
class RegionCutter {
  public:
    explicit RegionCutter(void* base) : base_(static_cast<unsigned char*>(base)) {}

    template <class T>
    T* take(std::uint64_t count) {
        const std::size_t offset = usedBytes_;
        const std::size_t length = count * sizeof(T);
        usedBytes_ +=
            (length + kRegionAlignmentBytes - 1) / kRegionAlignmentBytes * kRegionAlignmentBytes;
        return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + offset);
    }

    std::size_t usedBytes() const { return usedBytes_; }

  private:
    unsigned char* base_;
    std::size_t usedBytes_ = 0;
};

}  // namespace gpujoin::resident
