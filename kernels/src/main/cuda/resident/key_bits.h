// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Assigns the bits of a key's hash on the device. The hash is KeyHash of join-core. Each division
// uses bits of its own, so rows of one part still spread over all parts of the next division, over
// all radix partitions, and over all slots of a table.
//
//    63                 48 47          40 39           32 31             16 15              0
//   +---------------------+--------------+---------------+----------------+-----------------+
//   | table: slot         | member of a  | partition out | host partition | radix partition |
//   | (top bits)          | group        | of core       |                |                 |
//   +---------------------+--------------+---------------+----------------+-----------------+
//
// A group of devices divides both tables by the member that joins a key; a join beyond device
// memory divides the tables of a device by partition.
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

constexpr uint32_t DIVISION_BITS = 8;

// Returns a part from 0 to parts - 1, at most 2^DIVISION_BITS, of nearly equal sizes. The shift is
// 32 or 40.
GPUJOIN_INLINE uint32_t divisionPart(uint64_t hash, uint32_t shift, uint32_t parts) {
    uint32_t bits = static_cast<uint32_t>(hash >> shift) & ((1u << DIVISION_BITS) - 1u);
    return (bits * parts) >> DIVISION_BITS;
}

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
