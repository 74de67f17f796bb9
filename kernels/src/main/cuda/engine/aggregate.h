// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Aggregation by group. The device table holds the groups of all blocks. A step first adds results
// to a small table of its block, whose entries refer to groups of the device table, and adds these
// sums to the device table at its end. Results that find no entry in the small table are added to
// the device table directly.
#pragma once

#include "facts.h"

namespace gpujoin {

constexpr uint32_t FREE_SLOT = 0xFFFFFFFFu;
constexpr uint32_t TAKEN_SLOT = 0xFFFFFFFEu;  // its group is being initialized

constexpr uint32_t LOCAL_GROUPS = 256;
constexpr uint32_t LOCAL_TRIES = 4;
constexpr uint32_t NOT_LOCAL = 0xFFFFFFFFu;

struct GroupKey {
    int64_t column[MAX_GROUP_COLUMNS];
};

// The table of a block in shared memory: sums since the step began. A sum has two halves, because a
// 32-bit atomic addition is one instruction there, while a 64-bit one is a loop in which all
// threads of a group would wait.
struct LocalSums {
    uint32_t group[LOCAL_GROUPS];  // row of the group in the device table, or FREE_SLOT
    uint32_t low[MAX_AGGREGATES][LOCAL_GROUPS];
    uint32_t high[MAX_AGGREGATES][LOCAL_GROUPS];
};

GPUJOIN_HD inline uint64_t hashGroup(const Aggregation& aggregation, const GroupKey& key) {
    uint64_t hash = 0;
    GPUJOIN_UNROLL
    for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
        if (c < aggregation.columnCount) {
            uint64_t mixed = hash + static_cast<uint64_t>(key.column[c]);
            hash = slotHash(static_cast<int64_t>(mixed), aggregation.hashSeed,
                            aggregation.hashMultiplier);
        }
    }
    return hash;
}

GPUJOIN_HD inline uint64_t* groupAt(const Aggregation& aggregation, uint32_t row) {
    return reinterpret_cast<uint64_t*>(aggregation.groups) +
           uint64_t{aggregation.columnCount + aggregation.aggregateCount} * row;
}

GPUJOIN_HD inline bool isGroupOf(const Aggregation& aggregation, const uint64_t* group,
                                 const GroupKey& key) {
    bool same = true;
    GPUJOIN_UNROLL
    for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
        same &= c >= aggregation.columnCount || group[c] == static_cast<uint64_t>(key.column[c]);
    }
    return same;
}

GPUJOIN_HD inline void writeGroup(const Aggregation& aggregation, uint64_t* group,
                                  const GroupKey& key) {
    GPUJOIN_UNROLL
    for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
        if (c < aggregation.columnCount) {
            group[c] = static_cast<uint64_t>(key.column[c]);
        }
    }
    for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
        group[aggregation.columnCount + a] = 0;
    }
}

// Returns the row of the key in the device table, and inserts it on the first call. Thread-safe.
// Steps stop before the table runs out of free slots.
GPUJOIN_HD inline uint32_t findGroup(const Aggregation& aggregation, const GroupKey& key,
                                     uint64_t hash) {
    uint32_t* slots = reinterpret_cast<uint32_t*>(aggregation.slots);
    uint32_t slot = hashSlot(hash, aggregation.slotCount);
    while (true) {
        // acquire: the group is read after the slot that refers to it
        uint32_t row = loadAcquireDevice(&slots[slot]);
        if (row == FREE_SLOT) {
            row = compareExchangeRelaxedDevice(&slots[slot], FREE_SLOT, TAKEN_SLOT);
            if (row == FREE_SLOT) {
                row =
                    fetchAddRelaxedDevice(reinterpret_cast<uint32_t*>(aggregation.groupCount), 1u);
                writeGroup(aggregation, groupAt(aggregation, row), key);
                // release: the group is complete before its slot refers to it
                storeReleaseDevice(&slots[slot], row);
                return row;
            }
            continue;  // another thread took the slot, perhaps for this key
        }
        if (row == TAKEN_SLOT) {
            backOff(20);
            continue;
        }
        if (isGroupOf(aggregation, groupAt(aggregation, row), key)) {
            return row;
        }
        slot = slot + 1 == aggregation.slotCount ? 0 : slot + 1;
    }
}

GPUJOIN_HD inline uint64_t* sumsAt(const Aggregation& aggregation, uint32_t row) {
    return groupAt(aggregation, row) + aggregation.columnCount;
}

// Returns the entry of the key in the table of the block, or NOT_LOCAL if none near its hash is
// free. An entry is one word, the row of the group in the device table, which the first thread with
// the key looks up. All accesses to these words are atomic, so none of them race.
GPUJOIN_HD inline uint32_t findLocal(const Aggregation& aggregation, LocalSums& local,
                                     const GroupKey& key, uint64_t hash) {
    uint32_t own = FREE_SLOT;
    for (uint32_t tries = 0; tries < LOCAL_TRIES; tries++) {
        uint32_t entry = (static_cast<uint32_t>(hash) + tries) % LOCAL_GROUPS;
        uint32_t* word = &local.group[entry];
        // acquire and release: a thread that reads the row here may read the group, like the thread
        // that found it in the device table
        uint32_t row = compareExchangeBlock(word, FREE_SLOT, own);
        if (row == FREE_SLOT && own == FREE_SLOT) {
            own = findGroup(aggregation, key, hash);
            row = compareExchangeBlock(word, FREE_SLOT, own);
        }
        if (row == FREE_SLOT || row == own ||
            isGroupOf(aggregation, groupAt(aggregation, row), key)) {
            return entry;
        }
    }
    return NOT_LOCAL;
}

GPUJOIN_HD inline void addLocal(LocalSums& local, uint32_t aggregate, uint32_t entry,
                                uint64_t value) {
    uint32_t low = static_cast<uint32_t>(value);
    uint32_t before = fetchAddRelaxedBlock(&local.low[aggregate][entry], low);
    uint32_t carry = before + low < before ? 1 : 0;
    uint32_t high = static_cast<uint32_t>(value >> 32) + carry;
    if (high != 0) {
        fetchAddRelaxedBlock(&local.high[aggregate][entry], high);
    }
}

template <typename Group>
GPUJOIN_HD inline void clearLocal(Group& group, LocalSums& local) {
    for (uint32_t entry = group.rank(); entry < LOCAL_GROUPS; entry += group.size()) {
        local.group[entry] = FREE_SLOT;
        for (uint32_t a = 0; a < MAX_AGGREGATES; a++) {
            local.low[a][entry] = 0;
            local.high[a][entry] = 0;
        }
    }
}

// Adds the sums of the block to the device table.
template <typename Group>
GPUJOIN_HD inline void addLocalSums(Group& group, const Aggregation& aggregation,
                                    const LocalSums& local) {
    for (uint32_t entry = group.rank(); entry < LOCAL_GROUPS; entry += group.size()) {
        if (local.group[entry] == FREE_SLOT) {
            continue;
        }
        uint64_t* sums = sumsAt(aggregation, local.group[entry]);
        for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
            uint64_t sum = uint64_t{local.high[a][entry]} << 32 | local.low[a][entry];
            fetchAddRelaxedDevice(&sums[a], sum);
        }
    }
}

}  // namespace gpujoin
