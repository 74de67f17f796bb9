// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Assigns the bits of a key's hash on the device. The hash is KeyHash of join-core. The host
// partition uses other bits than the device, so rows of one host partition still spread over all
// radix partitions, and rows of one radix partition over all slots of a table.
//
//    63                    32 31                16 15              0
//   +------------------------+--------------------+-----------------+
//   | table: slot (top bits) | host partition     | radix partition |
//   +------------------------+--------------------+-----------------+
//
// A join beyond device memory divides both tables by the lowest bits of the upper half, at most 8,
// of which a table's slot uses the highest ones.
#pragma once

#include <cstdint>

#include "../engine/hash.h"

namespace gpujoin::resident {

// Adjacent low bits of the hash: the digit by which one radix pass partitions.
struct RadixDigit {
    uint32_t shift;
    uint32_t bits;

    GPUJOIN_INLINE uint32_t count() const { return 1u << bits; }

    GPUJOIN_INLINE uint32_t of(uint64_t hash) const {
        return (static_cast<uint32_t>(hash) >> shift) & (count() - 1u);
    }
};

// Returns a slot from 0 to 2^slotBits - 1; slotBits is 1 to 32.
GPUJOIN_INLINE uint32_t tableSlot(uint64_t hash, uint32_t slotBits) {
    return static_cast<uint32_t>(hash >> 32) >> (32u - slotBits);
}

// A row between partitioning and join. Aligned, so that one access moves it.
template <typename Word>
struct alignas(2 * sizeof(Word)) Tuple {
    Word key;
    Word payload;
};

static_assert(sizeof(Tuple<int64_t>) == 16 && sizeof(Tuple<int32_t>) == 8, "no padding");

}  // namespace gpujoin::resident
