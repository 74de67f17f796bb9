// Sums of groups. A step adds results up in a small table of its own block and adds that to the
// device's table at its end; what finds no place in the small table goes to the large one directly.
#pragma once

#include "facts.h"

namespace gpujoin {

constexpr uint32_t FREE_SLOT = 0xFFFFFFFFu;
constexpr uint32_t TAKEN_SLOT = 0xFFFFFFFEu;  // its group is being written

constexpr uint32_t LOCAL_GROUPS = 256;
constexpr uint32_t LOCAL_TRIES = 4;
constexpr uint32_t NOT_LOCAL = 0xFFFFFFFFu;

enum LocalState : uint32_t { LOCAL_FREE = 0, LOCAL_TAKEN = 1, LOCAL_READY = 2 };

struct GroupKey {
    int64_t column[MAX_GROUP_COLUMNS];
};

// The block's table, in shared memory. Sums are in two halves, because adding 32 bits there is one
// instruction and adding 64 bits is a loop that all threads of a group would wait in.
struct LocalSums {
    uint32_t state[LOCAL_GROUPS];
    int64_t column[MAX_GROUP_COLUMNS][LOCAL_GROUPS];
    uint32_t low[MAX_AGGREGATES][LOCAL_GROUPS];
    uint32_t high[MAX_AGGREGATES][LOCAL_GROUPS];
};

GPUJOIN_HD inline uint64_t hashGroup(const Aggregation& aggregation, const GroupKey& key) {
    uint64_t hash = 0;
    GPUJOIN_UNROLL
    for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
        if (c < aggregation.columnCount) {
            hash = keyHash(static_cast<int64_t>(hash + static_cast<uint64_t>(key.column[c])));
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

// The key's sums in the device's table, where they are made on the first call, by any number of
// threads at once. Steps stop before the table has no free slot.
GPUJOIN_HD inline uint64_t* findSums(const Aggregation& aggregation, const GroupKey& key,
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
                return groupAt(aggregation, row) + aggregation.columnCount;
            }
            continue;  // another thread took it, perhaps for this key
        }
        if (row == TAKEN_SLOT) {
            backOff(20);
            continue;
        }
        uint64_t* group = groupAt(aggregation, row);
        if (isGroupOf(aggregation, group, key)) {
            return group + aggregation.columnCount;
        }
        slot = slot + 1 == aggregation.slotCount ? 0 : slot + 1;
    }
}

// The key's place in the block's table; NOT_LOCAL where there is none near. A key that two threads
// bring at the same moment may get two places: nobody waits, and all places are added up in the end.
// Columns that the aggregation does not have are 0 in all keys.
GPUJOIN_HD inline uint32_t findLocal(LocalSums& local, const GroupKey& key, uint64_t hash) {
    for (uint32_t tries = 0; tries < LOCAL_TRIES; tries++) {
        uint32_t place = (static_cast<uint32_t>(hash) + tries) % LOCAL_GROUPS;
        // acquire: columns are read after the state that says they are there
        uint32_t state = loadAcquireBlock(&local.state[place]);
        if (state == LOCAL_FREE && compareExchangeRelaxedBlock(&local.state[place], LOCAL_FREE,
                                                               LOCAL_TAKEN) == LOCAL_FREE) {
            GPUJOIN_UNROLL
            for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
                local.column[c][place] = key.column[c];
            }
            storeReleaseBlock(&local.state[place], uint32_t{LOCAL_READY});
            return place;
        }
        bool same = state == LOCAL_READY;
        GPUJOIN_UNROLL
        for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
            same = same && local.column[c][place] == key.column[c];
        }
        if (same) {
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
        local.state[place] = LOCAL_FREE;
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
        if (local.state[place] != LOCAL_READY) {
            continue;
        }
        GroupKey key;
        GPUJOIN_UNROLL
        for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
            key.column[c] = local.column[c][place];
        }
        uint64_t* sums = findSums(aggregation, key, hashGroup(aggregation, key));
        for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
            uint64_t sum = uint64_t{local.high[a][place]} << 32 | local.low[a][place];
            fetchAddRelaxedDevice(&sums[a], sum);
        }
    }
}

}  // namespace gpujoin
