// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of packed results.
#pragma once

#include "serve_checks.h"

namespace gpujoin {

inline void shouldPackCodesOfAnyWidth(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (uint32_t bits = 1; bits <= 64; bits++) {
        uint32_t count = 1 + static_cast<uint32_t>(random() % STAGED_CODES);
        std::vector<uint64_t> codes(count);
        for (uint64_t& code : codes) {
            code = random() >> (64 - bits);
        }
        std::vector<uint64_t> words(alignToWord(count * bits) / 64);
        for (uint32_t word = 0; word < words.size(); word++) {
            words[word] = packedWord(codes.data(), count, bits, word);
        }
        uint64_t end = uint64_t{count} * bits;
        REQUIRE(end % 64 == 0 || words.back() >> end % 64 == 0);
        words.push_back(~uint64_t{0});
        const unsigned char* section = reinterpret_cast<const unsigned char*>(words.data());
        for (uint32_t i = 0; i < count; i++) {
            REQUIRE(packedCode(section, i, bits) == codes[i]);
        }
    }
}

inline uint64_t unpacked(const unsigned char* buffer, const PayloadCopy& copy, uint32_t at) {
    uint64_t value =
        static_cast<uint64_t>(copy.base) + packedCode(buffer + copy.resultOffset, at, copy.bits);
    return copy.widthBytes == 8 ? value : static_cast<uint32_t>(value);
}

// Returns the build row of dimension number `d` in a result, as in ResultRow.
inline uint32_t unpackedMatch(Device& device, const unsigned char* buffer, uint32_t d,
                              uint32_t fact, uint32_t at) {
    const Dimension& dimension = device.dimensions[d];
    if (dimension.copyCount == 0) {
        return 0;
    }
    bool matched = dimension.joinKind != JOIN_LEFT ||
                   packedCode(buffer + dimension.matchedOffset, fact, 1) == 1;
    uint64_t narrow = unpacked(buffer, device.copies[dimension.firstCopy], at);
    uint64_t wide = unpacked(buffer, device.copies[dimension.firstCopy + 1], at);
    REQUIRE(wide == (matched ? narrow << 32 | 7 : 0));
    REQUIRE(matched || narrow == 0);
    return matched ? static_cast<uint32_t>(narrow) : NO_ROW;
}

// Reads the results of a step that began at `firstRow` of the segment.
inline void readPackedResults(Device& device, uint32_t slot, uint32_t resultBuffer,
                              uint32_t baseRow, uint32_t firstRow, const Completion& done,
                              std::vector<ResultRow>& results) {
    const unsigned char* buffer = device.resultBuffer(slot, resultBuffer);
    uint32_t facts = static_cast<uint32_t>(done.completedRows) - firstRow;
    size_t before = results.size();
    uint32_t position = 0;
    for (uint32_t fact = 0; fact < facts; fact++) {
        position = fact % PACKED_ROWS == 0 ? alignToWord(position) : position;
        if (packedCode(buffer, fact, 1) == 0) {
            continue;
        }
        results.push_back({baseRow + firstRow + fact});
        for (uint32_t d = 0; d < device.dimensions.size(); d++) {
            results.back().push_back(unpackedMatch(device, buffer, d, fact, position));
        }
        position++;
    }
    for (uint32_t bit = facts; bit < alignToWord(facts); bit++) {
        REQUIRE(packedCode(buffer, bit, 1) == 0);
    }
    REQUIRE(results.size() - before == static_cast<size_t>(done.rowCount));
}

inline void runPackedSegments(Device& device, const std::vector<BuildSide*>& sides,
                              std::mt19937_64& random, bool encoded) {
    uint32_t capacity = device.plan.capacityRows;
    for (int64_t sequence = 0; sequence < 4; sequence++) {
        uint32_t slot = sequence % Device::SLOTS;
        uint32_t baseRow = 100000 * static_cast<uint32_t>(sequence);
        size_t most = capacity % PACKED_ROWS == 0 ? Device::MAX_ENCODED_ROWS : capacity;
        size_t rows = sequence == 1 ? 0 : 1 + random() % most;
        std::vector<int64_t> keys = randomKeys(random, rows, 44);
        if (encoded && rows > 0) {
            device.writeEncodedSegment(slot, sequence, keys, ALL_PLANS[random() % 8],
                                       ALL_PLANS[random() % 8]);
        } else {
            device.writeSegment(slot, sequence, keys);
        }
        std::vector<ResultRow> results;
        uint32_t completed = 0;
        uint32_t buffer = 0;
        do {
            uint64_t ticket = device.post(slot, buffer, completed > 0, sequence, baseRow);
            Completion done = device.await(slot, buffer, ticket);
            REQUIRE(done.status == STEP_OK);
            REQUIRE(done.matchCount == static_cast<uint64_t>(done.rowCount));
            uint32_t end = completed + least(static_cast<uint32_t>(rows) - completed, capacity);
            REQUIRE(static_cast<uint32_t>(done.completedRows) == end);
            readPackedResults(device, slot, buffer, baseRow, completed, done, results);
            completed = end;
            buffer ^= 1;
        } while (completed < rows);
        std::vector<ResultRow> expected;
        for (uint32_t row = 0; row < rows; row++) {
            for (ResultRow& result : nestedLoops(device, sides, keys[row], baseRow + row)) {
                expected.push_back(result);
            }
        }
        REQUIRE(results == expected);
    }
}

// Any kinds of joins and any widths of columns, in steps that end within a segment or not.
inline void shouldPackResultsOfAtMostOneAFact(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> keys;
    for (int64_t key = -18; key < 18; key++) {
        keys.push_back(key);
    }
    BuildSide inner(keys, TABLE_UNIQUE);
    BuildSide left({keys.begin(), keys.begin() + 30}, TABLE_UNIQUE, JOIN_LEFT);
    BuildSide grouped({keys.begin() + 6, keys.end()}, TABLE_GROUPED, JOIN_LEFT);
    BuildSide semi(randomKeys(random, 200, 40), TABLE_UNIQUE, JOIN_SEMI);
    BuildSide anti(randomKeys(random, 5, 40), TABLE_UNIQUE, JOIN_ANTI);
    BuildSide empty({}, TABLE_UNIQUE, JOIN_LEFT);
    std::vector<BuildSide*> sides{&inner, &left, &grouped, &semi, &anti, &empty};
    std::shuffle(sides.begin(), sides.end(), random);
    sides.resize(1 + seed % 4);
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    Device device(sides, keyWidthOf(seed / 2), seed % 3 == 0 ? NO_COLUMN : 1);
    uint32_t capacities[]{64, 1024, PACKED_ROWS, 4160, 2 * PACKED_ROWS};
    device.packResults(capacities[seed % 5], [&](PayloadCopy& copy, bool isLeft) {
        uint32_t wholeBits = 8 * copy.widthBytes;
        uint32_t leastBits = copy.widthBytes == 4 ? 7 : 39;
        copy.bits = leastBits + static_cast<uint32_t>(random() % (wholeBits - leastBits + 1));
        copy.base = copy.bits == wholeBits ? 0
                    : isLeft               ? -static_cast<int64_t>(random() % 64)
                                           : static_cast<int64_t>(random() % 8) -
                                   static_cast<int64_t>(copy.widthBytes == 4 ? 8 : 1);
    });
    device.start();
    runPackedSegments(device, sides, random, seed % 2 == 1);
    device.stop();
}

inline void shouldFindTheRangeOfAColumn() {
    PayloadRange range{INT64_MAX, INT64_MIN};
    for (int64_t value : {3, -7, 5}) {
        widenRange(range, value);
    }
    REQUIRE(range.least == -7 && range.greatest == 5);
    widenRange(range, INT64_MIN);
    widenRange(range, INT64_MAX);
    REQUIRE(range.least == INT64_MIN && range.greatest == INT64_MAX);
}

}  // namespace gpujoin
