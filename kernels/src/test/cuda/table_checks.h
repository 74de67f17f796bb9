// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of the tables.
#pragma once

#include <algorithm>
#include <map>

#include "build_side.h"

namespace gpujoin {

inline void shouldFindEveryRowOfAKey(TableKind kind, uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide side(randomKeys(random, 20000, 3000), kind, JOIN_INNER, 8u >> seed % 3);
    side.insertAll(4);
    std::map<int64_t, std::vector<uint32_t>> expected;
    for (uint32_t row = 0; row < side.keys.size(); row++) {
        expected[side.keys[row]].push_back(row);
    }
    for (int64_t key = -2000; key < 2000; key++) {
        Matches matches = findMatches(side.dimension, key);
        std::vector<uint32_t> found;
        for (uint32_t i = 0; i < matches.count; i++) {
            found.push_back(side.origin(matchAt(side.dimension, matches, i, key)));
        }
        std::sort(found.begin(), found.end());
        REQUIRE(found == expected[key]);
    }
}

// Returns the key with a given hash: the inverse of keyHash.
inline int64_t keyOfHash(uint64_t hash) {
    constexpr uint64_t FACTOR = 0xD6E8FEB86659FD93ull;
    uint64_t inverse = FACTOR;
    for (int i = 0; i < 5; i++) {
        inverse *= 2 - FACTOR * inverse;
    }
    uint64_t key = hash ^ hash >> 32;
    for (int round = 0; round < 2; round++) {
        key *= inverse;
        key ^= key >> 32;
    }
    return static_cast<int64_t>(key);
}

// All keys have one slot by keyHash. Checks the distance of rows from the slots of their keys in an
// open-addressing table.
inline void shouldSpreadKeysThatWereCraftedForOneSlot() {
    std::vector<int64_t> keys;
    for (uint64_t low = 0; low < 1 << 13; low++) {
        keys.push_back(keyOfHash(0x5EED000000000000ull | low));
        REQUIRE(keyHash(keys.back()) == (0x5EED000000000000ull | low));
    }
    BuildSide side(keys, TABLE_UNIQUE);
    REQUIRE(side.insertAll(4) == 0);
    uint64_t probeSteps = 0;
    for (int64_t key : keys) {
        Matches matches = findMatches(side.dimension, key);
        REQUIRE(matches.count == 1);
        uint32_t slot = slotOf(side.dimension, key);
        probeSteps += matches.first >= slot ? matches.first - slot
                                            : matches.first + side.dimension.slotCount - slot;
    }
    REQUIRE(probeSteps < keys.size());
}

inline void shouldKeepOneRowOfEachKeyAndCountTheOthers(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> keys = randomKeys(random, 20000, 15000);
    keys.push_back(INT64_MIN);
    keys.push_back(INT64_MAX);
    keys.push_back(-1);
    BuildSide side(keys, TABLE_UNIQUE);
    std::map<int64_t, int> distinct;
    for (int64_t key : keys) {
        distinct[key]++;
    }
    REQUIRE(side.insertAll(4) == keys.size() - distinct.size());
    for (int64_t key = -9000; key < 9000; key++) {
        Matches matches = findMatches(side.dimension, key);
        REQUIRE(matches.count == distinct.count(key));
        REQUIRE(matches.count == 0 || rowKey(side.dimension, matches.first) == key);
        REQUIRE(matches.count == 0 || side.keys[side.origin(matches.first)] == key);
    }
    REQUIRE(side.keys[side.origin(findMatches(side.dimension, INT64_MIN).first)] == INT64_MIN);
    REQUIRE(side.keys[side.origin(findMatches(side.dimension, INT64_MAX).first)] == INT64_MAX);
}

}  // namespace gpujoin
