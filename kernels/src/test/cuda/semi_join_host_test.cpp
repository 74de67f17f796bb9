// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The parts of the semi-join that also compile for the CPU, and the generated tables of its
// benchmark. Runs on one thread.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "../../bench/tpch_sales.h"
#include "../../main/cuda/semijoin/semi_join_call.h"

namespace gpujoin::semijoin {
namespace {

using bench::TpchLine;
using bench::TpchRows;
using bench::TpchSale;
using bench::TpchSales;

int failures = 0;

void expect(bool condition, const char* sentence, const char* text) {
    if (!condition) {
        std::printf("FAILED %s: %s\n", sentence, text);
        failures++;
    }
}
#define EXPECT(condition) expect((condition), __func__, #condition)

RowCondition conditionOf(uint32_t widthBytes, int64_t low, int64_t high, bool compares = false) {
    static const int64_t column[1] = {};
    return {column, compares ? column : nullptr, low, high, widthBytes};
}

void shouldHoldBetweenBothBounds() {
    for (int64_t low : {INT64_MIN, int64_t{-5}, int64_t{0}, INT64_MAX - 1}) {
        for (int64_t high : {low, low + 1, INT64_MAX}) {
            RowCondition condition = conditionOf(8, low, high);
            for (int64_t value : {INT64_MIN, int64_t{-6}, int64_t{-5}, int64_t{0}, int64_t{1},
                                  INT64_MAX - 2, INT64_MAX - 1, INT64_MAX}) {
                EXPECT(condition.holds(value) == (low <= value && value <= high));
            }
        }
    }
}

void shouldRejectConditionsThatCannotBeEvaluated() {
    EXPECT(!RowCondition{}.isInvalid());
    EXPECT(!conditionOf(8, 1, 1).isInvalid() && !conditionOf(4, -1, 1, true).isInvalid());
    EXPECT(conditionOf(8, INT64_MIN, -1, true).isInvalid());
    EXPECT(conditionOf(2, 1, 0).isInvalid());
    EXPECT(conditionOf(3, 0, 1).isInvalid() && conditionOf(0, 0, 1).isInvalid());
}

void shouldBuildFromTheSmallerSide() {
    EXPECT(buildSideOf(10, 11) == Side::LEFT && buildSideOf(10, 10) == Side::LEFT);
    EXPECT(buildSideOf(11, 10) == Side::RIGHT && buildSideOf(0, 0) == Side::LEFT);
}

KeySetKind chosen(uint64_t rows, int64_t smallest, int64_t largest) {
    return KeySetPlan::of<int64_t>({rows, smallest, largest}, KeySetKind::AUTO).kind;
}

void shouldUseBitsOfKeysUnlessTheyAreFarApart() {
    // Orders of a quarter at scale factor 1000, and of a day.
    EXPECT(chosen(57358000, 1, 6000000000) == KeySetKind::DIRECT);
    EXPECT(chosen(623000, 1, 6000000000) == KeySetKind::HASH);
    EXPECT(chosen(0, INT64_MAX, INT64_MIN) == KeySetKind::DIRECT);
    EXPECT(chosen(1, 5, 5) == KeySetKind::DIRECT);
    EXPECT(chosen(2, INT64_MIN, INT64_MAX) == KeySetKind::HASH);
    EXPECT(chosen(MAX_BUILD_ROWS, 0, MAX_BUILD_ROWS) == KeySetKind::DIRECT);
}

// Memory of a key set whose words are not cleared by the allocation.
template <typename Word>
struct Memory {
    std::vector<uint64_t> words;
    SemiJoinCall<Word> call;

    Memory(const std::vector<Word>& keys, KeySetKind kind) {
        KeyStatistics statistics{keys.size(), INT64_MAX, INT64_MIN};
        for (Word key : keys) {
            statistics.smallest = key < statistics.smallest ? key : statistics.smallest;
            statistics.largest = key > statistics.largest ? key : statistics.largest;
        }
        call.requestedKeySet = kind;
        call.planKeySet(statistics);
        words.resize(call.keySetBytes / 8 + 1);
        call.keySetMemory = words.data();
        for (uint64_t slot = 0; slot < call.keySet.slotCount; slot++) {
            call.slots()[slot] = HashKeySet<Word>::FREE;
        }
        EXPECT(reinterpret_cast<char*>(call.bits() + call.keySet.liveWords +
                                       call.keySet.filterWords) ==
               static_cast<char*>(call.keySetMemory) + call.keySetBytes);
    }
};

template <typename KeySet, typename Word>
bool mayBeLive(const KeySet& set, Word key) {
    return set.mayBeLive(key, *set.wordOf(key));
}

template <typename KeySet, typename Word>
bool isLive(const KeySet& set, Word key) {
    return mayBeLive(set, key) && set.isLive(key);
}

template <typename Word, typename KeySet>
void expectRemovals(const KeySet& set, const std::vector<Word>& keys, std::mt19937_64& random) {
    std::set<Word> live(keys.begin(), keys.end());
    for (Word key : keys) {
        set.insert(key);
    }
    for (int round = 0; round < 2; round++) {
        for (Word key : keys) {
            EXPECT(isLive(set, key) == (live.count(key) != 0));
            for (Word other : {static_cast<Word>(key + 1), static_cast<Word>(key - 256),
                               static_cast<Word>(random())}) {
                EXPECT(isLive(set, other) == (live.count(other) != 0));
            }
            if (random() % 3 == 0 && mayBeLive(set, key)) {
                set.remove(key);
                live.erase(key);
            }
        }
    }
    for (Word key :
         {std::numeric_limits<Word>::min(), Word{-1}, Word{0}, std::numeric_limits<Word>::max()}) {
        EXPECT(isLive(set, key) == (live.count(key) != 0));
    }
}

template <typename Word>
void shouldHoldInsertedKeysUntilTheyAreRemoved(unsigned seed) {
    std::mt19937_64 random(seed);
    for (Word step : {1, 32, 256, 65536}) {
        std::vector<Word> keys;
        for (int row = 0; row < 3000; row++) {
            keys.push_back((static_cast<Word>(random() % 2000) - 1000) * step);
        }
        keys.push_back(-1);
        Memory<Word> direct(keys, KeySetKind::DIRECT);
        expectRemovals(direct.call.directKeySet(), keys, random);
        Memory<Word> hash(keys, KeySetKind::HASH);
        expectRemovals(hash.call.hashKeySet(), keys, random);
    }
    std::vector<Word> extremes{std::numeric_limits<Word>::min(), std::numeric_limits<Word>::max()};
    Memory<Word> hash(extremes, KeySetKind::AUTO);
    EXPECT(hash.call.keySet.kind == KeySetKind::HASH);
    expectRemovals(hash.call.hashKeySet(), extremes, random);
}

void shouldHoldNothingWithoutRows() {
    for (KeySetKind kind : {KeySetKind::DIRECT, KeySetKind::HASH}) {
        Memory<int64_t> memory({}, kind);
        for (int64_t key : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
            EXPECT(kind == KeySetKind::DIRECT ? !isLive(memory.call.directKeySet(), key)
                                              : !isLive(memory.call.hashKeySet(), key));
        }
    }
}

// About 2 % of the keys that were not inserted pass the filter.
void shouldFilterMostMisses() {
    std::mt19937_64 random(5);
    std::vector<int64_t> keys;
    for (int64_t key = 0; key < 4000000; key++) {
        if (random() % 104 == 0) {
            keys.push_back(key);
        }
    }
    Memory<int64_t> memory(keys, KeySetKind::HASH);
    HashKeySet<int64_t> set = memory.call.hashKeySet();
    for (int64_t key : keys) {
        set.insert(key);
    }
    for (int64_t distance : {int64_t{4000000}, int64_t{1} << 40}) {
        int passed = 0;
        for (int64_t key = 0; key < 1000000; key++) {
            passed += mayBeLive(set, key + distance) ? 1 : 0;
        }
        EXPECT(passed > 10000 && passed < 25000);
    }
}

void shouldReturnRemovedRowsOnlyIfTheLeftSideBuiltASemiJoin() {
    SemiJoinCall<int32_t> call;
    for (Side side : {Side::LEFT, Side::RIGHT}) {
        for (JoinKind kind : {JoinKind::SEMI, JoinKind::ANTI}) {
            call.buildSide = side;
            call.kind = kind;
            EXPECT(call.returnsLive() == ((side == Side::LEFT) == (kind == JoinKind::ANTI)));
        }
    }
}

void shouldNeedNoMemoryToSelectAllRows() {
    SemiJoinCall<int64_t> call;
    int64_t keys[1] = {};
    call.left.keys = keys;
    call.left.rows = call.left.expectedRows = 100;
    call.right.expectedRows = 1000;
    call.planSelection();
    EXPECT(call.selectionBytes == 0 && call.selection().keys == keys);
    EXPECT(call.selection().rows == nullptr && call.selectionCapacityRows() == 100);
    call.left.condition = conditionOf(4, 0, 1);
    call.left.expectedRows = 50;
    call.planSelection();
    EXPECT(call.selectionBytes == 512 + 200 && call.selectionCapacityRows() == 50);
}

void shouldUseEightOfEach32OrderKeys() {
    std::set<int64_t> keys;
    for (uint64_t order = 0; order < 8000; order++) {
        int64_t key = TpchRows::orderKey(order);
        EXPECT(key % 32 < 8);
        keys.insert(key);
    }
    EXPECT(keys.size() == 8000 && *keys.begin() == 1 && *keys.rbegin() == 32000);
}

void shouldStoreEachOrderOnce() {
    constexpr uint64_t FIRST = 1000;
    for (bool isClustered : {true, false}) {
        TpchRows part{TpchRows::ORDERS_PER_SCALE, FIRST, isClustered};
        std::vector<bool> isStored(part.orders);
        for (uint64_t row = 0; row < part.orders; row++) {
            uint64_t order = part.orderAt(row) - FIRST;
            EXPECT(order < part.orders && !isStored[order]);
            isStored[order] = true;
        }
    }
}

// The specification's answers at scale factor 1 are 11,620 orders of which the first has 406,181.01,
// and 45 to 56 million for each of five nations.
void shouldGenerateRevenuesLikeThoseOfTheSpecification() {
    TpchSales sales{{TpchRows::ORDERS_PER_SCALE, 0, true}};
    uint64_t orders = 0;
    int64_t most = 0;
    std::vector<int64_t> ofNations(TpchSales::NATIONS);
    for (uint64_t order = 0; order < sales.rows.orders; order++) {
        int64_t revenue = sales.revenueOf(order);
        orders += revenue != 0 ? 1 : 0;
        most = std::max(most, revenue);
        int8_t nation;
        revenue = sales.revenueOf(order, nation);
        ofNations[static_cast<size_t>(nation)] += revenue;
        EXPECT(TpchRows::orderOf(TpchRows::orderKey(order)) == order);
        EXPECT(sales.customerOf(order) % 3 != 0);
    }
    constexpr int64_t UNITS = 10000;
    EXPECT(orders > 11000 && orders < 12000);
    EXPECT(most > 380000 * UNITS && most < 450000 * UNITS);
    for (uint32_t nation = 0; nation < TpchSales::NATIONS; nation++) {
        int64_t revenue = ofNations[nation];
        EXPECT(TpchSales::isInRegion(static_cast<int8_t>(nation))
                   ? revenue > 45000000 * UNITS && revenue < 60000000 * UNITS
                   : revenue == 0);
    }
}

void shouldDrawSuppliersAndPricesOfParts() {
    TpchSales sales{{TpchRows::ORDERS_PER_SCALE, 0, true}};
    std::vector<uint64_t> ofSuppliers(sales.suppliers() + 1);
    uint64_t lines = 0;
    for (uint64_t order = 0; order < 100000; order++) {
        for (uint32_t number = 0; number < TpchRows::lineCount(order); number++, lines++) {
            TpchSale sale = sales.sale(order, number);
            ofSuppliers.at(static_cast<size_t>(sale.supplier))++;
            EXPECT(sale.priceCents >= 90000 && sale.priceCents <= 50 * 209900);
            EXPECT(sale.discountPercent >= 0 && sale.discountPercent <= 10);
        }
    }
    EXPECT(ofSuppliers[0] == 0);
    auto mean = static_cast<double>(lines) / static_cast<double>(sales.suppliers());
    for (uint64_t supplier = 1; supplier <= sales.suppliers(); supplier++) {
        EXPECT(std::abs(static_cast<double>(ofSuppliers[supplier]) - mean) < 6 * std::sqrt(mean));
    }
}

// Bounds are five standard deviations.
void shouldGenerateTheDistributionsOfTheSpecification() {
    constexpr uint64_t ORDERS = TpchRows::ORDERS_PER_SCALE;
    std::vector<uint64_t> lineCounts(TpchRows::MAX_LINES + 1);
    std::vector<uint64_t> priorities(TpchRows::PRIORITIES);
    std::vector<uint64_t> days(TpchRows::ORDER_DAYS);
    uint64_t lines = 0;
    uint64_t late = 0;
    for (uint64_t order = 0; order < ORDERS; order++) {
        uint32_t count = TpchRows::lineCount(order);
        int16_t ordered = TpchRows::orderDate(order);
        lineCounts.at(count)++;
        days.at(static_cast<size_t>(ordered))++;
        priorities.at(static_cast<size_t>(TpchRows::priority(order)))++;
        lines += count;
        for (uint32_t number = 0; number < count; number++) {
            TpchLine line = TpchRows::line(order, number);
            EXPECT(line.shipDate > ordered && line.shipDate <= ordered + 121);
            EXPECT(line.commitDate >= ordered + 30 && line.commitDate <= ordered + 90);
            EXPECT(line.receiptDate > line.shipDate && line.receiptDate <= line.shipDate + 30);
            late += line.commitDate < line.receiptDate ? 1 : 0;
        }
    }
    EXPECT(lineCounts[0] == 0);
    for (uint32_t count = 1; count <= TpchRows::MAX_LINES; count++) {
        EXPECT(lineCounts[count] > 212150 && lineCounts[count] < 216430);
    }
    for (uint64_t count : priorities) {
        EXPECT(count > 297550 && count < 302450);
    }
    for (uint64_t count : days) {
        EXPECT(count > 495 && count < 755);
    }
    EXPECT(lines > 5987000 && lines < 6013000);
    // The share of 121 * 61 * 30 triples of distances whose commit date is before the receipt date.
    uint64_t lateTriples = 0;
    for (int ship = 1; ship <= 121; ship++) {
        for (int commit = 30; commit <= 90; commit++) {
            for (int receipt = 1; receipt <= 30; receipt++) {
                lateTriples += commit < ship + receipt ? 1 : 0;
            }
        }
    }
    double share = static_cast<double>(lateTriples) / (121.0 * 61 * 30);
    EXPECT(late > (share - 0.001) * lines && late < (share + 0.001) * lines);
}

// dbgen counts 10,410 to 10,594 orders of each priority at scale factor 1.
void shouldCountAsManyOrdersAsDbgen() {
    std::vector<uint64_t> counts(TpchRows::PRIORITIES);
    for (uint64_t order = 0; order < TpchRows::ORDERS_PER_SCALE; order++) {
        if (TpchRows::isCounted(order)) {
            counts.at(static_cast<size_t>(TpchRows::priority(order)))++;
        }
    }
    for (uint64_t count : counts) {
        EXPECT(count > 10000 && count < 11000);
    }
}

}  // namespace
}  // namespace gpujoin::semijoin

int main() {
    using namespace gpujoin::semijoin;
    shouldHoldBetweenBothBounds();
    shouldRejectConditionsThatCannotBeEvaluated();
    shouldBuildFromTheSmallerSide();
    shouldUseBitsOfKeysUnlessTheyAreFarApart();
    for (unsigned seed = 1; seed <= 3; seed++) {
        shouldHoldInsertedKeysUntilTheyAreRemoved<int64_t>(seed);
        shouldHoldInsertedKeysUntilTheyAreRemoved<int32_t>(seed);
    }
    shouldHoldNothingWithoutRows();
    shouldFilterMostMisses();
    shouldReturnRemovedRowsOnlyIfTheLeftSideBuiltASemiJoin();
    shouldNeedNoMemoryToSelectAllRows();
    shouldUseEightOfEach32OrderKeys();
    shouldStoreEachOrderOnce();
    shouldGenerateRevenuesLikeThoseOfTheSpecification();
    shouldDrawSuppliersAndPricesOfParts();
    shouldGenerateTheDistributionsOfTheSpecification();
    shouldCountAsManyOrdersAsDbgen();
    std::printf("failures=%d\n", failures);
    return failures == 0 ? 0 : 1;
}
