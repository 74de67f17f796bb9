// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Encodes columns by any plan, whether it saves bytes or not. Java's encoder selects plans.
#pragma once

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "../../main/cuda/engine/encoding.h"
#include "test_support.h"

namespace gpujoin {

struct ColumnPlan {
    uint32_t values;
    bool runs;
};

constexpr ColumnPlan ALL_PLANS[] = {{ENCODING_PLAIN, false},      {ENCODING_BIT_PACKED, false},
                                    {ENCODING_DICTIONARY, false}, {ENCODING_DELTA, false},
                                    {ENCODING_PLAIN, true},       {ENCODING_BIT_PACKED, true},
                                    {ENCODING_DICTIONARY, true},  {ENCODING_DELTA, true}};

class SegmentEncoder {
  public:
    explicit SegmentEncoder(uint32_t columnCount)
        : bytes(sizeof(ChunkHeader) + columnCount * sizeof(EncodedColumn)) {}

    // Appends the next column. Values fit `widthBytes`, and differences fit 56 bits.
    void add(const std::vector<int64_t>& column, uint8_t widthBytes, ColumnPlan plan) {
        EncodedColumn entry{};
        entry.encoding = static_cast<uint8_t>(plan.values | (plan.runs ? RUN_LENGTH : 0));
        entry.widthBytes = widthBytes;
        entry.bodyOffset = static_cast<int32_t>(bytes.size());
        std::vector<uint64_t> stored;   // values of rows or runs, later their codes
        std::vector<uint64_t> lengths;  // of runs, minus one
        std::vector<int32_t> firstRuns;
        std::vector<size_t> firstStored;  // of each tile
        for (size_t row = 0; row < column.size(); row++) {
            bool starts = row % TILE_ROWS == 0;
            if (starts) {
                firstRuns.push_back(static_cast<int32_t>(stored.size()));
                firstStored.push_back(stored.size());
            }
            if (plan.runs && !starts && column[row] == column[row - 1]) {
                lengths.back()++;
            } else {
                stored.push_back(static_cast<uint64_t>(column[row]));
                lengths.push_back(0);
            }
        }
        firstRuns.push_back(static_cast<int32_t>(stored.size()));
        if (plan.runs) {
            entry.runCount = static_cast<int32_t>(stored.size());
            entry.runBits = bitsOf(lengths);
            append(firstRuns.data(), 4 * firstRuns.size());
        }
        if (plan.values == ENCODING_DELTA) {
            toDeltas(entry, stored, firstStored);
        } else if (plan.values == ENCODING_DICTIONARY) {
            toCodes(entry, stored);
        } else if (plan.values == ENCODING_BIT_PACKED) {
            entry.base = static_cast<int64_t>(
                *std::min_element(stored.begin(), stored.end(), [](uint64_t a, uint64_t b) {
                    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
                }));
            for (uint64_t& value : stored) {
                value -= static_cast<uint64_t>(entry.base);
            }
        }
        if (plan.runs) {
            pack(lengths, entry.runBits);
        }
        if (plan.values == ENCODING_PLAIN) {
            appendValues(stored, widthBytes);
        } else {
            entry.valueBits = bitsOf(stored);
            pack(stored, entry.valueBits);
        }
        entry.bodyBytes = static_cast<int32_t>(bytes.size()) - entry.bodyOffset;
        std::memcpy(bytes.data() + sizeof(ChunkHeader) + columns * sizeof entry, &entry,
                    sizeof entry);
        columns++;
    }

    // The whole segment; its header is zero.
    std::vector<unsigned char> bytes;

  private:
    uint32_t columns = 0;

    static uint8_t bitsOf(const std::vector<uint64_t>& codes) {
        uint64_t all = 0;
        for (uint64_t code : codes) {
            all |= code;
        }
        uint8_t bits = 0;
        for (; all != 0; all >>= 1) {
            bits++;
        }
        REQUIRE(bits <= MAX_CODE_BITS);
        return bits;
    }

    void toDeltas(EncodedColumn& entry, std::vector<uint64_t>& stored,
                  const std::vector<size_t>& firstStored) {
        std::vector<uint64_t> firstValues;
        for (size_t first : firstStored) {
            firstValues.push_back(stored[first]);
        }
        append(firstValues.data(), 8 * firstValues.size());
        std::vector<uint64_t> deltas(stored.size());
        std::set<size_t> firsts(firstStored.begin(), firstStored.end());
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < stored.size(); i++) {
            if (firsts.count(i) == 0) {
                deltas[i] = stored[i] - stored[i - 1];
                least = std::min(least, static_cast<int64_t>(deltas[i]));
            }
        }
        entry.base = least == INT64_MAX ? 0 : least;
        for (size_t i = 0; i < stored.size(); i++) {
            stored[i] = firsts.count(i) == 0 ? deltas[i] - static_cast<uint64_t>(entry.base) : 0;
        }
    }

    void toCodes(EncodedColumn& entry, std::vector<uint64_t>& stored) {
        std::set<uint64_t> distinct(stored.begin(), stored.end());
        std::vector<uint64_t> dictionary(distinct.begin(), distinct.end());
        entry.dictionarySize = static_cast<int32_t>(dictionary.size());
        appendValues(dictionary, entry.widthBytes);
        for (uint64_t& value : stored) {
            value = static_cast<uint64_t>(
                std::lower_bound(dictionary.begin(), dictionary.end(), value) - dictionary.begin());
        }
    }

    void append(const void* from, size_t count) {
        const unsigned char* first = static_cast<const unsigned char*>(from);
        bytes.insert(bytes.end(), first, first + count);
        bytes.resize((bytes.size() + 15) / 16 * 16);
    }

    void appendValues(const std::vector<uint64_t>& values, uint8_t widthBytes) {
        std::vector<unsigned char> section(values.size() * widthBytes);
        for (size_t i = 0; i < values.size(); i++) {
            std::memcpy(section.data() + i * widthBytes, &values[i], widthBytes);
        }
        append(section.data(), section.size());
    }

    void pack(const std::vector<uint64_t>& codes, uint32_t bits) {
        std::vector<unsigned char> section(packedBytes(codes.size(), bits));
        for (size_t i = 0; i < codes.size(); i++) {
            for (uint32_t b = 0; b < bits; b++) {
                size_t bit = i * bits + b;
                section[bit / 8] |= static_cast<unsigned char>((codes[i] >> b & 1) << bit % 8);
            }
        }
        append(section.data(), section.size());
    }
};

}  // namespace gpujoin
