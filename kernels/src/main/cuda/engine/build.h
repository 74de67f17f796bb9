// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Builds tables with any number of threads, from build rows in device memory, stored by columns in
// order of arrival. The kernels are loops around these functions.
#pragma once

#include "table.h"

namespace gpujoin {

// A column of a run and its position in a build row. Column 0 is the key.
struct BuildColumn {
    uint32_t runOffset;
    uint32_t rowOffset;
    uint32_t widthBytes;  // 1, 2, 4 or 8
    uint32_t reserved;
};
static_assert(sizeof(BuildColumn) == 16);

// The build rows of a dimension in order of arrival: runs of 2^runShift rows each, of which only
// the last may have fewer. Drawn in BuildRunLayout.
struct BuildRuns {
    uint64_t runs;     // device memory: uint64_t[], the address of each run
    uint64_t columns;  // device memory: BuildColumn[columnCount]
    uint32_t runShift;
    uint32_t columnCount;
    uint32_t changeOffset;  // in a run: RowChange[], for a changelog dimension
    uint32_t reserved;
};
static_assert(sizeof(BuildRuns) == 32);

GPUJOIN_HD inline const unsigned char* runValue(const BuildRuns& build, uint32_t runOffset,
                                                uint32_t widthBytes, uint32_t row) {
    uint64_t run = reinterpret_cast<const uint64_t*>(build.runs)[row >> build.runShift];
    uint32_t rowOfRun = row & ((1u << build.runShift) - 1);
    return reinterpret_cast<const unsigned char*>(run) + runOffset +
           uint64_t{widthBytes} * rowOfRun;
}

GPUJOIN_HD inline const unsigned char* buildValue(const BuildRuns& build, const BuildColumn& column,
                                                  uint32_t row) {
    return runValue(build, column.runOffset, column.widthBytes, row);
}

GPUJOIN_HD inline int64_t buildInteger(const BuildRuns& build, const BuildColumn& column,
                                       uint32_t row) {
    return loadInteger(buildValue(build, column, row), column.widthBytes);
}

GPUJOIN_HD inline int64_t buildKey(const BuildRuns& build, uint32_t row) {
    return buildInteger(build, *reinterpret_cast<const BuildColumn*>(build.columns), row);
}

// Least and greatest value of a column of a dimension.
struct PayloadRange {
    int64_t least;
    int64_t greatest;
};
static_assert(sizeof(PayloadRange) == 16);

GPUJOIN_HD inline void widenRange(PayloadRange& range, int64_t value) {
    range.least = value < range.least ? value : range.least;
    range.greatest = value > range.greatest ? value : range.greatest;
}

// Returns whether a key belongs to the table that is built, which may be a shard.
GPUJOIN_HD inline bool isOfTable(const Dimension& table, int64_t key) {
    return table.builtShards == 0 || shardOf(slotHash(key, table.hashSeed, table.hashMultiplier),
                                             table.builtShards) == table.builtShard;
}

// Returns the slot at which the search for a key begins in the table that is built.
GPUJOIN_HD inline uint32_t builtSlotOf(const Dimension& table, int64_t key) {
    if (table.builtShards == 0) {
        return slotOf(table, key);
    }
    uint64_t hash = slotHash(key, table.hashSeed, table.hashMultiplier);
    return slotOfShard(hash, table.builtShards, table.slotCount);
}

// Writes all fields of a row except `next`.
GPUJOIN_HD inline void writeRow(const Dimension& table, uint64_t target, const BuildRuns& build,
                                uint32_t row, int64_t key) {
    unsigned char* to = rowAt(table, target);
    *reinterpret_cast<int64_t*>(to + ROW_KEY_OFFSET) = key;
    const BuildColumn* columns = reinterpret_cast<const BuildColumn*>(build.columns);
    for (uint32_t c = 1; c < build.columnCount; c++) {
        BuildColumn column = columns[c];
        storeInteger(to + column.rowOffset, column.widthBytes,
                     static_cast<uint64_t>(buildInteger(build, column, row)));
    }
}

GPUJOIN_HD inline void insertChained(const Dimension& table, const BuildRuns& build, uint32_t row) {
    uint32_t* heads = reinterpret_cast<uint32_t*>(table.slots);
    int64_t key = buildKey(build, row);
    uint32_t slot = slotOf(table, key);
    writeRow(table, row, build, row, key);
    rowNext(table, row) = exchangeRelaxedDevice(&heads[slot], row);
}

// Insertion takes rows whose key is of the table that is built, see isOfTable.

// Returns the slot of the key of a row. If no row of the key occupies one, this row does: then
// `isFirst`. `firstRow(slot)` is the word that holds the first row of a slot. All bytes of slots
// are initially 0xFF, and at least one slot more than there are keys exists. Keys are compared in
// the build rows, which are complete before any insert, so a thread may see a slot as occupied
// before its other fields are written.
template <typename FirstRow>
GPUJOIN_HD inline uint32_t acquireSlot(const Dimension& table, const BuildRuns& build, uint32_t row,
                                       int64_t key, bool& isFirst, FirstRow firstRow) {
    uint32_t slot = builtSlotOf(table, key);
    while (true) {
        // load first: an exchange on an occupied slot would only delay other threads
        uint32_t found = loadRelaxedDevice(firstRow(slot));
        if (found == NO_ROW) {
            found = compareExchangeRelaxedDevice(firstRow(slot), NO_ROW, row);
        }
        isFirst = found == NO_ROW;
        if (isFirst || buildKey(build, found) == key) {
            return slot;
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

// Returns false if the key is present already; the table keeps the row that was inserted first.
GPUJOIN_HD inline bool insertUnique(const Dimension& table, const BuildRuns& build, uint32_t row,
                                    int64_t key) {
    bool isFirst;
    uint32_t slot = acquireSlot(table, build, row, key, isFirst,
                                [&table](uint32_t at) { return &rowNext(table, at); });
    if (isFirst) {
        writeRow(table, slot, build, row, key);
    }
    return isFirst;
}

// Grouping, first pass: counts a row in the slot of its key. Counts start at -1, because all bytes
// of a slot are initially 0xFF.
GPUJOIN_HD inline void countInGroup(const Dimension& table, const BuildRuns& build, uint32_t row,
                                    int64_t key) {
    KeySlot* slots = keySlots(table);
    bool isFirst;
    uint32_t slot = acquireSlot(table, build, row, key, isFirst,
                                [slots](uint32_t at) { return &slots[at].first; });
    if (isFirst) {
        slots[slot].key = key;
    }
    fetchAddRelaxedDevice(&slots[slot].count, 1u);
}

// Second pass, over slots: assigns a range of rows to the group of a slot and returns its size.
// Until the third pass has ended, `first` is the end of the free rows of the range.
GPUJOIN_HD inline uint32_t allocateGroup(const Dimension& table, uint32_t slot, uint32_t* nextRow) {
    KeySlot& group = keySlots(table)[slot];
    if (group.first == NO_ROW) {
        return 0;
    }
    group.count += 1;
    group.first = fetchAddRelaxedDevice(nextRow, group.count) + group.count;
    return group.count;
}

// Third pass: writes a row to the last free row of its group. Finding the slot again takes one
// access, as reading the range of a stored slot would.
GPUJOIN_HD inline void writeToGroup(const Dimension& table, const BuildRuns& build, uint32_t row,
                                    int64_t key) {
    KeySlot* slots = keySlots(table);
    uint32_t slot = builtSlotOf(table, key);
    // The key has a slot, and no slot before it is empty.
    while (slots[slot].key != key) {
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
    uint32_t end = fetchAddRelaxedDevice(&slots[slot].first, ~0u);  // subtracts 1
    writeRow(table, end - 1, build, row, key);
}

}  // namespace gpujoin
