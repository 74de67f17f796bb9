// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The distinct keys of the build side of a semi-join, from which probes remove those that they
// match. A key has a position, and a bit for each position says whether the key is live: inserted
// and not removed.
//
// A position is the key's distance from the smallest key (DirectKeySet), or the slot of a hash
// table that holds the key (HashKeySet).
//
// Build rows with equal keys share a position, so one removal is for all of them, and no chain is
// followed. Threads insert concurrently; probes start after all insertions. A probe reads the bit
// before it clears it: atomics are slow if many probes have the same key.
#pragma once

#include <cstdint>

#include "../engine/hash.h"
#include "../engine/portable.h"

namespace gpujoin::semijoin {

// A bit for each position.
struct BitArray {
    uint32_t* words;

    GPUJOIN_INLINE bool get(uint64_t position) const {
        return (loadRelaxedDevice(&words[position / 32]) >> position % 32 & 1u) != 0;
    }
    GPUJOIN_INLINE void set(uint64_t position) const {
        if (!get(position)) {
            orRelaxedDevice(&words[position / 32], 1u << position % 32);
        }
    }
    GPUJOIN_INLINE void clear(uint64_t position) const {
        andRelaxedDevice(&words[position / 32], ~(1u << position % 32));
    }
};

// The calls of both sets:
//
//   insert(key)
//   firstWord()           the word of all keys that need no test
//   wordOf(key)           where the bits of a key are that mayBeLive tests
//   mayBeLive(key, word)  false is exact
//   isLive(key)           exact, if mayBeLive was true
//   remove(key)           if mayBeLive was true
//
// A thread loads the words of several rows, without a branch, before it tests the first of them. So
// it waits for the memory once.
template <typename Word>
struct DirectKeySet {
    BitArray live;
    Word smallest;
    // Of the largest key.
    uint64_t lastPosition;

    GPUJOIN_INLINE uint64_t positionOf(Word key) const {
        return static_cast<uint64_t>(int64_t{key}) - static_cast<uint64_t>(int64_t{smallest});
    }

    GPUJOIN_INLINE void insert(Word key) const { live.set(positionOf(key)); }
    GPUJOIN_INLINE const uint32_t* firstWord() const { return live.words; }
    GPUJOIN_INLINE const uint32_t* wordOf(Word key) const {
        uint64_t position = positionOf(key);
        return &live.words[position <= lastPosition ? position / 32 : 0];
    }
    GPUJOIN_INLINE bool mayBeLive(Word key, uint32_t word) const {
        uint64_t position = positionOf(key);
        return position <= lastPosition && (word >> position % 32 & 1u) != 0;
    }
    GPUJOIN_INLINE bool isLive(Word) const { return true; }
    GPUJOIN_INLINE void remove(Word key) const { live.clear(positionOf(key)); }
};

// Open addressing with linear probing. Most misses end at a Bloom filter, which has two bits for a
// key in one word. Keys that differ in the lowest 8 bits only have words in one sector of 32 bytes.
// So probe rows in the order of their keys read few sectors.
template <typename Word>
struct HashKeySet {
    // The content of a free slot, whose bytes are equal. The key of this value has a slot of its
    // own, behind the others.
    static constexpr Word FREE = -1;
    // Stands for no slot.
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t SECTOR_SHIFT = 8;
    static constexpr uint32_t SECTOR_BITS = 1u << SECTOR_SHIFT;

    BitArray live;
    uint32_t* filter;
    Word* slots;
    uint32_t slotCount;
    uint32_t sectorCount;

    static GPUJOIN_INLINE uint64_t liveWords(uint64_t slotCount) { return slotCount / 32 + 1; }

    GPUJOIN_INLINE void insert(Word key) const {
        FilterBits bits = filterBits(key);
        if ((loadRelaxedDevice(&filter[bits.word]) & bits.mask) != bits.mask) {
            orRelaxedDevice(&filter[bits.word], bits.mask);
        }
        live.set(key == FREE ? slotCount : claimSlot(key));
    }
    GPUJOIN_INLINE const uint32_t* firstWord() const { return filter; }
    GPUJOIN_INLINE const uint32_t* wordOf(Word key) const { return &filter[filterBits(key).word]; }
    GPUJOIN_INLINE bool mayBeLive(Word key, uint32_t word) const {
        uint32_t mask = filterBits(key).mask;
        return (word & mask) == mask;
    }
    GPUJOIN_INLINE bool isLive(Word key) const {
        uint32_t slot = find(key);
        return slot != NONE && live.get(slot);
    }
    GPUJOIN_INLINE void remove(Word key) const {
        uint32_t slot = find(key);
        if (slot != NONE && live.get(slot)) {
            live.clear(slot);
        }
    }

  private:
    struct FilterBits {
        uint64_t word;
        uint32_t mask;
    };

    GPUJOIN_INLINE FilterBits filterBits(Word key) const {
        // A product suffices, since equal bits of different keys only cost time.
        uint64_t hash = static_cast<uint64_t>(int64_t{key} >> SECTOR_SHIFT) * 0x9E3779B97F4A7C15ull;
        uint64_t sector = hashSlot(hash, sectorCount);
        // The hash distributes keys whose lowest bits are equal.
        uint32_t mixed = static_cast<uint32_t>(key) ^ static_cast<uint32_t>(hash >> 40);
        uint32_t second = mixed * 0x9E3779B1u >> 27;
        return {sector * (SECTOR_BITS / 32) + (mixed / 32) % (SECTOR_BITS / 32),
                1u << mixed % 32 | 1u << second};
    }

    GPUJOIN_INLINE uint32_t firstSlot(Word key) const { return hashSlot(keyHash(key), slotCount); }
    GPUJOIN_INLINE uint32_t slotAfter(uint32_t slot) const {
        return slot + 1 == slotCount ? 0 : slot + 1;
    }

    GPUJOIN_INLINE uint32_t claimSlot(Word key) const {
        for (uint32_t slot = firstSlot(key);; slot = slotAfter(slot)) {
            Word held = loadRelaxedDevice(&slots[slot]);
            if (held == FREE) {
                held = compareExchangeRelaxedDevice(&slots[slot], FREE, key);
            }
            if (held == FREE || held == key) {
                return slot;
            }
        }
    }

    GPUJOIN_INLINE uint32_t find(Word key) const {
        if (key == FREE) {
            return slotCount;
        }
        for (uint32_t slot = firstSlot(key);; slot = slotAfter(slot)) {
            Word held = slots[slot];
            if (held == key) {
                return slot;
            }
            if (held == FREE) {
                return NONE;
            }
        }
    }
};

}  // namespace gpujoin::semijoin
