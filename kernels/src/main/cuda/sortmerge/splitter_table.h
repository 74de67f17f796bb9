// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Splitters: keys that divide a table into buckets of about equal size, in the order of the keys.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../engine/attributes.h"

namespace gpujoin::sortmerge {

// A key as an unsigned number of the same order.
template <typename Word>
using OrderedKey = typename std::make_unsigned<Word>::type;

template <typename Word>
GPUJOIN_INLINE OrderedKey<Word> ordered(Word key) {
    using Key = OrderedKey<Word>;
    return static_cast<Key>(key) ^ (Key{1} << (8 * sizeof(Word) - 1));
}

template <typename Word>
GPUJOIN_INLINE Word unordered(OrderedKey<Word> key) {
    using Key = OrderedKey<Word>;
    return static_cast<Word>(key ^ (Key{1} << (8 * sizeof(Word) - 1)));
}

// Returns the least shift with which all values up to `range` are less than 2^bits.
template <typename Key>
GPUJOIN_INLINE uint32_t shiftToBits(Key range, uint32_t bits) {
#if defined(__CUDA_ARCH__)
    uint32_t length = sizeof(Key) == 8 ? 64 - __clzll(static_cast<long long>(range))
                                       : 32 - __clz(static_cast<int>(range));
#else
    uint32_t length = 0;
    for (Key left = range; left != 0; left >>= 1) {
        length++;
    }
#endif
    return length > bits ? length - bits : 0;
}

// Buckets of a table or of one bucket of it.
constexpr uint32_t MAX_DIGITS = 512;

// Bucket i has the keys from splitter i - 1 up to but excluding splitter i; the first and the last
// bucket have no lower and no upper bound. Splitters may repeat; the buckets between are empty.
//
// A search starts at cells of equal width between the first and the last splitter, each of which
// knows its first bucket. If splitters are evenly distributed, a cell has at most one of them.
// Skewed ones cost up to nine comparisons.
template <typename Word>
struct alignas(16) SplitterTable {
    using Key = OrderedKey<Word>;
    static constexpr uint32_t CELL_BITS = 10;
    static constexpr uint32_t CELLS = 1u << CELL_BITS;

    Key splitters[MAX_DIGITS];
    // Number of splitters up to the first key of each cell in the low half, and up to the first key
    // of the next cell in the high half. Two more cells are for keys below and above all splitters.
    uint32_t cells[CELLS + 4];
    // The first splitter, and the difference to the last one.
    Key base;
    Key range;
    // Splitters; one less than buckets.
    uint32_t count;
    uint32_t shift;

    GPUJOIN_INLINE uint32_t digits() const { return count + 1; }

    // Sets all other members for `splitterCount` splitters, which are set.
    GPUJOIN_INLINE void describe(uint32_t splitterCount) {
        count = splitterCount;
        base = count == 0 ? 0 : splitters[0];
        range = count == 0 ? 0 : splitters[count - 1] - base;
        shift = shiftToBits<Key>(range, CELL_BITS);
    }

    // Prepares the cells after describe(). Each of `threads` threads calls it.
    GPUJOIN_INLINE void fillCells(uint32_t thread, uint32_t threads) {
        for (uint32_t cell = thread; cell < CELLS; cell += threads) {
            cells[cell] = splittersUpToCell(cell) | splittersUpToCell(cell + 1) << 16;
        }
        if (thread == 0) {
            cells[CELLS] = 0;
            cells[CELLS + 1] = count | count << 16;
        }
    }

    // Searches a table in shared memory. Holds in registers what all keys need.
    struct Search {
        const SplitterTable* table;
        Key base;
        Key range;
        uint32_t shift;

        explicit GPUJOIN_INLINE Search(const SplitterTable* table)
            : table(table), base(table->base), range(table->range), shift(table->shift) {}

        GPUJOIN_INLINE uint32_t bucketOf(Key key) const {
            Key offset = key - base;
            uint32_t cell = offset <= range ? static_cast<uint32_t>(offset >> shift)
                                            : (key < base ? CELLS : CELLS + 1);
            uint32_t bounds = table->cells[cell];
            return table->upperBound(bounds & 0xFFFFu, bounds >> 16, key);
        }
    };

    // Returns whether a bucket can have one key only.
    GPUJOIN_INLINE bool isConstant(uint32_t bucket) const {
        Key low = bucket == 0 ? Key{0} : splitters[bucket - 1];
        Key high = bucket == count ? ~Key{0} : splitters[bucket] - 1;
        return low == high;
    }

    // Returns splitter number `i` of `digits` buckets for a sorted sample of a table. If a key is so
    // frequent that it was the splitter before, its successor is the next splitter, so that the
    // bucket between has no other key and need not be sorted.
    static GPUJOIN_INLINE Key choose(const Key* sample, uint32_t sampleRows, uint32_t digits,
                                     uint32_t i) {
        Key key = sample[uint64_t{i + 1} * sampleRows / digits];
        bool repeats = i > 0 && sample[uint64_t{i} * sampleRows / digits] == key;
        return repeats && key != ~Key{0} ? key + 1 : key;
    }

  private:
    GPUJOIN_INLINE uint32_t splittersUpToCell(uint32_t cell) const {
        bool isBeyond = cell > (range >> shift);
        return count == 0 || isBeyond
                   ? count
                   : upperBound(0, count, base + (static_cast<Key>(cell) << shift));
    }

    // Returns the number of splitters not greater than `key`, which is `low` to `high`.
    GPUJOIN_INLINE uint32_t upperBound(uint32_t low, uint32_t high, Key key) const {
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (splitters[middle] <= key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
};

static_assert(sizeof(SplitterTable<int32_t>) % 16 == 0 && sizeof(SplitterTable<int64_t>) % 16 == 0);

}  // namespace gpujoin::sortmerge
