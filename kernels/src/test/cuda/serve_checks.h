// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of whole steps: segments in, results out.
#pragma once

#include <algorithm>
#include <numeric>

#include "test_device.h"

namespace gpujoin {

// A result row: the row of the facts, then the build row of each dimension: 0 if the dimension
// emits no payload, NO_ROW if there is no match.
using ResultRow = std::vector<uint32_t>;

// Returns the results of a fact in one dimension.
inline std::vector<uint32_t> meets(const BuildSide& side, int64_t key, bool isNull) {
    std::vector<uint32_t> matches;
    for (uint32_t row = 0; row < side.keys.size() && !isNull; row++) {
        if (side.keys[row] == key) {
            matches.push_back(row);
        }
    }
    switch (side.dimension.joinKind) {
        case JOIN_INNER:
            return matches;
        case JOIN_LEFT:
            return matches.empty() ? std::vector<uint32_t>{NO_ROW} : matches;
        case JOIN_SEMI:
            return std::vector<uint32_t>(matches.empty() ? 0 : 1, 0);
        default:
            return std::vector<uint32_t>(matches.empty() ? 1 : 0, 0);
    }
}

inline std::vector<ResultRow> nestedLoops(const Device& device,
                                          const std::vector<BuildSide*>& sides, int64_t key,
                                          uint32_t row) {
    std::vector<ResultRow> results{{row}};
    for (uint32_t d = 0; d < sides.size(); d++) {
        std::vector<ResultRow> longer;
        for (const ResultRow& result : results) {
            for (uint32_t match : meets(*sides[d], key, device.isNull(key, d))) {
                longer.push_back(result);
                longer.back().push_back(match);
            }
        }
        results = longer;
    }
    return results;
}

inline void readResults(Device& device, uint32_t slot, uint32_t buffer, int32_t rowCount,
                        std::vector<ResultRow>& results) {
    for (int32_t i = 0; i < rowCount; i++) {
        ResultRow row{device.result<uint32_t>(slot, buffer, 0, i)};
        for (const Dimension& dimension : device.dimensions) {
            uint32_t match = 0;
            if (dimension.copyCount > 0) {
                const PayloadCopy* copies = &device.copies[dimension.firstCopy];
                match = device.result<uint32_t>(slot, buffer, copies[0].resultOffset, i);
                uint64_t wide = device.result<uint64_t>(slot, buffer, copies[1].resultOffset, i);
                bool matched =
                    dimension.matchedOffset == 0 ||
                    device.result<uint8_t>(slot, buffer, dimension.matchedOffset, i) == 1;
                REQUIRE(wide == (matched ? uint64_t{match} << 32 | 7 : 0));
                REQUIRE(matched || match == 0);
                match = matched ? match : NO_ROW;
            }
            row.push_back(match);
        }
        REQUIRE(results.empty() || results.back()[0] <= row[0]);
        results.push_back(row);
    }
}

// Submits segments of facts to alternating slots and lanes and compares every result.
inline void runSegments(Device& device, const std::vector<BuildSide*>& sides,
                        std::mt19937_64& random, int64_t distinct, uint32_t lanes,
                        bool encoded = false) {
    for (int64_t sequence = 0; sequence < 6; sequence++) {
        uint32_t slot = sequence % Device::SLOTS;
        uint32_t baseRow = 1000 * static_cast<uint32_t>(sequence);
        size_t rows = sequence == 1 ? 0 : random() % Device::MAX_ROWS;
        if (encoded && sequence != 1) {  // a segment without rows is never encoded
            rows = 1 + random() % (sequence == 2 ? Device::MAX_ENCODED_ROWS : 2000);
        }
        std::vector<int64_t> keys = randomKeys(random, rows, distinct);
        if (encoded && sequence != 1) {
            device.writeEncodedSegment(slot, sequence, keys, ALL_PLANS[random() % 8],
                                       ALL_PLANS[random() % 8]);
        } else {
            device.writeSegment(slot, sequence, keys);
        }
        std::vector<ResultRow> results;
        uint32_t buffer = 0;
        for (int32_t completed = 0, resume = 0;; resume = 1, buffer ^= 1) {
            uint64_t ticket =
                device.post(slot, buffer, resume, sequence, baseRow, sequence % lanes);
            Completion done = device.await(slot, buffer, ticket);
            REQUIRE(done.status == STEP_OK);
            REQUIRE(done.rowCount <= static_cast<int32_t>(Device::CAPACITY));
            REQUIRE(done.completedRows >= completed);
            REQUIRE(done.matchCount == static_cast<uint64_t>(done.rowCount));
            completed = done.completedRows;
            readResults(device, slot, buffer, done.rowCount, results);
            if (completed == static_cast<int32_t>(keys.size())) {
                break;
            }
            REQUIRE(done.rowCount == static_cast<int32_t>(Device::CAPACITY));
        }
        std::vector<ResultRow> expected;
        for (uint32_t row = 0; row < keys.size(); row++) {
            for (ResultRow& result : nestedLoops(device, sides, keys[row], baseRow + row)) {
                expected.push_back(result);
            }
        }
        std::sort(results.begin(), results.end());
        std::sort(expected.begin(), expected.end());
        REQUIRE(results == expected);
    }
}

inline void shouldJoinSegmentsInBoundedStepsForAnyFanOut(uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide grouped(randomKeys(random, 300, 40), TABLE_GROUPED);
    BuildSide chained(randomKeys(random, 100, 40), TABLE_CHAINED);
    BuildSide semi(randomKeys(random, 200, 40), TABLE_UNIQUE, JOIN_SEMI);
    std::vector<int64_t> each;
    for (int64_t key = -18; key < 18; key++) {
        each.push_back(key);
    }
    BuildSide unique(each, TABLE_UNIQUE);
    std::vector<BuildSide*> sides{&grouped, &unique, &semi, &chained};
    sides.resize(1 + seed % 4);
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    Device device(sides, keyWidthOf(seed / 2));
    device.lanes = 1 + seed / 4 % Device::LANES;
    device.start();
    runSegments(device, sides, random, 44, 1);
    device.stop();
    if (device.lanes > 1) {
        device.allot({0, 1, 1});
    }
    device.start();
    runSegments(device, sides, random, 44, device.lanes);
    device.stop();
}

inline void shouldHandleFactsWithoutAMatchByJoinKind(uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide left(randomKeys(random, 100, 40), TABLE_CHAINED, JOIN_LEFT);
    BuildSide anti(randomKeys(random, 10, 40), TABLE_UNIQUE, JOIN_ANTI);
    BuildSide grouped(randomKeys(random, 200, 40), TABLE_GROUPED, JOIN_LEFT);
    BuildSide semi(randomKeys(random, 200, 40), TABLE_UNIQUE, JOIN_SEMI);
    BuildSide empty({}, TABLE_UNIQUE, seed % 2 == 0 ? JOIN_LEFT : JOIN_ANTI);
    BuildSide inner(randomKeys(random, 200, 40), TABLE_CHAINED);
    std::vector<BuildSide*> sides{&left, &anti, &grouped, &empty, &inner, &semi};
    std::shuffle(sides.begin(), sides.end(), random);
    sides.resize(1 + seed % sides.size());
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    Device device(sides, keyWidthOf(seed / 2), seed % 3 == 0 ? NO_COLUMN : 1);
    device.start();
    runSegments(device, sides, random, 44, 1);
    device.stop();
}

inline void shouldJoinEncodedSegmentsLikePlainOnes(uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide left(randomKeys(random, 100, 40), TABLE_CHAINED, JOIN_LEFT);
    BuildSide semi(randomKeys(random, 200, 40), TABLE_UNIQUE, JOIN_SEMI);
    std::vector<BuildSide*> sides{&left, &semi};
    sides.resize(1 + seed / 2 % 2);
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    Device device(sides, keyWidthOf(seed / 2), seed % 3 == 0 ? NO_COLUMN : 1);
    device.start();
    runSegments(device, sides, random, 44, 1, true);
    device.stop();
}

// A step whose checksum is right and whose columns are not, as a faulty writer makes it.
inline void shouldFailAStepWhoseSegmentDoesNotDecode() {
    BuildSide side({1, 2, 3}, TABLE_UNIQUE);
    side.insertAll(1);
    Device device({&side}, 8);
    device.start();
    for (bool breaksEntry : {true, false}) {
        device.writeEncodedSegment(0, 4, {3, 4, 1, 3}, {ENCODING_DICTIONARY, false}, {});
        unsigned char* base = device.segment(0);
        EncodedColumn& column = *reinterpret_cast<EncodedColumn*>(base + sizeof(ChunkHeader));
        if (breaksEntry) {
            column.valueBits++;
            column.runBits = 1;
        } else {
            base[column.bodyOffset + sectionsOf(column, 4).values] = 0xFF;  // code 3 of 3 values
        }
        device.seal(0, *reinterpret_cast<ChunkHeader*>(base));
        Completion done = device.await(0, 0, device.post(0, 0, false, 4, 0));
        REQUIRE(done.status == STEP_BAD_ENCODING);
        REQUIRE(done.completedRows == 0);
    }
    device.plan.decodedRows = 0;
    device.writeEncodedSegment(1, 5, {3}, {ENCODING_PLAIN, false}, {});
    REQUIRE(device.await(1, 0, device.post(1, 0, false, 5, 0)).status == STEP_BAD_HEADER);
    device.stop();
}

inline void shouldRereadASegmentUntilItIsComplete() {
    BuildSide side({1, 2, 3}, TABLE_UNIQUE);
    side.insertAll(1);
    Device device({&side}, 8);
    device.writeSegment(0, 9, {3, 4, 1});
    unsigned char torn = device.segment(0)[70];
    device.segment(0)[70] = 1;
    uint64_t ticket = device.post(0, 0, false, 9, 0);
    device.start();
    Completion first = device.await(0, 0, ticket);
    REQUIRE(first.status == STEP_BAD_CHECKSUM);
    device.segment(0)[70] = torn;
    ticket = device.post(0, 0, false, 8, 0);
    REQUIRE(device.await(0, 0, ticket).status == STEP_BAD_HEADER);
    ticket = device.post(0, 0, false, 9, 0);
    Completion last = device.await(0, 0, ticket);
    REQUIRE(last.status == STEP_OK && last.rowCount == 2);
    device.stop();
}

// Emulates a remote writer: the step arrives first, then words in any order. Initially the slot
// contains the previous segment.
inline void shouldJoinASegmentThatArrivesWordByWord(uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide side(randomKeys(random, 50, 40), TABLE_CHAINED);
    side.insertAll(1);
    std::vector<BuildSide*> sides{&side};
    Device device(sides, 8);
    device.start();
    for (int64_t sequence = 0; sequence < 20; sequence++) {
        std::vector<int64_t> keys = randomKeys(random, 1 + random() % 100, 44);
        std::vector<uint64_t> before(device.plan.segmentBytes / 8);
        std::memcpy(before.data(), device.segment(0), device.plan.segmentBytes);
        device.writeSegment(0, sequence, keys);
        std::vector<uint64_t> words(device.lengthBytes[0] / 8);
        std::memcpy(words.data(), device.segment(0), device.lengthBytes[0]);
        std::memcpy(device.segment(0), before.data(), device.plan.segmentBytes);
        uint64_t ticket = device.post(0, 0, false, sequence, 0);
        std::vector<size_t> order(words.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (size_t word : order) {
            storeRelaxedSystem(reinterpret_cast<uint64_t*>(device.segment(0)) + word, words[word]);
            if (random() % 16 == 0) {
                std::this_thread::yield();
            }
        }
        Completion done = device.await(0, 0, ticket);
        if (done.status !=
            STEP_OK) {  // reads are bounded, and this thread may have been descheduled
            done = device.await(0, 0, device.post(0, 0, false, sequence, 0));
        }
        REQUIRE(done.status == STEP_OK);
        REQUIRE(done.completedRows == static_cast<int32_t>(keys.size()));
        std::vector<ResultRow> results;
        readResults(device, 0, 0, done.rowCount, results);
        std::vector<ResultRow> expected;
        for (uint32_t row = 0; row < keys.size(); row++) {
            for (ResultRow& result : nestedLoops(device, sides, keys[row], row)) {
                expected.push_back(result);
            }
        }
        std::sort(results.begin(), results.end());
        std::sort(expected.begin(), expected.end());
        REQUIRE(results == expected);
    }
    device.stop();
}

inline void shouldOnlyCountWithoutAResultBuffer() {
    BuildSide side({1, 2, 2, 3}, TABLE_CHAINED);
    side.insertAll(1);
    Device device({&side}, 8);
    device.plan.capacityRows = 0;
    device.writeSegment(1, 5, {2, 9, 2, 3});
    device.start();
    Completion done = device.await(1, 1, device.post(1, 1, false, 5, 0));
    REQUIRE(done.rowCount == 0 && done.matchCount == 5 && done.completedRows == 4);
    device.stop();
}

}  // namespace gpujoin
