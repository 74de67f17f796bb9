// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Lookup in hash tables; build.h builds them.
//
// UNIQUE   open addressing; slots are rows, and a key has one row. Also used for changelog
//          dimensions, where change.h updates the table.
// CHAINED  head-and-chain: preallocated heads and rows, one exchange an insert (Thostrup et al.,
//          "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2).
// GROUPED  open addressing over rows grouped by key: the number of matches of a key is known, and
//          any match is found in one access, whatever the multiplicity.
//
// A table that is too large for a device is divided into shards, one on each device.
#pragma once

#include "hash.h"
#include "integers.h"
#include "layout.h"
#include "portable.h"

namespace gpujoin {

// Matches of a key: `count` rows, the first one at `first`, which is NO_ROW if there is none.
struct Matches {
    uint32_t first;
    uint32_t count;
};

// Not inlined, so that whole tables keep their registers.
GPUJOIN_NOINLINE unsigned char* rowOfShard(const Dimension& table, uint64_t row) {
    const Shard* shards = reinterpret_cast<const Shard*>(table.slots);
    uint64_t rows = shards[row >> table.rowShift].rows;
    uint64_t local = row & ((uint64_t{1} << table.rowShift) - 1);
    return reinterpret_cast<unsigned char*>(rows) + table.rowBytes * local;
}

GPUJOIN_HD inline unsigned char* rowAt(const Dimension& table, uint64_t row) {
    if (table.shardCount != 0) {
        return rowOfShard(table, row);
    }
    return reinterpret_cast<unsigned char*>(table.rows) + table.rowBytes * row;
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

template <typename T>
GPUJOIN_HD inline T loadOnce(const T* at) {
#if defined(__CUDA_ARCH__)
    return __ldg(at);
#else
    return *at;
#endif
}

// Returns the slot at which the search for a key begins.
GPUJOIN_HD inline uint32_t slotOf(const Dimension& table, int64_t key) {
    return hashSlot(slotHash(key, table.hashSeed, table.hashMultiplier), table.slotCount);
}

GPUJOIN_HD inline Matches findInRows(const Dimension& table, int64_t key, uint32_t slot) {
    while (true) {
        const unsigned char* row =
            reinterpret_cast<const unsigned char*>(table.rows) + uint64_t{table.rowBytes} * slot;
        int64_t found = loadOnce(reinterpret_cast<const int64_t*>(row + ROW_KEY_OFFSET));
        uint32_t next = loadOnce(reinterpret_cast<const uint32_t*>(row + ROW_NEXT_OFFSET));
        if (next == NO_ROW) {
            return Matches{NO_ROW, 0};
        }
        if (found == key) {
            return next == ROW_DELETED ? Matches{NO_ROW, 0} : Matches{slot, 1};
        }
        slot = slot + 1 == table.slotCount ? 0 : slot + 1;
    }
}

GPUJOIN_HD inline Matches findInSlots(const Dimension& table, int64_t key, uint32_t slot) {
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

// Returns the first row with the key in the chain that starts at `row`, or NO_ROW.
GPUJOIN_HD inline uint32_t followChain(const Dimension& table, uint32_t row, int64_t key) {
    while (row != NO_ROW && rowKey(table, row) != key) {
        row = rowNext(table, row);
    }
    return row;
}

GPUJOIN_HD inline Matches findInChain(const Dimension& table, int64_t key) {
    const uint32_t* heads = reinterpret_cast<const uint32_t*>(table.slots);
    uint32_t head = heads[slotOf(table, key)];
    Matches matches{followChain(table, head, key), 0};
    for (uint32_t row = matches.first; row != NO_ROW;
         row = followChain(table, rowNext(table, row), key)) {
        matches.count++;
    }
    return matches;
}

// Looks up a key in its shard, which may be in the memory of another device.
GPUJOIN_NOINLINE Matches findInShard(const Dimension& table, int64_t key) {
    uint64_t hash = slotHash(key, table.hashSeed, table.hashMultiplier);
    uint32_t number = shardOf(hash, table.shardCount);
    const Shard& shard = reinterpret_cast<const Shard*>(table.slots)[number];
    Dimension local;
    local.slots = loadOnce(&shard.slots);
    local.rows = loadOnce(&shard.rows);
    local.slotCount = loadOnce(&shard.slotCount);
    local.rowBytes = table.rowBytes;
    if (local.slotCount == 0) {
        return Matches{NO_ROW, 0};
    }
    uint32_t slot = slotOfShard(hash, table.shardCount, local.slotCount);
    Matches found = table.tableKind == TABLE_UNIQUE ? findInRows(local, key, slot)
                                                    : findInSlots(local, key, slot);
    if (found.first != NO_ROW) {
        found.first |= number << table.rowShift;
    }
    return found;
}

GPUJOIN_HD inline Matches findMatches(const Dimension& table, int64_t key) {
    if (table.shardCount != 0) {
        return findInShard(table, key);
    }
    if (table.slotCount == 0) {
        return Matches{NO_ROW, 0};
    }
    switch (table.tableKind) {
        case TABLE_UNIQUE:
            return findInRows(table, key, slotOf(table, key));
        case TABLE_CHAINED:
            return findInChain(table, key);
        default:
            return findInSlots(table, key, slotOf(table, key));
    }
}

// Returns the build row of match number `index`, counted from 0.
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
