// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Applies a changelog to a table in place, with any number of threads, while no kernel probes.
// Changes are in device memory like build rows, in order of arrival; the last change of a key wins.
//
//   claimSlot     each change finds the slot of its key and writes its number to `next`, unless a
//                 later change of the key already has; rows are not modified
//   settleChange  the changes whose numbers remain write their rows
//
// If the table is a shard, each device ignores the changes of other shards. It reads the runs of all
// devices, so that changes of a key keep their order of arrival.
//
// A deleted row keeps its slot, so that keys further along the probe sequence stay reachable.
// moveRow drops such slots when the table moves to new ones.
//
// Bytes moved a change: its columns, its 4-byte slot number twice, and two random accesses to one
// slot, one of them an atomic exchange. 2^20 changes therefore take well below a millisecond on a
// device, and the bus that transfers them is the bottleneck.
#pragma once

#include "build.h"

namespace gpujoin {

GPUJOIN_HD inline RowChange changeOf(const BuildRuns& changes, uint32_t change) {
    const unsigned char* code = runValue(changes, changes.changeOffset, 4, change);
    return static_cast<RowChange>(*reinterpret_cast<const uint32_t*>(code));
}

// Returns whether an occupied slot is live or deleted, rather than claimed by a change.
GPUJOIN_HD inline bool isSettled(uint32_t next) { return next == ROW_LIVE || next == ROW_DELETED; }

// Stores the number of the change in `next`, where `found` was seen, unless a later one is there.
GPUJOIN_HD inline void keepLastChange(uint32_t* next, uint32_t found, uint32_t change) {
    while (isSettled(found) || found < change) {
        uint32_t seen = compareExchangeRelaxedDevice(next, found, change);
        if (seen == found) {
            return;
        }
        found = seen;
    }
}

// Returns the slot of the key of the change, or NO_ROW if the key belongs to another shard; `isNew`
// if this change occupies an empty slot. At least one more slot is free than the table has changes.
GPUJOIN_HD inline uint32_t claimSlot(const Dimension& table, const BuildRuns& changes,
                                     uint32_t change, bool& isNew) {
    int64_t key = buildKey(changes, change);
    isNew = false;
    if (!isOfTable(table, key)) {
        return NO_ROW;
    }
    uint32_t slot = builtSlotOf(table, key);
    while (true) {
        uint32_t* next = &rowNext(table, slot);
        uint32_t found = loadRelaxedDevice(next);
        if (found == NO_ROW) {
            found = compareExchangeRelaxedDevice(next, NO_ROW, change);
        }
        isNew = found == NO_ROW;
        if (isNew) {
            return slot;
        }
        // No row is written before all slots are claimed, so neither key can change.
        if ((isSettled(found) ? rowKey(table, slot) : buildKey(changes, found)) == key) {
            keepLastChange(next, found, change);
            return slot;
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

// Writes the change to its slot, if it has one and no later change of its key has claimed it.
GPUJOIN_HD inline void settleChange(const Dimension& table, const BuildRuns& changes,
                                    uint32_t change, uint32_t slot) {
    if (slot == NO_ROW) {
        return;
    }
    uint32_t* next = &rowNext(table, slot);
    if (loadRelaxedDevice(next) != change) {
        return;
    }
    writeRow(table, slot, changes, change, buildKey(changes, change));
    bool isThere = changeOf(changes, change) == CHANGE_UPSERT;
    storeRelaxedDevice(next, isThere ? ROW_LIVE : ROW_DELETED);
}

// Moves the live row of a slot, if any, to a table that does not contain its key.
GPUJOIN_HD inline void moveRow(const Dimension& from, uint32_t slot, const Dimension& to) {
    if (rowNext(from, slot) != ROW_LIVE) {
        return;
    }
    uint32_t target = builtSlotOf(to, rowKey(from, slot));
    while (compareExchangeRelaxedDevice(&rowNext(to, target), NO_ROW, ROW_LIVE) != NO_ROW) {
        target = target + 1 == to.slotCount ? 0 : target + 1;
    }
    const uint32_t* source = reinterpret_cast<const uint32_t*>(rowAt(from, slot));
    uint32_t* words = reinterpret_cast<uint32_t*>(rowAt(to, target));
    for (uint32_t word = 0; word < to.rowBytes / 4; word++) {
        if (word != ROW_NEXT_OFFSET / 4) {
            words[word] = source[word];
        }
    }
}

// Returns the address of the reference to variable-width columns in the row of a slot, or null if
// the slot has no live row.
GPUJOIN_HD inline uint64_t* variableWidthRefOf(const Dimension& table, uint32_t slot,
                                               uint32_t variableWidthOffset) {
    return rowNext(table, slot) == ROW_LIVE
               ? reinterpret_cast<uint64_t*>(rowAt(table, slot) + variableWidthOffset)
               : nullptr;
}

}  // namespace gpujoin
