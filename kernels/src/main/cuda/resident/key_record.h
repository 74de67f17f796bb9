// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Key bytes of rows whose words are hashes. Equal words are then not yet a match.
//
//   0          4                       lengthBytes
//   +----------+----------------------+---------+
//   | int32    | key bytes            | zeros   |   whole units, as its address is aligned
//   +----------+----------------------+---------+
#pragma once

#include <cstddef>
#include <cstdint>

#include "chain_table.h"
#include "run_rows.h"

namespace gpujoin::resident {

// What one load reads of a record. The same number of bytes as in KeyArena.java.
struct alignas(16) KeyUnit {
    uint64_t low;
    uint64_t high;

    // Takes values: a comparison in place would read each half when it is needed.
    GPUJOIN_INLINE static bool equal(KeyUnit a, KeyUnit b) {
        return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
    }
};

// Whether two records hold the same key. Comparing whole units is exact since padding is zero.
GPUJOIN_INLINE bool equalRecords(const KeyUnit* left, const KeyUnit* right) {
    KeyUnit first = left[0];
    if (!KeyUnit::equal(first, right[0])) {
        return false;
    }
    size_t lengthBytes = sizeof(uint32_t) + static_cast<uint32_t>(first.low);
    for (size_t u = 1; u * sizeof(KeyUnit) < lengthBytes; u++) {
        if (!KeyUnit::equal(left[u], right[u])) {
            return false;
        }
    }
    return true;
}

// The records of the rows of one table, whose runs hold their addresses behind the words.
struct KeyRecords {
    const int64_t* const* runs;

    GPUJOIN_INLINE const KeyUnit* of(int64_t row) const {
        auto number = static_cast<uint64_t>(row);
        const int64_t* addresses = runs[number / RUN_ROWS] + RUN_ROWS;
        return reinterpret_cast<const KeyUnit*>(addresses[number % RUN_ROWS]);
    }
};

// Decides whether a build row of a chain matches a probe row. Exact words alone decide.
struct ExactWords {
    static constexpr bool ARE_EXACT = true;

    template <typename Word>
    GPUJOIN_INLINE bool match(const ChainTable<Word>& table, uint32_t link,
                              const Tuple<Word>& probeRow) const {
        return table.matches(link, probeRow.key);
    }
};

// Decides the same if words are hashes. Payloads are row numbers.
struct HashedWords {
    static constexpr bool ARE_EXACT = false;
    KeyRecords build;
    KeyRecords probe;

    GPUJOIN_INLINE bool match(const ChainTable<int64_t>& table, uint32_t link,
                              const Tuple<int64_t>& probeRow) const {
        return table.matches(link, probeRow.key) &&
               equalRecords(build.of(table.payloadAt(link)), probe.of(probeRow.payload));
    }
};

}  // namespace gpujoin::resident
