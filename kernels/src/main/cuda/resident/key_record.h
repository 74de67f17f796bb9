// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Key bytes of rows whose words are hashes. Equal words are then not yet a match.
//
//   0          4                       lengthBytes
//   +----------+----------------------+---------+
//   | int32    | key bytes            | zeros   |   a multiple of 8 bytes, as its address is
//   +----------+----------------------+---------+
#pragma once

#include <cstddef>
#include <cstdint>

#include "chain_table.h"
#include "run_rows.h"

namespace gpujoin::resident {

// Whether two records hold the same key. Comparing whole words is exact since padding is zero.
GPUJOIN_INLINE bool equalRecords(const uint64_t* left, const uint64_t* right) {
    uint64_t first = left[0];
    if (first != right[0]) {
        return false;
    }
    size_t lengthBytes = sizeof(uint32_t) + static_cast<uint32_t>(first);
    size_t words = (lengthBytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    for (size_t w = 1; w < words; w++) {
        if (left[w] != right[w]) {
            return false;
        }
    }
    return true;
}

// The records of the rows of one table, whose runs hold their addresses behind the words.
struct KeyRecords {
    const int64_t* const* runs;

    GPUJOIN_INLINE const uint64_t* of(int64_t row) const {
        auto number = static_cast<uint64_t>(row);
        const int64_t* addresses = runs[number / RUN_ROWS] + RUN_ROWS;
        return reinterpret_cast<const uint64_t*>(addresses[number % RUN_ROWS]);
    }
};

// Decides whether a build row of a chain matches a probe row. Exact words alone decide.
struct ExactWords {
    template <typename Word>
    GPUJOIN_INLINE bool match(const ChainTable<Word>& table, uint32_t link,
                              const Tuple<Word>& probeRow) const {
        return table.matches(link, probeRow.key);
    }
};

// Decides the same if words are hashes. Payloads are row numbers.
struct HashedWords {
    KeyRecords build;
    KeyRecords probe;

    GPUJOIN_INLINE bool match(const ChainTable<int64_t>& table, uint32_t link,
                              const Tuple<int64_t>& probeRow) const {
        return table.matches(link, probeRow.key) &&
               equalRecords(build.of(table.payloadAt(link)), probe.of(probeRow.payload));
    }
};

}  // namespace gpujoin::resident
