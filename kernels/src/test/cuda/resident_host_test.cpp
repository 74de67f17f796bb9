#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "../../main/cuda/resident/chain_table.cuh"
#include "../../main/cuda/resident/join_item.h"
#include "../../main/cuda/resident/join_plan.h"

/* Tests of what runs on both sides: hash, plan, table and items, on one thread of the host. */
namespace gpujoin::resident {
namespace {

int failures = 0;

void expect(bool condition, const char* sentence, const char* condition_text) {
    if (!condition) {
        std::printf("FAILED %s: %s\n", sentence, condition_text);
        failures++;
    }
}
#define EXPECT(condition) expect((condition), __func__, #condition)

/** Values of io.github.gpujoin.core.layout.KeyHash.hash. */
void shouldHashAsJoinCoreDoes() {
    EXPECT(keyHash(0) == 0x0ull);
    EXPECT(keyHash(1) == 0x4179B061E0C0E0D0ull);
    EXPECT(keyHash(-1) == 0x448E29CED4103459ull);
    EXPECT(keyHash(42) == 0x63EB4D090E3C46F3ull);
    EXPECT(keyHash(INT64_MIN) == 0x72446BBCF6C799D7ull);
    EXPECT(keyHash(INT64_MAX) == 0xB6D2958BA3F08589ull);
    EXPECT(keyHash(std::int32_t{-1}) == keyHash(std::int64_t{-1}));
}

void shouldCutDigitsThatDoNotOverlap() {
    std::mt19937_64 random(7);
    for (std::uint64_t rows : {0ull, 1000ull, 1000000ull, 1ull << 24, 1ull << 27, 1ull << 31}) {
        const RadixPlan plan = RadixPlan::of(rows, kTableShape<std::int64_t>);
        EXPECT(plan.first.shift == plan.second.bits && plan.second.shift == 0);
        EXPECT(plan.first.bits <= kMaxDigitBits && plan.second.bits <= kMaxDigitBits);
        const RadixDigit both{0, plan.bits()};
        for (int i = 0; i < 1000; i++) {
            const std::uint64_t hash = random();
            EXPECT(both.of(hash) ==
                       (plan.first.of(hash) << plan.second.bits | plan.second.of(hash)) ||
                   !plan.twoPasses());
        }
    }
}

void shouldPlanPartitionsThatFitATable() {
    for (std::uint64_t rows = 1; rows <= 1ull << 29; rows = rows * 5 / 3 + 1) {
        const RadixPlan plan = RadixPlan::of(rows, kTableShape<std::int64_t>);
        EXPECT(guessedCapacityRows(rows, plan.partitions(), 1.0) > rows / plan.partitions());
        EXPECT(rows / plan.partitions() <= kTableShape<std::int64_t>.meanRows);
    }
}

void shouldSetAsideRoomForGuessedAndForCountedSlots() {
    for (std::uint64_t rows : {0ull, 1ull, 1000ull, 123456789ull}) {
        for (std::uint32_t partitions : {64u, 512u, 131072u}) {
            const std::uint64_t buffer = slotBufferRows(rows, partitions, 5.0);
            EXPECT(buffer >=
                   std::uint64_t{guessedCapacityRows(rows, partitions, 5.0)} * partitions);
            EXPECT(buffer >= rows + std::uint64_t{kSlotAlignmentRows - 1} * partitions);
            EXPECT(guessedCapacityRows(rows, partitions, 5.0) % kSlotAlignmentRows == 0);
        }
    }
}

/** Positions in a slot buffer are 32 bits wide. */
void shouldKeepSlotBuffersUnderFourBillionRows() {
    for (std::uint64_t buildRows = 1; buildRows <= 1ull << 31; buildRows *= 4) {
        const RadixPlan plan = RadixPlan::of(buildRows, kTableShape<std::int64_t>);
        const std::uint64_t probeRows = 1ull << 31;
        const double repeats =
            1.0 + static_cast<double>(probeRows) / static_cast<double>(buildRows);
        EXPECT(slotBufferRows(probeRows, plan.partitions(), repeats) < 1ull << 32);
        EXPECT(slotBufferRows(probeRows, plan.first.count(), repeats) < 1ull << 32);
        EXPECT(slotBufferRows(buildRows, plan.partitions(), 1.0) < 1ull << 32);
    }
}

void shouldCutAlignedRegionsOneAfterTheOther() {
    RegionCutter counting(nullptr);
    EXPECT(counting.take<char>(1) == nullptr && counting.usedBytes() == kRegionAlignmentBytes);
    alignas(256) static unsigned char memory[1024];
    RegionCutter cutting(memory);
    EXPECT(cutting.take<char>(257) == reinterpret_cast<char*>(memory));
    EXPECT(cutting.take<int>(1) == reinterpret_cast<int*>(memory + 512));
}

template <class Word>
void shouldFindEveryRowOfAChain(unsigned seed) {
    constexpr std::uint32_t kRows = 1000;
    constexpr std::uint32_t kSlotBits = 6;
    using Table = ChainTable<Word>;
    std::vector<std::uint64_t> memory(Table::lengthBytes(kRows, kSlotBits) / 8 + 1,
                                      0xA5A5A5A5A5A5A5A5ull);
    const Table table = Table::over(memory.data(), kRows, kSlotBits);
    table.clear(0, 1);
    std::mt19937_64 random(seed);
    std::multimap<Word, Word> expected;
    for (std::uint32_t row = 0; row < kRows; row++) {
        const Tuple<Word> tuple{static_cast<Word>(random() % 500) - 250,
                                static_cast<Word>(random())};
        table.insert(row, tuple);
        expected.emplace(tuple.key, tuple.payload);
    }
    for (Word key = -300; key < 300; key++) {
        std::multimap<Word, Word> left;
        for (auto range = expected.equal_range(key); range.first != range.second; ++range.first) {
            left.insert(*range.first);
        }
        for (std::uint32_t link = table.chain(key); link != Table::kNone;
             link = table.after(link)) {
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
    EXPECT(table.after(Table::kNone) == Table::kNone && !table.matches(Table::kNone, 0));
}

void shouldCoverEveryPairOfRowsWithOneItem() {
    constexpr std::uint32_t kRows = 3000;
    const std::uint32_t sizes[] = {0, 1, kRows, kRows + 1, 3 * kRows};
    for (std::uint32_t build : sizes) {
        for (std::uint32_t probe :
             {0u, 1u, kProbeSliceRows, kProbeSliceRows + 1, 5 * kProbeSliceRows - 1}) {
            std::uint64_t pairs = 0;
            const std::uint64_t count = JoinItem::count(build, probe, kRows);
            for (std::uint64_t piece = 0; piece < count; piece++) {
                const JoinItem item = JoinItem::of(16, 16 + build, 40, 40 + probe, kRows, piece);
                EXPECT(item.buildRows > 0 && item.buildRows <= kRows);
                EXPECT(item.buildFirst >= 16 && item.buildFirst + item.buildRows <= 16 + build);
                EXPECT(item.probeFirst >= 40 && item.probeFirst + item.probeRows <= 40 + probe);
                pairs += std::uint64_t{item.buildRows} * item.probeRows;
            }
            EXPECT(pairs == std::uint64_t{build} * probe);
        }
    }
}

void shouldLocateTheFurtherItemsOfPartitions() {
    std::uint64_t starts[] = {0, 0, 3, 3, 3, 5};
    const JoinItems items{5, starts, nullptr};
    EXPECT(items.count() == 10);
    const std::uint32_t partitions[] = {0, 1, 2, 3, 4, 1, 1, 1, 4, 4};
    const std::uint64_t pieces[] = {0, 0, 0, 0, 0, 1, 2, 3, 1, 2};
    for (std::uint64_t item = 0; item < items.count(); item++) {
        std::uint64_t piece = 99;
        EXPECT(items.locate(item, piece) == partitions[item]);
        EXPECT(piece == pieces[item]);
    }
}

}  // namespace
}  // namespace gpujoin::resident

int main() {
    using namespace gpujoin::resident;
    shouldHashAsJoinCoreDoes();
    shouldCutDigitsThatDoNotOverlap();
    shouldPlanPartitionsThatFitATable();
    shouldSetAsideRoomForGuessedAndForCountedSlots();
    shouldKeepSlotBuffersUnderFourBillionRows();
    shouldCutAlignedRegionsOneAfterTheOther();
    for (unsigned seed = 1; seed <= 3; seed++) {
        shouldFindEveryRowOfAChain<std::int64_t>(seed);
        shouldFindEveryRowOfAChain<std::int32_t>(seed);
    }
    shouldCoverEveryPairOfRowsWithOneItem();
    shouldLocateTheFurtherItemsOfPartitions();
    std::printf("failures=%d\n", failures);
    return failures == 0 ? 0 : 1;
}
