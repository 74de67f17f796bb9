// Sums of groups. The device's table has the groups of all blocks. A step adds results up in a small
// table of its own block, whose places name groups of the large one, and adds its sums to theirs at
// its end; what finds no place in the small table goes to the large one directly.
#pragma once

#include "facts.h"

namespace gpujoin {

constexpr uint32_t FREE_SLOT = 0xFFFFFFFFu;
constexpr uint32_t TAKEN_SLOT = 0xFFFFFFFEu;  // its group is being written

constexpr uint32_t LOCAL_GROUPS = 256;
constexpr uint32_t LOCAL_TRIES = 4;
constexpr uint32_t NOT_LOCAL = 0xFFFFFFFFu;

struct GroupKey {
    int64_t column[MAX_GROUP_COLUMNS];
};

// The block's table, in shared memory: sums of groups of the device's table since the step began.
// Sums are in two halves, because adding 32 bits there is one instruction and adding 64 bits is a
// loop that all threads of a group would wait in.
struct LocalSums {
    uint32_t group[LOCAL_GROUPS];  // row of the group in the device's table, or FREE_SLOT
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

// The key's row in the device's table, where it is made on the first call, by any number of threads
// at once. Steps stop before the table has no free slot.
GPUJOIN_HD inline uint32_t findGroup(const Aggregation& aggregation, const GroupKey& key,
                                     uint64_t hash) {
    uint32_t* slots = reinterpret_cast<uint32_t*>(aggregation.slots);
    uint32_t slot = hashSlot(hash, aggregation.slotCount);
    while (true) {
        // acquire: the group is read after the slot that names it
        uint32_t row = loadAcquireDevice(&slots[slot]);
        if (row == FREE_SLOT) {
            row = compareExchangeRelaxedDevice(&slots[slot], FREE_SLOT, TAKEN_SLOT);
            if (row == FREE_SLOT) {
                row = fetchAddRelaxedDevice(reinterpret_cast<uint32_t*>(aggregation.groupCount), 1u);
                writeGroup(aggregation, groupAt(aggregation, row), key);
                // release: the group is whole before its slot names it
                storeReleaseDevice(&slots[slot], row);
                return row;
            }
            continue;  // another thread took it, perhaps for this key
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

// The key's place in the block's table; NOT_LOCAL where there is none near. A place is one word, the
// group's row in the device's table, which is looked up by the first thread that brings the key.
// Words are read and written by atomic operations alone, so that no access races with another.
GPUJOIN_HD inline uint32_t findLocal(const Aggregation& aggregation, LocalSums& local,
                                     const GroupKey& key, uint64_t hash) {
    uint32_t own = FREE_SLOT;
    for (uint32_t tries = 0; tries < LOCAL_TRIES; tries++) {
        uint32_t place = (static_cast<uint32_t>(hash) + tries) % LOCAL_GROUPS;
        uint32_t* word = &local.group[place];
        // acquire and release: who reads the row here may read the group, as the thread that found
        // it in the device's table may
        uint32_t row = compareExchangeBlock(word, FREE_SLOT, own);
        if (row == FREE_SLOT && own == FREE_SLOT) {
            own = findGroup(aggregation, key, hash);
            row = compareExchangeBlock(word, FREE_SLOT, own);
        }
        if (row == FREE_SLOT || row == own ||
            isGroupOf(aggregation, groupAt(aggregation, row), key)) {
            return place;
        }
    }
    return NOT_LOCAL;
}

GPUJOIN_HD inline void addLocal(LocalSums& local, uint32_t aggregate, uint32_t place,
                                uint64_t value) {
    uint32_t low = static_cast<uint32_t>(value);
    uint32_t before = fetchAddRelaxedBlock(&local.low[aggregate][place], low);
    uint32_t carry = before + low < before ? 1 : 0;
    uint32_t high = static_cast<uint32_t>(value >> 32) + carry;
    if (high != 0) {
        fetchAddRelaxedBlock(&local.high[aggregate][place], high);
    }
}

template <typename Group>
GPUJOIN_HD inline void clearLocal(Group& group, LocalSums& local) {
    for (uint32_t place = group.rank(); place < LOCAL_GROUPS; place += group.size()) {
        local.group[place] = FREE_SLOT;
        for (uint32_t a = 0; a < MAX_AGGREGATES; a++) {
            local.low[a][place] = 0;
            local.high[a][place] = 0;
        }
    }
}

// Adds the block's sums to the device's.
template <typename Group>
GPUJOIN_HD inline void addLocalSums(Group& group, const Aggregation& aggregation,
                                    const LocalSums& local) {
    for (uint32_t place = group.rank(); place < LOCAL_GROUPS; place += group.size()) {
        if (local.group[place] == FREE_SLOT) {
            continue;
        }
        uint64_t* sums = sumsAt(aggregation, local.group[place]);
        for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
            uint64_t sum = uint64_t{local.high[a][place]} << 32 | local.low[a][place];
            fetchAddRelaxedDevice(&sums[a], sum);
        }
    }
}

}  // namespace gpujoin
