// The tables: insertion, by any number of threads at once, and lookup, once all are in.
//
// UNIQUE   open addressing; a key has one row.
// CHAINED  head-and-chain: preallocated heads and rows, one exchange an insert (Thostrup et al.,
//          "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2).
// GROUPED  open addressing over rows grouped by key, so that a key's matches are counted and any
//          of them is reached without a walk, however many there are.
#pragma once

#include "hash.h"
#include "layout.h"

namespace gpujoin {

// The matches of a key: `count` of them, the first one at `first`.
struct Matches {
    uint32_t first;
    uint32_t count;
};

GPUJOIN_HD inline unsigned char* rowAt(const Dimension& table, uint32_t row) {
    return reinterpret_cast<unsigned char*>(table.rows) + uint64_t{table.rowBytes} * row;
}

GPUJOIN_HD inline int64_t rowKey(const Dimension& table, uint32_t row) {
    return *reinterpret_cast<const int64_t*>(rowAt(table, row) + ROW_KEY_OFFSET);
}

GPUJOIN_HD inline uint32_t& rowNext(const Dimension& table, uint32_t row) {
    return *reinterpret_cast<uint32_t*>(rowAt(table, row) + ROW_NEXT_OFFSET);
}

GPUJOIN_HD inline KeySlot* keySlots(const Dimension& table) {
    return reinterpret_cast<KeySlot*>(table.slots);
}

GPUJOIN_HD inline void insertChained(const Dimension& table, uint32_t row) {
    uint32_t* heads = reinterpret_cast<uint32_t*>(table.slots);
    uint32_t slot = hashSlot(keyHash(rowKey(table, row)), table.slotCount);
    rowNext(table, row) = exchangeRelaxedDevice(&heads[slot], row);
}

// The slot of the row's key, taken by this row where no other row of the key was first: then
// `isFirst`. Slots start filled with ones, at least one more than there are keys. Keys are compared
// in the rows, which were complete before any insert began, so a slot may be seen taken before its
// key is written.
GPUJOIN_HD inline uint32_t takeSlot(const Dimension& table, uint32_t row, bool& isFirst) {
    KeySlot* slots = keySlots(table);
    int64_t key = rowKey(table, row);
    uint32_t slot = hashSlot(keyHash(key), table.slotCount);
    while (true) {
        // a load first: an exchange of a slot that is taken would only keep others from it
        uint32_t found = loadRelaxedDevice(&slots[slot].first);
        if (found == NO_ROW) {
            found = compareExchangeRelaxedDevice(&slots[slot].first, NO_ROW, row);
        }
        isFirst = found == NO_ROW;
        if (isFirst) {
            slots[slot].key = key;
            return slot;
        }
        if (rowKey(table, found) == key) {
            return slot;
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

// False where the key is there already; the table keeps the row that came first.
GPUJOIN_HD inline bool insertUnique(const Dimension& table, uint32_t row) {
    bool isFirst;
    uint32_t slot = takeSlot(table, row, isFirst);
    if (isFirst) {
        keySlots(table)[slot].count = 1;
    }
    return isFirst;
}

// Grouping, first pass: finds each row's group and its rank there. Counts start at all ones, that
// is -1, like the rest of a slot.
GPUJOIN_HD inline GroupPlace joinGroup(const Dimension& table, uint32_t row) {
    bool isFirst;
    uint32_t slot = takeSlot(table, row, isFirst);
    uint32_t rank = fetchAddRelaxedDevice(&keySlots(table)[slot].count, 1u) + 1;
    return GroupPlace{slot, rank};
}

// Second pass, over slots: gives the slot's group its rows and returns its size.
GPUJOIN_HD inline uint32_t placeGroup(const Dimension& table, uint32_t slot, uint32_t* nextRow) {
    KeySlot& group = keySlots(table)[slot];
    if (group.first == NO_ROW) {
        return 0;
    }
    group.count += 1;
    group.first = fetchAddRelaxedDevice(nextRow, group.count);
    return group.count;
}

// Third pass: copies a row to its group's place among `target` rows.
GPUJOIN_HD inline void moveToGroup(const Dimension& table, uint32_t row, GroupPlace place,
                                   unsigned char* target) {
    uint64_t to = uint64_t{keySlots(table)[place.slot].first} + place.rank;
    const uint64_t* from = reinterpret_cast<const uint64_t*>(rowAt(table, row));
    uint64_t* words = reinterpret_cast<uint64_t*>(target + to * table.rowBytes);
    for (uint32_t i = 0; i < table.rowBytes / 8; i++) {
        words[i] = from[i];
    }
}

GPUJOIN_HD inline KeySlot loadSlot(const KeySlot* slot) {
#if defined(__CUDA_ARCH__)
    // One 16-byte load; tables do not change while a probing kernel runs.
    int4 word = __ldg(reinterpret_cast<const int4*>(slot));
    uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(word.x)) |
                   static_cast<uint64_t>(static_cast<uint32_t>(word.y)) << 32;
    return KeySlot{static_cast<int64_t>(key), static_cast<uint32_t>(word.z),
                   static_cast<uint32_t>(word.w)};
#else
    return *slot;
#endif
}

GPUJOIN_HD inline Matches findInSlots(const Dimension& table, int64_t key) {
    uint32_t slot = hashSlot(keyHash(key), table.slotCount);
    while (true) {
        KeySlot found = loadSlot(&keySlots(table)[slot]);
        if (found.first == NO_ROW) {
            return Matches{NO_ROW, 0};
        }
        if (found.key == key) {
            return Matches{found.first, found.count};
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

// The first row of the chain, from `row` on, that has the key.
GPUJOIN_HD inline uint32_t followChain(const Dimension& table, uint32_t row, int64_t key) {
    while (row != NO_ROW && rowKey(table, row) != key) {
        row = rowNext(table, row);
    }
    return row;
}

GPUJOIN_HD inline Matches findInChain(const Dimension& table, int64_t key) {
    const uint32_t* heads = reinterpret_cast<const uint32_t*>(table.slots);
    uint32_t head = heads[hashSlot(keyHash(key), table.slotCount)];
    Matches matches{followChain(table, head, key), 0};
    for (uint32_t row = matches.first; row != NO_ROW;
         row = followChain(table, rowNext(table, row), key)) {
        matches.count++;
    }
    return matches;
}

GPUJOIN_HD inline Matches findMatches(const Dimension& table, int64_t key) {
    if (table.slotCount == 0) {
        return Matches{NO_ROW, 0};
    }
    return table.tableKind == TABLE_CHAINED ? findInChain(table, key) : findInSlots(table, key);
}

// The build row of the match of that number, counted from 0.
GPUJOIN_HD inline uint32_t matchAt(const Dimension& table, Matches matches, uint32_t index,
                                   int64_t key) {
    if (table.tableKind != TABLE_CHAINED) {
        return matches.first + index;
    }
    uint32_t row = matches.first;
    for (; index > 0; index--) {
        row = followChain(table, rowNext(table, row), key);
    }
    return row;
}

}  // namespace gpujoin
