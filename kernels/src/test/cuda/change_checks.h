// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of tables with a changelog.
#pragma once

#include <map>
#include <optional>

#include "../../main/cuda/engine/change.h"
#include "build_side.h"

namespace gpujoin {

constexpr uint32_t CHANGING_THREADS = 4;

// A table with a changelog and its expected content: the narrow payload of each key, none if it
// was deleted.
struct ChangingSide {
    std::vector<uint64_t> rows;
    Dimension dimension{};
    uint64_t occupiedSlots = 0;
    std::map<int64_t, std::optional<uint32_t>> expected;

    explicit ChangingSide(uint32_t slotCount) {
        rows.assign(uint64_t{slotCount} * ROW_BYTES / 8, ~uint64_t{0});
        dimension.rows = reinterpret_cast<uint64_t>(rows.data());
        dimension.slots = dimension.rows;
        dimension.slotCount = slotCount;
        dimension.rowBytes = ROW_BYTES;
        dimension.tableKind = TABLE_UNIQUE;
        dimension.hashSeed = TEST_HASH_SEED;
        dimension.hashMultiplier = TEST_HASH_MULTIPLIER;
    }

    // Makes this one of several shards.
    void shard(uint32_t number, uint32_t count) {
        dimension.builtShard = static_cast<uint8_t>(number);
        dimension.builtShards = static_cast<uint8_t>(count);
    }

    // Applies the rows of a build side as changes, some of which are deletions.
    void apply(BuildSide& changes) {
        std::vector<uint32_t> slots(changes.keys.size());
        std::atomic<uint64_t> newSlots{0};
        changes.forEachRow(CHANGING_THREADS, [&](uint32_t change) {
            bool isNew;
            slots[change] = claimSlot(dimension, changes.build, change, isNew);
            newSlots += isNew ? 1 : 0;
        });
        changes.forEachRow(CHANGING_THREADS, [&](uint32_t change) {
            settleChange(dimension, changes.build, change, slots[change]);
        });
        occupiedSlots += newSlots;
        for (uint32_t change = 0; change < changes.keys.size(); change++) {
            if (!isOfTable(dimension, changes.keys[change])) {
                continue;
            }
            bool isThere = changeOf(changes.build, change) == CHANGE_UPSERT;
            expected[changes.keys[change]] =
                isThere ? std::optional<uint32_t>(change) : std::nullopt;
        }
    }

    uint32_t rowCount() const {
        uint32_t count = 0;
        for (uint32_t slot = 0; slot < dimension.slotCount; slot++) {
            count += rowNext(dimension, slot) == ROW_LIVE ? 1 : 0;
        }
        return count;
    }

    void moveTo(ChangingSide& other) {
        std::vector<std::thread> workers;
        for (uint32_t t = 0; t < CHANGING_THREADS; t++) {
            workers.emplace_back([&, t] {
                for (uint32_t slot = t; slot < dimension.slotCount; slot += CHANGING_THREADS) {
                    moveRow(dimension, slot, other.dimension);
                }
            });
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
        other.occupiedSlots = rowCount();
        std::erase_if(expected, [](const auto& row) { return !row.second; });
        other.expected = expected;
    }

    void requireExpected() const { requireExpectedIn(dimension); }

    // Looks up the keys of this table in `whole`, of which it may be a shard.
    void requireExpectedIn(const Dimension& whole) const {
        uint32_t rowsThere = 0;
        for (const auto& [key, payload] : expected) {
            Matches found = findMatches(whole, key);
            REQUIRE(found.count == (payload ? 1 : 0));
            REQUIRE((found.first == NO_ROW) == !payload);
            if (payload) {
                unsigned char* row = rowAt(whole, found.first);
                REQUIRE(rowKey(whole, found.first) == key);
                REQUIRE(*reinterpret_cast<uint32_t*>(row + NARROW_OFFSET) == *payload);
                REQUIRE(*reinterpret_cast<uint64_t*>(row + WIDE_OFFSET) ==
                        (uint64_t{*payload} << 32 | 7));
                rowsThere++;
            }
        }
        REQUIRE(rowCount() == rowsThere);
        REQUIRE(occupiedSlots == expected.size());
        REQUIRE(findMatches(whole, INT64_MIN + 1).count == 0);
    }
};

// Alternates between few keys, with many changes each, and many. Key -1 equals the content of empty
// slots.
inline void shouldKeepTheLastChangeOfEachKey(uint64_t seed) {
    std::mt19937_64 random(seed);
    ChangingSide side(1 << 13);
    for (int batch = 0; batch < 12; batch++) {
        int64_t distinct = batch % 3 == 0 ? 3 : 2000;
        BuildSide changes(randomKeys(random, random() % 3000, distinct), TABLE_UNIQUE, JOIN_INNER,
                          seed % 2 == 0 ? 8 : 4);
        for (uint32_t change = 0; change < changes.keys.size(); change++) {
            if (random() % 3 == 0) {
                changes.setDelete(change);
            }
        }
        side.apply(changes);
        side.requireExpected();
    }
}

inline void shouldDropDeletedKeysWhenATableMovesToNewSlots(uint64_t seed) {
    std::mt19937_64 random(seed);
    ChangingSide side(1 << 12);
    for (uint32_t slots : {1u << 13, 3000u, 1u << 14}) {
        BuildSide changes(randomKeys(random, 1000, 1200), TABLE_UNIQUE);
        for (uint32_t change = 0; change < changes.keys.size(); change++) {
            if (random() % 2 == 0) {
                changes.setDelete(change);
            }
        }
        side.apply(changes);
        side.requireExpected();
        ChangingSide next(slots);
        side.moveTo(next);
        next.requireExpected();
        REQUIRE(next.occupiedSlots < side.occupiedSlots);
        side = std::move(next);
        side.dimension.rows = reinterpret_cast<uint64_t>(side.rows.data());
    }
}

// Each shard applies the changes of its keys from the same runs, and grows on its own.
inline void shouldApplyEachChangeInTheShardOfItsKey(uint64_t seed) {
    std::mt19937_64 random(seed);
    uint32_t count = 2 + static_cast<uint32_t>(seed % 3);
    std::vector<ChangingSide> sides;
    for (uint32_t i = 0; i < count; i++) {
        sides.emplace_back(1 << 12);
        sides[i].shard(i, count);
    }
    for (int batch = 0; batch < 6; batch++) {
        BuildSide changes(randomKeys(random, random() % 1500, batch % 2 == 0 ? 5 : 1500),
                          TABLE_UNIQUE);
        for (uint32_t change = 0; change < changes.keys.size(); change++) {
            if (random() % 3 == 0) {
                changes.setDelete(change);
            }
        }
        for (ChangingSide& side : sides) {
            side.apply(changes);
        }
        uint32_t growing = static_cast<uint32_t>(random() % count);
        ChangingSide next((1 << 13) + 1000 * batch);
        next.shard(growing, count);
        sides[growing].moveTo(next);
        sides[growing] = std::move(next);
        std::vector<Shard> shards;
        for (ChangingSide& side : sides) {
            side.dimension.rows = reinterpret_cast<uint64_t>(side.rows.data());
            side.dimension.slots = side.dimension.rows;
            shards.push_back(
                {side.dimension.slots, side.dimension.rows, side.dimension.slotCount, 0});
        }
        Dimension whole = sides[0].dimension;
        whole.builtShards = 0;
        whole.slots = reinterpret_cast<uint64_t>(shards.data());
        whole.shardCount = static_cast<uint8_t>(count);
        whole.rowShift = static_cast<uint8_t>(__builtin_clz(count - 1));
        for (const ChangingSide& side : sides) {
            side.requireExpectedIn(whole);
        }
    }
}

inline void shouldReferToVariableWidthBytesOfLiveRows() {
    ChangingSide side(64);
    BuildSide changes({5, 6, 7, 6}, TABLE_UNIQUE);
    changes.setDelete(3);
    side.apply(changes);
    uint32_t references = 0;
    for (uint32_t slot = 0; slot < side.dimension.slotCount; slot++) {
        uint64_t* ref = variableWidthRefOf(side.dimension, slot, WIDE_OFFSET);
        if (ref != nullptr) {
            REQUIRE((*ref & 0xFFFFFFFF) == 7);
            references++;
        }
    }
    REQUIRE(references == 2);
}

}  // namespace gpujoin
