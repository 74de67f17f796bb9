// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The rows of two inputs by key, for symmetric joins. Any number of threads changes one input, or
// looks up rows of one, between two ends of kernels.
//
//   slots, slotMask + 2 of 16 bytes        links of an input, 4 bytes for each id
//   +---------+------------+------------+
//   | key     | first of   | first of   |  +------+------+- -     +----------+- -
//   |         | input 0    | input 1    |->| next | next |        | previous |
//   +---------+------------+------------+  +------+------+- -     +----------+- -
//   0         8            12          16
//
// A link is 0, or id + 1; its highest bit is set if the row may have a next one, so that the only
// row of a key needs no further read. A free slot has key 0. Key 0 has the last slot of its own. A
// key whose rows are removed keeps its slot, so that keys behind it stay reachable, until the slots
// are moved to new ones. `previous` is only there if rows of the input are removed: it contains id +
// 1 of the row that was added afterwards, or 0 if the slot refers to the row.
//
// Bytes moved: 16 for the key and id of a row over the bus, one random sector of 32 bytes for its
// slot, one for each link of a chain behind the first, 4 for each match and 8 for each row back.
#pragma once

#include "../engine/hash.h"
#include "../engine/portable.h"

namespace gpujoin {

constexpr uint32_t LINK_MORE = 0x80000000u;

struct MatchSlot {
    uint64_t key;
    uint32_t firsts[2];
};
static_assert(sizeof(MatchSlot) == 16);

// In device memory. MatchDescriptor.java writes it.
struct MatchIndex {
    MatchSlot* slots;
    uint64_t slotMask;
    uint64_t seed;
    uint64_t multiplier;
    // Slots with a key, but for that of key 0.
    uint64_t* used;
    // By slot: number + 1 of a removal, see claimRemoval; null if rows never leave.
    uint32_t* pending;
    // By input.
    uint32_t* next[2];
    // By input; null if rows never leave it.
    uint32_t* previous[2];
};
static_assert(sizeof(MatchIndex) == 80);

GPUJOIN_HD inline uint32_t linkId(uint32_t link) { return (link & ~LINK_MORE) - 1; }

GPUJOIN_HD inline uint64_t homeSlot(const MatchIndex& index, uint64_t key) {
    return key == 0
               ? index.slotMask + 1
               : slotHash(static_cast<int64_t>(key), index.seed, index.multiplier) & index.slotMask;
}

GPUJOIN_HD inline void countOne(uint64_t* counter) {
#if defined(__CUDA_ARCH__)
    // the compiler adds for all threads of a warp at once
    atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull);
#else
    fetchAddRelaxedDevice(counter, uint64_t{1});
#endif
}

// Returns the slot of a key, or a free one. No thread adds keys meanwhile.
GPUJOIN_HD inline uint64_t findSlot(const MatchIndex& index, uint64_t key) {
    uint64_t slot = homeSlot(index, key);
    while (index.slots[slot].key != key && index.slots[slot].key != 0) {
        slot = (slot + 1) & index.slotMask;
    }
    return slot;
}

// Returns the slot of a key, a new one if there is none. Fewer than all slots are used afterwards.
GPUJOIN_HD inline uint64_t findOrAddSlot(const MatchIndex& index, uint64_t key) {
    uint64_t slot = homeSlot(index, key);
    while (key != 0) {
        uint64_t* at = &index.slots[slot].key;
        uint64_t found = loadRelaxedDevice(at);
        if (found == 0) {
            found = compareExchangeRelaxedDevice(at, uint64_t{0}, key);
            if (found == 0) {
                countOne(index.used);
                break;
            }
        }
        if (found == key) {
            break;
        }
        slot = (slot + 1) & index.slotMask;
    }
    return slot;
}

// ---------------------------------------------------------------------------------- changes

// Adds a row, `link` being its id + 1, in front of its chain.
GPUJOIN_HD inline void addRow(const MatchIndex& index, uint32_t input, uint64_t key,
                              uint32_t link) {
    uint32_t* first = &index.slots[findOrAddSlot(index, key)].firsts[input];
    uint32_t* previous = index.previous[input];
    if (previous != nullptr) {
        storeRelaxedDevice(&previous[link - 1], 0u);
        fenceReleaseDevice();
    }
    uint32_t old = exchangeAcquireDevice(first, link | LINK_MORE);
    index.next[input][link - 1] = old;
    if (previous == nullptr) {
        if (old == 0) {
            // Unless another row is in front of this one by now, it is the only one.
            compareExchangeRelaxedDevice(first, link | LINK_MORE, link);
        }
    } else if (old != 0) {
        storeRelaxedDevice(&previous[linkId(old)], link);
    }
}

// Rows are removed in two kernels, since neighbours of a chain cannot leave it at the same time. The
// first one chains the removals of each slot. In the second one, the thread of the removal at the
// head of a chain executes all of it.
struct Removals {
    const uint64_t* keys;
    const uint32_t* links;
    // Of each removal.
    uint64_t* slots;
    uint32_t* next;
};

GPUJOIN_HD inline void claimRemoval(const MatchIndex& index, const Removals& removals,
                                    uint32_t removal) {
    if (removals.links[removal] != 0) {
        uint64_t slot = findSlot(index, removals.keys[removal]);
        removals.slots[removal] = slot;
        removals.next[removal] = exchangeRelaxedDevice(&index.pending[slot], removal + 1);
    }
}

GPUJOIN_HD inline void removeRow(const MatchIndex& index, uint32_t input, uint64_t slot,
                                 uint32_t link) {
    uint32_t next = index.next[input][link - 1];
    uint32_t previous = index.previous[input][link - 1];
    if (previous == 0) {
        index.slots[slot].firsts[input] = next;
    } else {
        index.next[input][previous - 1] = next;
    }
    if (next != 0) {
        index.previous[input][linkId(next)] = previous;
    }
}

GPUJOIN_HD inline void settleRemovals(const MatchIndex& index, uint32_t input,
                                      const Removals& removals, uint32_t removal) {
    if (removals.links[removal] == 0) {
        return;
    }
    uint64_t slot = removals.slots[removal];
    if (loadRelaxedDevice(&index.pending[slot]) != removal + 1) {
        return;
    }
    for (uint32_t each = removal + 1; each != 0; each = removals.next[each - 1]) {
        removeRow(index, input, slot, removals.links[each - 1]);
    }
    storeRelaxedDevice(&index.pending[slot], 0u);
}

// ---------------------------------------------------------------------------------- lookups

// Rows that are looked up, and where their matches go.
struct MatchProbe {
    const uint64_t* keys;
    // id + 1, or 0 for a row without matches.
    const uint32_t* links;
    // Of each row: its first match and their number. All are counted, but only those that fit
    // below the capacity are written.
    uint32_t* starts;
    uint32_t* counts;
    uint32_t* matches;
    uint64_t capacity;
    // Matches up to now.
    uint64_t* claimed;
    // A longer chain is not walked to its end; it counts as one row more.
    uint64_t maxChain;
};

GPUJOIN_HD inline uint32_t firstOf(const MatchIndex& index, uint32_t input, uint64_t key) {
    return index.slots[findSlot(index, key)].firsts[input];
}

GPUJOIN_HD inline uint32_t nextLink(const MatchIndex& index, uint32_t input, uint32_t link) {
    return (link & LINK_MORE) != 0 ? index.next[input][linkId(link)] : 0;
}

GPUJOIN_HD inline uint32_t countChain(const MatchIndex& index, uint32_t input, uint32_t first,
                                      uint64_t maxChain) {
    uint32_t count = 0;
    for (uint32_t link = first; link != 0 && count <= maxChain;
         link = nextLink(index, input, link)) {
        count++;
    }
    return count;
}

GPUJOIN_HD inline void writeChain(const MatchIndex& index, uint32_t input, uint32_t first,
                                  uint32_t* matches, uint32_t count) {
    uint32_t link = first;
    for (uint32_t i = 0; i < count; i++) {
        matches[i] = linkId(link);
        link = nextLink(index, input, link);
    }
}

// Claims room for the matches of a row. All threads of a warp call it together.
GPUJOIN_HD inline uint64_t claimMatches(uint32_t count, uint64_t* claimed) {
#if defined(__CUDA_ARCH__)
    constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;
    constexpr uint32_t WARP = 32;
    uint32_t lane = threadIdx.x % WARP;
    uint64_t upTo = count;
    GPUJOIN_UNROLL
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint64_t before = __shfl_up_sync(ALL_LANES, upTo, distance);
        upTo += lane >= distance ? before : 0;
    }
    uint64_t first = 0;
    if (lane == WARP - 1 && upTo != 0) {
        first = fetchAddRelaxedDevice(claimed, upTo);
    }
    return __shfl_sync(ALL_LANES, first, WARP - 1) + upTo - count;
#else
    return fetchAddRelaxedDevice(claimed, uint64_t{count});
#endif
}

// Looks up a row of the other input than `input`. All threads of a warp call it together.
GPUJOIN_HD inline void probeRow(const MatchIndex& index, uint32_t input, const MatchProbe& probe,
                                uint64_t row, bool isRow) {
    bool hasKey = isRow && probe.links[row] != 0;
    uint32_t first = hasKey ? firstOf(index, input, probe.keys[row]) : 0;
    uint32_t count = countChain(index, input, first, probe.maxChain);
    uint64_t start = claimMatches(count, probe.claimed);
    if (!isRow) {
        return;
    }
    probe.counts[row] = count;
    probe.starts[row] = static_cast<uint32_t>(start < 0xFFFFFFFFu ? start : 0xFFFFFFFFu);
    if (start + count <= probe.capacity) {
        writeChain(index, input, first, probe.matches + start, count);
    }
}

// ---------------------------------------------------------------------------------- growth

GPUJOIN_HD inline bool hasRows(const MatchSlot& slot) {
    return (slot.firsts[0] | slot.firsts[1]) != 0;
}

// Moves the rows of a slot to an index that does not contain its key.
GPUJOIN_HD inline void moveSlot(const MatchIndex& from, uint64_t slot, const MatchIndex& to) {
    const MatchSlot& moved = from.slots[slot];
    if (hasRows(moved)) {
        MatchSlot& target = to.slots[findOrAddSlot(to, moved.key)];
        target.firsts[0] = moved.firsts[0];
        target.firsts[1] = moved.firsts[1];
    }
}

}  // namespace gpujoin
