// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The parts of the resident join that also compile for the CPU: hash, plan, table and items. Runs
// on one thread.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "../../main/cuda/resident/chain_table.h"
#include "../../main/cuda/resident/exchange_plan.h"
#include "../../main/cuda/resident/join_item.h"
#include "../../main/cuda/resident/join_plan.h"
#include "../../main/cuda/resident/key_record.h"

namespace gpujoin::resident {
namespace {

int failures = 0;

void expect(bool condition, const char* sentence, const char* text) {
    if (!condition) {
        std::printf("FAILED %s: %s\n", sentence, text);
        failures++;
    }
}
#define EXPECT(condition) expect((condition), __func__, #condition)

// The expected values come from io.github.gpujoin.core.layout.KeyHash.
void shouldHashLikeJoinCore() {
    EXPECT(keyHash(0) == 0x0ull);
    EXPECT(keyHash(1) == 0x4179B061E0C0E0D0ull);
    EXPECT(keyHash(-1) == 0x448E29CED4103459ull);
    EXPECT(keyHash(42) == 0x63EB4D090E3C46F3ull);
    EXPECT(keyHash(INT64_MIN) == 0x72446BBCF6C799D7ull);
    EXPECT(keyHash(INT64_MAX) == 0xB6D2958BA3F08589ull);
    EXPECT(keyHash(int32_t{-1}) == keyHash(int64_t{-1}));
}

void shouldExtractDigitsThatDoNotOverlap() {
    std::mt19937_64 random(7);
    for (uint64_t rows : {0ull, 1000ull, 1000000ull, 1ull << 24, 1ull << 27, 1ull << 31}) {
        RadixPlan plan = RadixPlan::of(rows, TABLE_SHAPE<int64_t>);
        EXPECT(plan.first.shift == plan.second.bits && plan.second.shift == 0);
        EXPECT(plan.first.bits <= MAX_DIGIT_BITS && plan.second.bits <= MAX_DIGIT_BITS);
        RadixDigit both{0, plan.bits()};
        for (int i = 0; i < 1000; i++) {
            uint64_t hash = random();
            EXPECT(both.of(hash) ==
                       (plan.first.of(hash) << plan.second.bits | plan.second.of(hash)) ||
                   !plan.hasTwoPasses());
        }
    }
}

void shouldPlanPartitionsThatFitATable() {
    for (uint64_t rows = 1; rows <= 1ull << 29; rows = rows * 5 / 3 + 1) {
        RadixPlan plan = RadixPlan::of(rows, TABLE_SHAPE<int64_t>);
        EXPECT(guessedCapacityRows(rows, plan.partitions(), 1.0) > rows / plan.partitions());
        EXPECT(rows / plan.partitions() <= TABLE_SHAPE<int64_t>.meanRows);
    }
}

void shouldReserveRowsForGuessedAndCountedSlots() {
    for (uint64_t rows : {0ull, 1ull, 1000ull, 123456789ull}) {
        for (uint32_t partitions : {64u, 512u, 131072u}) {
            uint64_t buffer = slotBufferRows(rows, partitions, 5.0);
            EXPECT(buffer >= uint64_t{guessedCapacityRows(rows, partitions, 5.0)} * partitions);
            EXPECT(buffer >= rows + uint64_t{SLOT_ALIGNMENT_ROWS - 1} * partitions);
            EXPECT(guessedCapacityRows(rows, partitions, 5.0) % SLOT_ALIGNMENT_ROWS == 0);
        }
    }
}

// Partitions of skewed tables have any size. The errors of small samples are the largest.
void shouldReserveEnoughForSampledPartitions() {
    std::mt19937_64 random(7);
    int overflows = 0;
    for (uint32_t rows : {1u, 40u, 100u, 200u, 400u, 3000u, 50000u}) {
        std::binomial_distribution<uint32_t> sampledRows(rows, 1.0 / SAMPLE_STEP);
        for (int draw = 0; draw < 1000000; draw++) {
            overflows += sampledCapacityRows(sampledRows(random)) < rows ? 1 : 0;
        }
    }
    EXPECT(overflows == 0);
}

// Positions in a slot buffer have 32 bits.
void shouldKeepSlotBuffersUnderFourBillionRows() {
    for (uint64_t buildRows = 1; buildRows <= 1ull << 31; buildRows *= 4) {
        RadixPlan plan = RadixPlan::of(buildRows, TABLE_SHAPE<int64_t>);
        uint64_t probeRows = 1ull << 31;
        double rowsPerKey = 1.0 + static_cast<double>(probeRows) / static_cast<double>(buildRows);
        EXPECT(slotBufferRows(probeRows, plan.partitions(), rowsPerKey) < 1ull << 32);
        EXPECT(slotBufferRows(probeRows, plan.first.count(), rowsPerKey) < 1ull << 32);
        EXPECT(slotBufferRows(buildRows, plan.partitions(), 1.0) < 1ull << 32);
    }
}

void shouldPlanExchangedPartitionsThatFitATable() {
    for (uint32_t members : {1u, 2u, 4u, 8u}) {
        for (uint64_t rows :
             {0ull, 1ull, 1000ull, 1000000ull, 1ull << 27, 1ull << 29, 1ull << 31}) {
            ExchangeDigits digits = ExchangeDigits::of(rows, members, TABLE_SHAPE<int64_t>);
            EXPECT(digits.first.shift == digits.second.bits && digits.second.shift == 0);
            EXPECT(digits.first.count() == members * digits.localPartitions());
            EXPECT(digits.first.bits <= MAX_EXCHANGE_BITS && digits.second.bits <= MAX_DIGIT_BITS);
            EXPECT(rows / members / digits.partitions() <= TABLE_SHAPE<int64_t>.meanRows ||
                   digits.first.bits + digits.second.bits == MAX_EXCHANGE_BITS + MAX_DIGIT_BITS);
        }
    }
}

void shouldDivideAPartIntoAlignedGrowingChunks() {
    for (uint64_t rows : {0ull, 1ull, 63ull, 64ull, 1000ull, 1000003ull, 1ull << 31}) {
        for (uint64_t chunks = 1; chunks <= MAX_CHUNKS; chunks++) {
            EXPECT(chunkFirst(rows, 0, chunks) == 0 && chunkFirst(rows, chunks, chunks) == rows);
            for (uint64_t chunk = 0; chunk < chunks; chunk++) {
                uint64_t first = chunkFirst(rows, chunk, chunks);
                uint64_t length = chunkFirst(rows, chunk + 1, chunks) - first;
                uint64_t share = rows * (chunk + 1) * 2 / (chunks * (chunks + 1));
                EXPECT(first % CHUNK_ALIGNMENT_ROWS == 0);
                EXPECT(length + CHUNK_ALIGNMENT_ROWS >= share &&
                       length <= share + CHUNK_ALIGNMENT_ROWS + 1);
            }
        }
    }
}

// Whatever the keys are, and also if one member has all rows. Positions have 32 bits.
void shouldReserveRegionsForAllRowsOfEachSender() {
    for (uint32_t members : {1u, 2u, 4u, 8u}) {
        for (uint64_t rows : {0ull, 1000ull, 123456789ull, 1ull << 31}) {
            ExchangeDigits digits = ExchangeDigits::of(rows / 4, members, TABLE_SHAPE<int64_t>);
            TransferPlan plan{};
            for (uint32_t n = 0; n < members; n++) {
                plan.sentRows[n] = n == 0 ? rows - rows / 3 : n == 1 ? rows / 3 : 0;
            }
            plan.plan(digits, members, static_cast<double>(rows / 4) + 1.0);
            for (uint32_t n = 0; n < members; n++) {
                uint64_t region = plan.regionFirsts[n + 1] - plan.regionFirsts[n];
                uint64_t aligned = uint64_t{SLOT_ALIGNMENT_ROWS - 1} * digits.localPartitions();
                uint64_t guessed = guessedCapacityRows(plan.sentRows[n], digits.first.count(),
                                                       plan.rowsPerKey(plan.sentRows[n]));
                EXPECT(region >= plan.sentRows[n] + aligned);
                EXPECT(region >= guessed * digits.localPartitions());
                EXPECT(plan.regionFirsts[n] % SLOT_ALIGNMENT_ROWS == 0);
            }
            EXPECT(plan.regionFirsts[members] < 1ull << 32);
            EXPECT(plan.partitionedRows(digits, members) >=
                   plan.totalRows + uint64_t{SLOT_ALIGNMENT_ROWS - 1} * digits.partitions());
            EXPECT(plan.partitionedRows(digits, members) < 1ull << 32);
        }
    }
}

void shouldAllocateConsecutiveAlignedRegions() {
    RegionAllocator counting(nullptr);
    EXPECT(counting.allocate<char>(1) == nullptr && counting.usedBytes() == REGION_ALIGNMENT_BYTES);
    alignas(256) static unsigned char memory[1024];
    RegionAllocator cutting(memory);
    EXPECT(cutting.allocate<char>(257) == reinterpret_cast<char*>(memory));
    EXPECT(cutting.allocate<int>(1) == reinterpret_cast<int*>(memory + 512));
}

template <typename Word>
void shouldFindEveryRowOfAChain(unsigned seed) {
    constexpr uint32_t ROWS = 1000;
    constexpr uint32_t SLOT_BITS = 6;
    using Table = ChainTable<Word>;
    std::vector<uint64_t> memory(Table::lengthBytes(ROWS, SLOT_BITS) / 8 + 1,
                                 0xA5A5A5A5A5A5A5A5ull);
    Table table = Table::over(memory.data(), ROWS, SLOT_BITS);
    table.clear(0, 1);
    std::mt19937_64 random(seed);
    std::multimap<Word, Word> expected;
    for (uint32_t row = 0; row < ROWS; row++) {
        Tuple<Word> tuple{static_cast<Word>(random() % 500) - 250, static_cast<Word>(random())};
        table.insert(row, tuple);
        expected.emplace(tuple.key, tuple.payload);
    }
    for (Word key = -300; key < 300; key++) {
        std::multimap<Word, Word> left;
        for (auto range = expected.equal_range(key); range.first != range.second; ++range.first) {
            left.insert(*range.first);
        }
        for (uint32_t link = table.chain(key); link != Table::NONE; link = table.after(link)) {
            if (table.matches(link, key)) {
                bool found = false;
                for (auto it = left.begin(); it != left.end() && !found; ++it) {
                    if (it->second == table.payloadAt(link)) {
                        left.erase(it);
                        found = true;
                        break;
                    }
                }
                EXPECT(found);
            }
        }
        EXPECT(left.empty());
    }
    EXPECT(table.after(Table::NONE) == Table::NONE && !table.matches(Table::NONE, 0));
}

// A record, padded with zeros, with a unit of another record behind it.
std::vector<KeyUnit> recordOf(const std::vector<uint8_t>& key) {
    size_t units = (sizeof(uint32_t) + key.size() + sizeof(KeyUnit) - 1) / sizeof(KeyUnit);
    std::vector<KeyUnit> record(units + 1, KeyUnit{0, 0});
    auto length = static_cast<uint32_t>(key.size());
    auto* bytes = reinterpret_cast<unsigned char*>(record.data());
    std::memcpy(bytes, &length, sizeof(length));
    std::copy(key.begin(), key.end(), bytes + sizeof(length));
    record[units].low = std::random_device{}();
    return record;
}

void shouldCompareEachByteOfRecords() {
    std::mt19937 random(7);
    for (size_t length = 0; length <= 40; length++) {
        std::vector<uint8_t> key(length);
        for (uint8_t& byte : key) {
            byte = static_cast<uint8_t>(random());
        }
        std::vector<KeyUnit> record = recordOf(key);
        EXPECT(equalRecords(record.data(), recordOf(key).data()));
        for (size_t at = 0; at < length; at++) {
            std::vector<uint8_t> other = key;
            other[at] ^= 1u << random() % 8;
            EXPECT(!equalRecords(record.data(), recordOf(other).data()));
        }
        key.push_back(0);
        EXPECT(!equalRecords(record.data(), recordOf(key).data()));
        EXPECT(!equalRecords(recordOf(key).data(), record.data()));
    }
}

// The rows of a chain have the same hash, and every other one the key of the probe row.
void shouldMatchHashesByTheirRecords() {
    using Table = ChainTable<int64_t>;
    constexpr uint32_t ROWS = 8;
    constexpr int64_t HASH = 42;
    std::vector<KeyUnit> equal = recordOf({1, 2, 3, 4, 5, 6});
    std::vector<KeyUnit> other = recordOf({1, 2, 3, 4, 5, 7});
    // two runs, of words and addresses; numbers of rows start in the first one
    std::vector<std::vector<int64_t>> runs(2, std::vector<int64_t>(2 * RUN_ROWS));
    const int64_t* starts[] = {runs[0].data(), runs[1].data()};
    auto put = [&](uint64_t row, const std::vector<KeyUnit>& record) {
        runs[row / RUN_ROWS][RUN_ROWS + row % RUN_ROWS] = reinterpret_cast<int64_t>(record.data());
    };
    std::vector<uint64_t> memory(Table::lengthBytes(ROWS, 4) / sizeof(uint64_t) + 1);
    Table table = Table::over(memory.data(), ROWS, 4);
    table.clear(0, 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        int64_t number = static_cast<int64_t>(RUN_ROWS) - 4 + row;
        put(number, row % 2 == 0 ? equal : other);
        table.insert(row, {HASH, number});
    }
    put(0, equal);
    HashedWords words{{starts}, {starts}};
    uint32_t found = 0;
    for (uint32_t link = table.chain(HASH); link != Table::NONE; link = table.after(link)) {
        bool isEqual = words.match(table, link, {HASH, 0});
        EXPECT(isEqual == (table.payloadAt(link) % 2 == 0));
        EXPECT(!words.match(table, link, {HASH + 1, 0}));
        EXPECT(ExactWords{}.match(table, link, {HASH, 0}));
        found += isEqual ? 1 : 0;
    }
    EXPECT(found == ROWS / 2);
}

void shouldCoverEveryPairOfRowsWithOneItem() {
    constexpr uint32_t ROWS = 3000;
    const uint32_t sizes[] = {0, 1, ROWS, ROWS + 1, 3 * ROWS};
    for (uint32_t build : sizes) {
        for (uint32_t probe :
             {0u, 1u, PROBE_SLICE_ROWS, PROBE_SLICE_ROWS + 1, 5 * PROBE_SLICE_ROWS - 1}) {
            uint64_t pairs = 0;
            uint64_t count = JoinItem::count(build, probe, ROWS);
            for (uint64_t part = 0; part < count; part++) {
                JoinItem item = JoinItem::of(16, 16 + build, 40, 40 + probe, ROWS, part);
                EXPECT(item.buildRows > 0 && item.buildRows <= ROWS);
                EXPECT(item.buildFirst >= 16 && item.buildFirst + item.buildRows <= 16 + build);
                EXPECT(item.probeFirst >= 40 && item.probeFirst + item.probeRows <= 40 + probe);
                pairs += uint64_t{item.buildRows} * item.probeRows;
            }
            EXPECT(pairs == uint64_t{build} * probe);
        }
    }
}

void shouldLocateTheExtraItemsOfPartitions() {
    uint64_t starts[] = {0, 0, 3, 3, 3, 5};
    JoinItems items{5, starts, nullptr};
    EXPECT(items.count() == 10);
    const uint32_t partitions[] = {0, 1, 2, 3, 4, 1, 1, 1, 4, 4};
    const uint64_t partCount[] = {0, 0, 0, 0, 0, 1, 2, 3, 1, 2};
    for (uint64_t item = 0; item < items.count(); item++) {
        uint64_t part = 99;
        EXPECT(items.locate(item, part) == partitions[item]);
        EXPECT(part == partCount[item]);
    }
}

}  // namespace
}  // namespace gpujoin::resident

int main() {
    using namespace gpujoin::resident;
    shouldHashLikeJoinCore();
    shouldExtractDigitsThatDoNotOverlap();
    shouldPlanPartitionsThatFitATable();
    shouldReserveRowsForGuessedAndCountedSlots();
    shouldReserveEnoughForSampledPartitions();
    shouldKeepSlotBuffersUnderFourBillionRows();
    shouldPlanExchangedPartitionsThatFitATable();
    shouldDivideAPartIntoAlignedGrowingChunks();
    shouldReserveRegionsForAllRowsOfEachSender();
    shouldAllocateConsecutiveAlignedRegions();
    for (unsigned seed = 1; seed <= 3; seed++) {
        shouldFindEveryRowOfAChain<int64_t>(seed);
        shouldFindEveryRowOfAChain<int32_t>(seed);
    }
    shouldCompareEachByteOfRecords();
    shouldMatchHashesByTheirRecords();
    shouldCoverEveryPairOfRowsWithOneItem();
    shouldLocateTheExtraItemsOfPartitions();
    std::printf("failures=%d\n", failures);
    return failures == 0 ? 0 : 1;
}
