// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The parts of the sort-merge join that also compile for the CPU: splitters, plan and merge path.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "../../main/cuda/sortmerge/merge_path.h"
#include "../../main/cuda/sortmerge/merge_plan.h"
#include "../../main/cuda/sortmerge/sort_plan.h"
#include "../../main/cuda/sortmerge/splitter_table.h"

namespace gpujoin::sortmerge {
namespace {

int failures = 0;

void expect(bool condition, const char* sentence, const char* text) {
    if (!condition) {
        std::printf("FAILED %s: %s\n", sentence, text);
        failures++;
    }
}
#define EXPECT(condition) expect((condition), __func__, #condition)

template <typename Word>
void shouldKeepTheOrderOfSignedKeys() {
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; i++) {
        auto a = static_cast<Word>(random());
        auto b = static_cast<Word>(random());
        EXPECT((a < b) == (ordered(a) < ordered(b)));
        EXPECT(unordered<Word>(ordered(a)) == a);
    }
}

// Draws a key: any word, one of a few clusters, or one of a few small ones.
template <typename Key>
Key drawKey(std::mt19937_64& random, int distribution) {
    switch (distribution) {
        case 0:
            return static_cast<Key>(random());
        case 1:
            return static_cast<Key>(random() % 4 << (8 * sizeof(Key) - 2)) +
                   static_cast<Key>(random() % 1000);
        case 2:
            return static_cast<Key>(random() % 300);
        default:
            return random() % 10 == 0 ? static_cast<Key>(random()) : ~Key{0};
    }
}

template <typename Word>
void shouldFindTheBucketOfEveryKey() {
    using Key = OrderedKey<Word>;
    std::mt19937_64 random(7);
    auto table = std::make_unique<SplitterTable<Word>>();
    for (uint32_t count : {0u, 1u, 2u, 63u, MAX_DIGITS - 1}) {
        for (int distribution = 0; distribution < 4; distribution++) {
            std::generate_n(table->splitters, count,
                            [&] { return drawKey<Key>(random, distribution); });
            std::sort(table->splitters, table->splitters + count);
            table->describe(count);
            table->fillCells(0, 1);
            const typename SplitterTable<Word>::Search search(table.get());
            auto check = [&](Key key) {
                auto* end = table->splitters + count;
                EXPECT(search.bucketOf(key) ==
                       std::upper_bound(table->splitters, end, key) - table->splitters);
            };
            for (int i = 0; i < 2000; i++) {
                check(drawKey<Key>(random, i % 4));
            }
            for (uint32_t i = 0; i < count; i++) {
                for (Key key : {table->splitters[i] - 1, table->splitters[i] + 1}) {
                    check(key);
                }
                check(table->splitters[i]);
            }
            check(0);
            check(~Key{0});
        }
    }
}

// A key that is as frequent as two buckets must not share a bucket, since such a bucket would be too
// large to sort.
template <typename Word>
void shouldGiveFrequentKeysBucketsOfTheirOwn() {
    using Key = OrderedKey<Word>;
    std::mt19937_64 random(7);
    constexpr uint32_t DIGITS = 64;
    constexpr uint32_t SAMPLES = DIGITS * 32;
    auto table = std::make_unique<SplitterTable<Word>>();
    for (Key frequent :
         {Key{0}, Key{1}, Key{12345}, static_cast<Key>(~Key{0} - 1), static_cast<Key>(~Key{0})}) {
        std::vector<Key> sample(SAMPLES, frequent);
        std::generate_n(sample.begin(), SAMPLES / 2, [&] { return drawKey<Key>(random, 0); });
        std::sort(sample.begin(), sample.end());
        for (uint32_t i = 0; i + 1 < DIGITS; i++) {
            table->splitters[i] = SplitterTable<Word>::choose(sample.data(), SAMPLES, DIGITS, i);
        }
        EXPECT(std::is_sorted(table->splitters, table->splitters + DIGITS - 1));
        table->describe(DIGITS - 1);
        table->fillCells(0, 1);
        uint32_t bucket = typename SplitterTable<Word>::Search(table.get()).bucketOf(frequent);
        EXPECT(table->isConstant(bucket));
    }
}

void shouldReservePartitionsForBucketsOfAnySize() {
    std::mt19937_64 random(7);
    for (uint64_t rows = 1; rows <= 1ull << 31; rows = rows * 5 / 3 + 1) {
        uint32_t buckets = bucketsOf(rows);
        RegionAllocator regions(nullptr);
        auto sort = TableSort<int64_t>::allocate(regions, rows, buckets);
        EXPECT(buckets <= MAX_DIGITS);
        uint64_t left = rows;
        uint64_t partitions = 0;
        for (uint32_t b = 0; b < buckets; b++) {
            uint64_t bucketRows = b + 1 == buckets ? left : random() % (left + 1);
            left -= bucketRows;
            EXPECT(digitsOf(bucketRows) >= 1 && digitsOf(bucketRows) <= MAX_DIGITS);
            partitions += digitsOf(bucketRows);
        }
        EXPECT(partitions <= sort.maxPartitions);
    }
}

void shouldPlanPartitionsThatABlockSorts() {
    for (uint64_t rows = 1; rows <= 1ull << 29; rows = rows * 5 / 3 + 1) {
        uint64_t bucketRows = (rows + bucketsOf(rows) - 1) / bucketsOf(rows);
        EXPECT(bucketRows / digitsOf(bucketRows) <= PARTITION_ROWS);
    }
    EXPECT(PARTITION_ROWS * 3 / 2 < SORT_BLOCK_ROWS);
}

template <typename Word>
void shouldDivideAMergeIntoTiles() {
    std::mt19937_64 random(7);
    for (uint32_t distinct : {1u, 5u, 100u, 100000u}) {
        for (size_t buildRows : {0, 1, 500, 3000}) {
            for (size_t probeRows : {0, 1, 777, 4000}) {
                auto draw = [&] { return static_cast<Word>(random() % distinct) - 3; };
                std::vector<Word> build(buildRows);
                std::vector<Word> probe(probeRows);
                std::generate(build.begin(), build.end(), draw);
                std::generate(probe.begin(), probe.end(), draw);
                std::sort(build.begin(), build.end());
                std::sort(probe.begin(), probe.end());
                // Follows the merge row by row.
                uint64_t b = 0;
                for (uint64_t diagonal = 0; diagonal <= buildRows + probeRows; diagonal++) {
                    EXPECT(mergePath(build.data(), buildRows, probe.data(), probeRows, diagonal) ==
                           b);
                    uint64_t p = diagonal - b;
                    b += b < buildRows && (p == probeRows || build[b] <= probe[p]) ? 1 : 0;
                }
            }
        }
    }
}

void shouldFindTheStartOfARun() {
    std::vector<int64_t> keys{1, 1, 1, 2, 5, 5, 5, 5, 5, 5, 5, 5, 5, 9};
    for (uint64_t end = 0; end <= keys.size(); end++) {
        for (int64_t key = end == 0 ? 0 : keys[end - 1]; key < 11; key++) {
            auto start = std::lower_bound(keys.begin(), keys.begin() + end, key) - keys.begin();
            EXPECT(runStart(keys.data(), end, key) == static_cast<uint64_t>(start));
        }
    }
}

void shouldFindBounds() {
    std::vector<int32_t> keys{-3, -3, 0, 4, 4, 4, 7};
    for (int32_t key = -5; key < 9; key++) {
        auto low = std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
        auto high = std::upper_bound(keys.begin(), keys.end(), key) - keys.begin();
        EXPECT(lowerBound(keys.data(), 0u, 7u, key) == low);
        EXPECT(upperBound(keys.data(), 0u, 7u, key) == high);
    }
}

}  // namespace
}  // namespace gpujoin::sortmerge

int main() {
    using namespace gpujoin::sortmerge;
    shouldKeepTheOrderOfSignedKeys<int32_t>();
    shouldKeepTheOrderOfSignedKeys<int64_t>();
    shouldFindTheBucketOfEveryKey<int32_t>();
    shouldFindTheBucketOfEveryKey<int64_t>();
    shouldGiveFrequentKeysBucketsOfTheirOwn<int32_t>();
    shouldGiveFrequentKeysBucketsOfTheirOwn<int64_t>();
    shouldReservePartitionsForBucketsOfAnySize();
    shouldPlanPartitionsThatABlockSorts();
    shouldDivideAMergeIntoTiles<int32_t>();
    shouldDivideAMergeIntoTiles<int64_t>();
    shouldFindTheStartOfARun();
    shouldFindBounds();
    std::printf("failures=%d\n", failures);
    return failures == 0 ? 0 : 1;
}
