// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Searches in sorted columns, and merge paths: which rows of two sorted tables a tile of the merge
// has.
#pragma once

#include <cstdint>

#include "../engine/attributes.h"

namespace gpujoin::sortmerge {

// Returns the first position of [low, high) whose key is not less than `key`, else `high`.
template <typename Word, typename Index>
GPUJOIN_INLINE Index lowerBound(const Word* keys, Index low, Index high, Word key) {
    while (low < high) {
        Index middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Returns the first position of [low, high) whose key is greater than `key`, else `high`.
template <typename Word, typename Index>
GPUJOIN_INLINE Index upperBound(const Word* keys, Index low, Index high, Word key) {
    while (low < high) {
        Index middle = low + (high - low) / 2;
        if (keys[middle] <= key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Returns the first position with `key` of a run of equal keys that ends before `end`; `end` if
// there is no such run. Needs few reads if the run is short.
template <typename Word>
GPUJOIN_INLINE uint64_t runStart(const Word* keys, uint64_t end, Word key) {
    uint64_t high = end;
    uint64_t step = 1;
    while (step <= end && keys[end - step] == key) {
        high = end - step;
        step *= 2;
    }
    return lowerBound(keys, step > end ? uint64_t{0} : end - step, high, key);
}

// Returns how many of the first `diagonal` rows of the merge are of table `a`. Of equal keys, those
// of `a` come first.
template <typename Word>
GPUJOIN_INLINE uint64_t mergePath(const Word* a, uint64_t aRows, const Word* b, uint64_t bRows,
                                  uint64_t diagonal) {
    uint64_t low = diagonal > bRows ? diagonal - bRows : 0;
    uint64_t high = diagonal < aRows ? diagonal : aRows;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (a[middle] <= b[diagonal - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace gpujoin::sortmerge
