// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Chooses the side that builds and the key set of a semi-join.
#pragma once

#include <cstdint>

#include "key_set.h"

namespace gpujoin::semijoin {

enum class Side : uint32_t { LEFT, RIGHT };

enum class KeySetKind : uint32_t { AUTO, DIRECT, HASH };

// The slots of a hash table and the row numbers of a selection have 32 bits. The last slot, which is
// of the key FREE, has a number below the one that stands for no slot.
constexpr uint64_t MAX_BUILD_ROWS = (uint64_t{1} << 31) - 2;

// What the selection of the build side found out about the keys of its rows.
struct KeyStatistics {
    uint64_t rows;
    // Undefined if there are no rows.
    int64_t smallest;
    int64_t largest;
};

// The smaller side builds, as the memory of the key set and the random accesses to it grow with its
// rows; the larger side is read once, in order. If both have equally many rows, the left one builds:
// its rows are the result, and the right side would be tested against it either way.
GPUJOIN_INLINE Side buildSideOf(uint64_t leftRows, uint64_t rightRows) {
    return leftRows <= rightRows ? Side::LEFT : Side::RIGHT;
}

// Sizes of a key set.
struct KeySetPlan {
    // Keys in a hash table have two slots each, and 16 bits in the filter, of which at most 12 %
    // are set, so that about 2 % of other keys pass it.
    static constexpr uint64_t SLOTS_PER_KEY = 2;
    static constexpr uint64_t FILTER_BITS_PER_KEY = 16;
    static_assert(SLOTS_PER_KEY * MAX_BUILD_ROWS + 1 < HashKeySet<int64_t>::NONE);

    KeySetKind kind;
    uint32_t slotCount;
    uint32_t sectorCount;
    uint32_t unused;
    int64_t smallest;
    uint64_t lastPosition;
    uint64_t liveWords;
    uint64_t filterWords;

    // A direct key set reads one bit for each probe and compares no keys, and bits of adjacent keys
    // are adjacent. So it is the faster one as long as most of its bits are of keys that a probe may
    // have. If keys are far apart, it also costs more memory than a hash table, and more time to
    // clear it. Therefore it is chosen if it has at most as many bytes.
    //
    // `requested` overrides the choice unless it is AUTO.
    template <typename Word>
    static GPUJOIN_INLINE KeySetPlan of(const KeyStatistics& keys, KeySetKind requested) {
        KeySetPlan direct = ofDirect(keys);
        KeySetPlan hash = ofHash(keys.rows);
        if (requested == KeySetKind::AUTO) {
            return direct.lengthBytes<Word>() <= hash.lengthBytes<Word>() ? direct : hash;
        }
        return requested == KeySetKind::DIRECT ? direct : hash;
    }

    template <typename Word>
    GPUJOIN_INLINE uint64_t lengthBytes() const {
        return (liveWords + filterWords) * sizeof(uint32_t) + slotCount * sizeof(Word);
    }

  private:
    static GPUJOIN_INLINE KeySetPlan ofDirect(const KeyStatistics& keys) {
        KeySetPlan plan{};
        plan.kind = KeySetKind::DIRECT;
        if (keys.rows != 0) {
            plan.smallest = keys.smallest;
            plan.lastPosition =
                static_cast<uint64_t>(keys.largest) - static_cast<uint64_t>(keys.smallest);
        }
        plan.liveWords = plan.lastPosition / 32 + 1;
        return plan;
    }

    static GPUJOIN_INLINE KeySetPlan ofHash(uint64_t rows) {
        KeySetPlan plan{};
        plan.kind = KeySetKind::HASH;
        // A slot stays free, so that each lookup ends.
        plan.slotCount = static_cast<uint32_t>(SLOTS_PER_KEY * rows + 1);
        plan.sectorCount = static_cast<uint32_t>(
            rows * FILTER_BITS_PER_KEY / HashKeySet<int64_t>::SECTOR_BITS + 1);
        plan.liveWords = HashKeySet<int64_t>::liveWords(plan.slotCount);
        plan.filterWords = uint64_t{plan.sectorCount} * HashKeySet<int64_t>::SECTOR_BITS / 32;
        return plan;
    }
};

}  // namespace gpujoin::semijoin
