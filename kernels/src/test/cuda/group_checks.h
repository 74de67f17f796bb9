// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of filters and of sums by group.
#pragma once

#include <algorithm>
#include <map>

#include "test_device.h"

namespace gpujoin {

// A table of groups for a device of CPU threads, and the host's part, which reads the groups.
struct GroupTable {
    static constexpr uint32_t MOST_AT_ONCE = Device::BLOCKS * Device::THREADS;

    using Groups = std::map<std::vector<int64_t>, std::vector<uint64_t>>;

    Aggregation aggregation{};
    std::vector<uint32_t> slots;
    std::vector<uint64_t> groups;
    uint32_t groupCount = 0;
    Groups drained;

    explicit GroupTable(uint32_t maxGroups) {
        uint32_t capacity = maxGroups + MOST_AT_ONCE;
        slots.assign(2 * capacity, FREE_SLOT);
        groups.assign(uint64_t{capacity} * (MAX_GROUP_COLUMNS + MAX_AGGREGATES), 0xAAAA);
        aggregation.slots = reinterpret_cast<uint64_t>(slots.data());
        aggregation.groups = reinterpret_cast<uint64_t>(groups.data());
        aggregation.groupCount = reinterpret_cast<uint64_t>(&groupCount);
        aggregation.slotCount = 2 * capacity;
        aggregation.hashSeed = TEST_HASH_SEED;
        aggregation.hashMultiplier = TEST_HASH_MULTIPLIER;
        aggregation.maxGroups = maxGroups;
    }

    void groupBy(ValueSource source) {
        aggregation.columns[aggregation.columnCount++] = use(source);
    }

    void sum(std::vector<ValueSource> factors) {
        Aggregate& aggregate = aggregation.aggregates[aggregation.aggregateCount++];
        for (const ValueSource& factor : factors) {
            aggregate.factors[aggregate.factorCount++] = use(factor);
        }
    }

    ValueSource use(ValueSource source) {
        if (source.dimension != FACT_SIDE) {
            aggregation.dimensionsUsed |= 1u << source.dimension;
        }
        return source;
    }

    // Reads and removes all groups. The device must be stopped.
    void drain() {
        REQUIRE(groupCount <= aggregation.maxGroups - 1 + MOST_AT_ONCE);
        Groups once;
        for (uint32_t row = 0; row < groupCount; row++) {
            const uint64_t* group = groupAt(aggregation, row);
            std::vector<int64_t> key(group, group + aggregation.columnCount);
            const uint64_t* sums = group + aggregation.columnCount;
            REQUIRE(once.emplace(key, std::vector<uint64_t>()).second);
            add(drained, key, {sums, sums + aggregation.aggregateCount});
        }
        groupCount = 0;
        std::fill(slots.begin(), slots.end(), FREE_SLOT);
    }

    static void add(Groups& groups, const std::vector<int64_t>& key,
                    const std::vector<uint64_t>& summands) {
        std::vector<uint64_t>& sums = groups[key];
        sums.resize(summands.size());
        for (size_t i = 0; i < sums.size(); i++) {
            sums[i] += summands[i];
        }
    }
};

inline void shouldInsertEachGroupOnceAndAddFromAllThreads(uint64_t seed) {
    GroupTable table(400);
    table.groupBy({FACT_SIDE, 0, 8, 0});
    table.groupBy({FACT_SIDE, 0, 8, 0});
    table.sum({});
    table.sum({});
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; t++) {
        threads.emplace_back([&table, seed] {
            std::mt19937_64 random(seed);  // the same keys at about the same time
            for (int i = 0; i < 20000; i++) {
                int64_t value = static_cast<int64_t>(random() % 300);
                GroupKey key{{value, -value, 0, 0}};
                uint32_t row = findGroup(table.aggregation, key, hashGroup(table.aggregation, key));
                uint64_t* sums = sumsAt(table.aggregation, row);
                fetchAddRelaxedDevice(&sums[0], uint64_t{1});
                fetchAddRelaxedDevice(&sums[1], ~uint64_t{0});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::mt19937_64 random(seed);
    GroupTable::Groups expected;
    for (int i = 0; i < 20000; i++) {
        int64_t value = static_cast<int64_t>(random() % 300);
        GroupTable::add(expected, {value, -value}, {4, uint64_t{0} - 4});
    }
    table.drain();
    REQUIRE(table.drained == expected);
}

inline void shouldInsertAKeyInTheBlocksTableAtMostOnce(uint64_t seed) {
    GroupTable table(400);
    table.groupBy({FACT_SIDE, 0, 8, 0});
    auto local = std::make_unique<LocalSums>();
    std::fill(std::begin(local->group), std::end(local->group), FREE_SLOT);
    constexpr int64_t KEYS = 300;
    std::vector<std::vector<uint32_t>> entries(4, std::vector<uint32_t>(KEYS));
    std::vector<std::thread> threads;
    for (std::vector<uint32_t>& found : entries) {
        threads.emplace_back([&table, &local, &found, seed] {
            std::mt19937_64 random(seed);
            for (int i = 0; i < 3000; i++) {
                int64_t value = static_cast<int64_t>(random() % KEYS);
                GroupKey key{{value, 0, 0, 0}};
                found[value] = 1 + findLocal(table.aggregation, *local, key,
                                             hashGroup(table.aggregation, key));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    uint32_t localCount = 0;
    for (int64_t value = 0; value < KEYS; value++) {
        for (const std::vector<uint32_t>& found : entries) {
            REQUIRE(found[value] == entries[0][value]);
        }
        uint32_t entry = entries[0][value] - 1;
        if (entries[0][value] > 0 && entry != NOT_LOCAL) {
            localCount++;
            REQUIRE(*groupAt(table.aggregation, local->group[entry]) ==
                    static_cast<uint64_t>(value));
        }
    }
    REQUIRE(localCount > LOCAL_GROUPS / 2);
}

inline void shouldCarryBetweenTheHalvesOfALocalSum() {
    auto local = std::make_unique<LocalSums>();
    local->low[2][5] = local->high[2][5] = 0;
    uint64_t sum = 0;
    for (uint64_t value : {uint64_t{0xFFFFFFFF}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 63,
                           uint64_t{0x1FFFFFFFF}, uint64_t{0} - 77}) {
        addLocal(*local, 2, 5, value);
        sum += value;
        REQUIRE((uint64_t{local->high[2][5]} << 32 | local->low[2][5]) == sum);
    }
}

// Counts of how steps ended.
struct GroupedSteps {
    int stops = 0;     // because the table of groups was full
    int pauses = 0;    // at the limit of aggregated results
    int inOneRow = 0;  // pauses in the row in which the previous step ended
};

// Runs segments to their end, and reads the groups whenever a step stops for that.
inline GroupedSteps runGrouped(Device& device, GroupTable& table,
                               const std::vector<std::vector<int64_t>>& segments) {
    GroupedSteps steps;
    device.start();
    for (size_t sequence = 0; sequence < segments.size(); sequence++) {
        int32_t rows = static_cast<int32_t>(segments[sequence].size());
        uint32_t slot = sequence % Device::SLOTS;
        device.writeSegment(slot, sequence, segments[sequence]);
        int32_t completed = 0;
        for (uint32_t buffer = 0, resume = 0;; buffer ^= 1, resume = 1) {
            Completion done =
                device.await(slot, buffer, device.post(slot, buffer, resume, sequence, 0));
            REQUIRE(done.rowCount == 0 && done.completedRows >= completed);
            REQUIRE(done.matchCount <= Device::THREADS * ADDED_PER_THREAD);
            if (done.status == STEP_GROUPS_FULL) {
                REQUIRE(done.completedRows < rows);
                steps.stops++;
                device.stop();
                table.drain();
                device.start();
            } else {
                REQUIRE(done.status == STEP_OK);
                if (done.completedRows == rows) {
                    break;
                }
                REQUIRE(done.matchCount == Device::THREADS * ADDED_PER_THREAD);
                steps.pauses++;
                steps.inOneRow += resume == 1 && done.completedRows == completed ? 1 : 0;
            }
            completed = done.completedRows;
        }
    }
    device.stop();
    table.drain();
    return steps;
}

// Also covers a fact with more results than one step may aggregate.
inline void shouldAggregateInBoundedStepsForAnyFanOut() {
    constexpr uint32_t MATCHES = Device::THREADS * ADDED_PER_THREAD * 5 / 2;
    std::vector<int64_t> keys(MATCHES, 7);
    keys.push_back(8);
    BuildSide side(keys, TABLE_GROUPED);
    side.insertAll(2);
    Device device({&side}, 8);
    GroupTable table(300);
    ValueSource key{FACT_SIDE, 0, 8, 0};
    table.groupBy(key);
    table.sum({});
    table.sum({{0, NARROW_OFFSET, 4, 0}, key});
    device.plan.aggregation = reinterpret_cast<uint64_t>(&table.aggregation);
    GroupedSteps steps = runGrouped(device, table, {{8, 7, 3, 8, 7, 7}, {8}, {7, 8}});
    REQUIRE(steps.stops == 0 && steps.pauses == 9 && steps.inOneRow > 0);
    uint64_t numbers = uint64_t{MATCHES} * (MATCHES - 1) / 2;
    GroupTable::Groups expected{{{7}, {4 * uint64_t{MATCHES}, 4 * 7 * numbers}},
                                {{8}, {4, uint64_t{4} * 8 * MATCHES}}};
    REQUIRE(table.drained == expected);
}

inline bool inRanges(const std::vector<ValueRange>& ranges, int64_t key) {
    return std::any_of(ranges.begin(), ranges.end(), [key](const ValueRange& range) {
        return key >= range.from &&
               key <= static_cast<int64_t>(static_cast<uint64_t>(range.from) + range.distance);
    });
}

// Returns the number of steps that stopped because the table of groups was full.
inline int shouldAggregateFilteredFactsForAnyFanOutAndNumberOfGroups(uint64_t seed) {
    std::mt19937_64 random(seed);
    int64_t distinct = seed % 3 == 0 ? 8 : 900;
    BuildSide first(randomKeys(random, distinct * 2, distinct), TABLE_GROUPED);
    BuildSide semi(randomKeys(random, distinct * 4, distinct), TABLE_UNIQUE, JOIN_SEMI);
    BuildSide last(randomKeys(random, distinct, distinct), TABLE_CHAINED);
    std::vector<BuildSide*> sides{&first, &semi, &last};
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    uint8_t keyWidth = std::max(keyWidthOf(seed), static_cast<uint8_t>(distinct < 100 ? 1 : 2));
    Device device(sides, keyWidth);
    std::vector<ValueRange> ranges{{INT64_MIN, static_cast<uint64_t>(INT64_MAX) + 3}, {4, 90}};
    std::vector<Filter> filters{{0, 0, 2, 0}, {0, 1, 1, 0}};
    filters.resize(seed % 3);
    device.plan.filters = reinterpret_cast<uint64_t>(filters.data());
    device.plan.ranges = reinterpret_cast<uint64_t>(ranges.data());
    device.plan.filterCount = static_cast<uint32_t>(filters.size());

    GroupTable table(seed % 4 == 0 ? 1 : 300);
    ValueSource key{FACT_SIDE, 0, keyWidth, 0};
    ValueSource firstWide{0, WIDE_OFFSET, 8, 0};
    ValueSource lastNarrow{2, NARROW_OFFSET, 4, 0};
    bool grouped = seed % 5 != 0;
    if (grouped) {
        table.groupBy(key);
        table.groupBy(lastNarrow);
    }
    table.sum({});
    table.sum({firstWide});
    table.sum({key, lastNarrow});
    device.plan.aggregation = reinterpret_cast<uint64_t>(&table.aggregation);

    std::vector<std::vector<int64_t>> segments;
    for (size_t rows : {Device::MAX_ROWS, 0u, 100u, Device::MAX_ROWS}) {
        segments.push_back(randomKeys(random, rows, distinct + 4));
    }
    int stops = runGrouped(device, table, segments).stops;

    GroupTable::Groups expected;
    for (const std::vector<int64_t>& segment : segments) {
        for (int64_t fact : segment) {
            bool kept = std::all_of(filters.begin(), filters.end(), [&](const Filter& filter) {
                auto from = ranges.begin() + filter.firstRange;
                return inRanges({from, from + filter.rangeCount}, fact);
            });
            bool matchesSemi = std::count(semi.keys.begin(), semi.keys.end(), fact) > 0;
            for (uint32_t f = 0; kept && matchesSemi && f < first.keys.size(); f++) {
                for (uint32_t l = 0; first.keys[f] == fact && l < last.keys.size(); l++) {
                    if (last.keys[l] == fact) {
                        std::vector<int64_t> group;
                        if (grouped) {
                            group = {fact, l};
                        }
                        GroupTable::add(
                            expected, group,
                            {1, uint64_t{f} << 32 | 7, static_cast<uint64_t>(fact) * l});
                    }
                }
            }
        }
    }
    REQUIRE(table.drained == expected);
    return stops;
}

}  // namespace gpujoin
