// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of a join of tables in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "resident_join.h"

namespace gpujoin::resident {

inline bool isAligned(const void* pointer, size_t bytes) {
    return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

template <typename Word>
bool isValid(const TableView<Word>& table) {
    bool isPresent = table.rows == 0 || (table.keys != nullptr && table.payloads != nullptr);
    return isPresent && table.rows <= MAX_ROWS && isAligned(table.keys, COLUMN_ALIGNMENT_BYTES) &&
           isAligned(table.payloads, COLUMN_ALIGNMENT_BYTES);
}

template <typename Word>
bool isValid(const MatchColumns<Word>& matches) {
    bool isPresent = matches.capacityRows == 0 ||
                     (matches.buildPayloads != nullptr && matches.probePayloads != nullptr);
    return isPresent && matches.matchCount != nullptr &&
           isAligned(matches.matchCount, sizeof(uint64_t)) &&
           isAligned(matches.keys, sizeof(Word)) &&
           isAligned(matches.buildPayloads, sizeof(Word)) &&
           isAligned(matches.probePayloads, sizeof(Word));
}

}  // namespace gpujoin::resident
