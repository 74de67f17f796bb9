// How the table of a dimension that changes is changed in place: by any number of threads at once,
// while no kernel probes. Changes lie in device memory as build rows do, in order of arrival; of the
// changes of a key the last one counts.
//
//   claimSlot     each change finds its key's slot and leaves its number in `next`, unless a later
//                 change of the key was there before; rows stay as they are
//   settleChange  the changes whose numbers are still there write their rows
//
// A key keeps its slot when its row is deleted, so that none of the keys behind it is lost; moveRow
// leaves such slots behind when the table gets new ones.
//
// Bytes moved a change: its columns, 4 bytes of its place twice, and two random accesses to one slot,
// of which one is an atomic exchange. So 2^20 changes take well below a millisecond on a device, and
// the bus that brings them is the bound.
#pragma once

#include "build.h"

namespace gpujoin {

GPUJOIN_HD inline RowChange changeOf(const BuildRuns& changes, uint32_t change) {
    const unsigned char* code = runValue(changes, changes.changeOffset, 4, change);
    return static_cast<RowChange>(*reinterpret_cast<const uint32_t*>(code));
}

// Whether a slot that is taken holds a row, or did, rather than the number of a change.
GPUJOIN_HD inline bool isSettled(uint32_t next) {
    return next == ROW_LIVE || next == ROW_DELETED;
}

// Has the last change of a slot's key stand in its `next`, where `found` was seen.
GPUJOIN_HD inline void keepLastChange(uint32_t* next, uint32_t found, uint32_t change) {
    while (isSettled(found) || found < change) {
        uint32_t seen = compareExchangeRelaxedDevice(next, found, change);
        if (seen == found) {
            return;
        }
        found = seen;
    }
}

// The slot of the change's key; `isNew` where none had it before, and this change took it. There is
// one free slot more, at least, than there are changes.
GPUJOIN_HD inline uint32_t claimSlot(const Dimension& table, const BuildRuns& changes,
                                     uint32_t change, bool& isNew) {
    int64_t key = buildKey(changes, change);
    uint32_t slot = slotOf(table, key);
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
        // No row is written before all slots are claimed: neither of the two keys changes.
        if ((isSettled(found) ? rowKey(table, slot) : buildKey(changes, found)) == key) {
            keepLastChange(next, found, change);
            return slot;
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

// Writes the change to its slot, unless a later one of its key does.
GPUJOIN_HD inline void settleChange(const Dimension& table, const BuildRuns& changes,
                                    uint32_t change, uint32_t slot) {
    uint32_t* next = &rowNext(table, slot);
    if (loadRelaxedDevice(next) != change) {
        return;
    }
    writeRow(table, slot, changes, change, buildKey(changes, change));
    bool isThere = changeOf(changes, change) == CHANGE_UPSERT;
    storeRelaxedDevice(next, isThere ? ROW_LIVE : ROW_DELETED);
}

// Moves a slot's row, if it has one, to a table that does not have its key.
GPUJOIN_HD inline void moveRow(const Dimension& from, uint32_t slot, const Dimension& to) {
    if (rowNext(from, slot) != ROW_LIVE) {
        return;
    }
    uint32_t target = slotOf(to, rowKey(from, slot));
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

// Where the row of a slot refers to carried bytes; null where there is no row.
GPUJOIN_HD inline uint64_t* carriedRefOf(const Dimension& table, uint32_t slot,
                                         uint32_t carriedOffset) {
    return rowNext(table, slot) == ROW_LIVE
               ? reinterpret_cast<uint64_t*>(rowAt(table, slot) + carriedOffset)
               : nullptr;
}

}  // namespace gpujoin
