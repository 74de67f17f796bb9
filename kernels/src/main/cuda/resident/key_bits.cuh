#pragma once

#include <cstdint>

#include "../engine/hash.h"

/*
 * Where the bits of a key's hash are cut on the device. The hash is KeyHash of join-core; its cuts and
 * these share no bits, so that rows which share a host partition still spread over all radix partitions,
 * and rows of one radix partition over all slots of a table.
 *
 *   63                    32 31                16 15              0
 *  +------------------------+--------------------+-----------------+
 *  | table: slot (top bits) | host partition     | radix partition |
 *  +------------------------+--------------------+-----------------+
 */
namespace gpujoin::resident {

/** A run of the hash's lowest bits: the digit that one radix pass partitions by. */
struct RadixDigit {
    std::uint32_t shift;
    std::uint32_t bits;

    GPUJOIN_INLINE std::uint32_t count() const { return 1u << bits; }

    GPUJOIN_INLINE std::uint32_t of(std::uint64_t hash) const {
        return (static_cast<std::uint32_t>(hash) >> shift) & (count() - 1u);
    }
};

/** Slot from 0 to 2^slotBits - 1 of a table; slotBits from 1 to 32. */
GPUJOIN_INLINE std::uint32_t tableSlot(std::uint64_t hash, std::uint32_t slotBits) {
    return static_cast<std::uint32_t>(hash >> 32) >> (32u - slotBits);
}

/** A row of a table between its partitioning and its join. Aligned, so that one access moves it. */
template <class Word>
struct alignas(2 * sizeof(Word)) Tuple {
    Word key;
    Word payload;
};

static_assert(sizeof(Tuple<std::int64_t>) == 16 && sizeof(Tuple<std::int32_t>) == 8, "no padding");

}  // namespace gpujoin::resident
