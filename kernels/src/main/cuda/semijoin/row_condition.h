// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The condition that rows of one side of a semi-join satisfy.
#pragma once

#include <cstdint>

#include "../engine/attributes.h"

namespace gpujoin::semijoin {

// low <= minuend - subtrahend <= high: a range of one column, or a comparison of two. `a < b` is
// a - b <= -1.
//
//   0         8            16    24     32           36        40
//   +---------+------------+-----+------+------------+---------+
//   | minuend | subtrahend | low | high | widthBytes | (unused)|
//   +---------+------------+-----+------+------------+---------+
struct RowCondition {
    // A column of signed integers in device memory, aligned to 16 bytes; null: all rows satisfy the
    // condition.
    const void* minuend = nullptr;
    // Null: the condition is a range of the minuend. Otherwise both columns have at most 4 bytes a
    // value, so that no difference overflows.
    const void* subtrahend = nullptr;
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;
    // Of a value: 1, 2, 4 or 8.
    uint32_t widthBytes = 0;
    uint32_t unused = 0;

    GPUJOIN_INLINE bool isPresent() const { return minuend != nullptr; }

    // One comparison of unsigned words tests both bounds.
    GPUJOIN_INLINE bool holds(int64_t difference) const {
        return static_cast<uint64_t>(difference) - static_cast<uint64_t>(low) <=
               static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    }

    // Returns whether the condition cannot be evaluated.
    GPUJOIN_INLINE bool isInvalid() const {
        bool width = widthBytes == 1 || widthBytes == 2 || widthBytes == 4 || widthBytes == 8;
        return isPresent() ? !width || low > high || (subtrahend != nullptr && widthBytes == 8)
                           : subtrahend != nullptr;
    }
};

static_assert(sizeof(RowCondition) == 40);

}  // namespace gpujoin::semijoin
