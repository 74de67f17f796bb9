// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A verified segment of facts: its values, its filters, and the number of results of a row.
#pragma once

#include "table.h"

namespace gpujoin {

struct Facts {
    const unsigned char* base;
    int32_t rowCount;
    uint32_t rowMask;  // a row is at `row & rowMask`; decoded rows are overwritten
    uint32_t columnOffset[MAX_FACT_COLUMNS];
    uint8_t columnWidth[MAX_FACT_COLUMNS];
};

GPUJOIN_HD inline uint64_t alignColumn(uint64_t offset) { return (offset + 63) & ~uint64_t{63}; }

// Computes the offsets of the columns and returns the length of the segment.
GPUJOIN_HD inline uint64_t locateColumns(const Plan& plan, int32_t rowCount, Facts& facts) {
    uint64_t next = sizeof(ChunkHeader);
    for (uint32_t c = 0; c < plan.columnCount; c++) {
        facts.columnOffset[c] = static_cast<uint32_t>(next);
        facts.columnWidth[c] = plan.columnWidth[c];
        next = alignColumn(next + uint64_t{plan.columnWidth[c]} * static_cast<uint32_t>(rowCount));
    }
    facts.rowCount = rowCount;
    facts.rowMask = ~uint32_t{0};
    return next;
}

GPUJOIN_HD inline bool isEncoded(const ChunkHeader& header) {
    return header.version == CHUNK_VERSION_WITH_FLAGS && header.flags == CHUNK_ENCODED;
}

// Returns the rows to read of a chunk that is read in place.
GPUJOIN_HD inline uint32_t rowsToRead(const StepEntry& step) {
    return step.chunkReadRows == 0 ? step.chunkRowCount : step.chunkReadRows;
}

// Returns the rows of the segment that a step has read.
GPUJOIN_HD inline int32_t rowsOf(const StepEntry& step, const ChunkHeader& header) {
    return step.chunk == 0 ? header.rowCount : static_cast<int32_t>(rowsToRead(step));
}

// Returns whether every field has the value that this step expects. Required before locateColumns.
GPUJOIN_HD inline bool isHeaderOf(const ChunkHeader& header, const StepEntry& step,
                                  const Plan& plan) {
    bool encoded = isEncoded(header);
    bool hasVersion = header.version == CHUNK_VERSION || encoded ||
                      (step.chunk != 0 && header.version == CHUNK_VERSION_WITH_FLAGS &&
                       header.flags == CHUNK_MANY_PARTITIONS);
    if (header.magic != CHUNK_MAGIC || !hasVersion || header.headerLength != sizeof(ChunkHeader) ||
        header.schemaFingerprint != plan.schemaFingerprint || header.epoch != step.epoch ||
        header.sequence != step.segmentSequence || header.rowCount < 0 ||
        static_cast<uint32_t>(header.lengthBytes) != step.lengthBytes) {
        return false;
    }
    if (step.chunk != 0) {
        return encoded == (step.chunkIsEncoded != 0) &&
               static_cast<uint32_t>(header.rowCount) == step.chunkRowCount;
    }
    Facts facts;
    return encoded ? plan.decodedRows != 0
                   : locateColumns(plan, header.rowCount, facts) == step.lengthBytes;
}

GPUJOIN_HD inline int64_t factValue(const Facts& facts, uint32_t column, int32_t row) {
    uint32_t widthBytes = facts.columnWidth[column];
    uint64_t index = static_cast<uint32_t>(row) & facts.rowMask;
    return loadInteger(facts.base + facts.columnOffset[column] + widthBytes * index, widthBytes);
}

GPUJOIN_HD inline int64_t factKey(const Facts& facts, const Dimension& table, int32_t row) {
    return factValue(facts, table.keyColumn, row);
}

// Returns whether the row passes all filters.
GPUJOIN_HD inline bool isKept(const Plan& plan, const Facts& facts, int32_t row) {
    const Filter* filters = reinterpret_cast<const Filter*>(plan.filters);
    const ValueRange* ranges = reinterpret_cast<const ValueRange*>(plan.ranges);
    bool kept = true;
    for (uint32_t f = 0; f < plan.filterCount && kept; f++) {
        uint64_t value = static_cast<uint64_t>(factValue(facts, filters[f].column, row));
        kept = false;
        for (uint32_t r = 0; r < filters[f].rangeCount; r++) {
            const ValueRange& range = ranges[filters[f].firstRange + r];
            kept |= value - static_cast<uint64_t>(range.from) <= range.distance;
        }
    }
    return kept;
}

// Multiplies with saturation; a row with so many results is never fully emitted anyway.
GPUJOIN_HD inline uint64_t multiplyCounts(uint64_t a, uint64_t b) {
    constexpr uint64_t MANY = uint64_t{1} << 52;
    return a > MANY / b ? MANY : a * b;
}

// Returns the matches of a row in dimension number `d`. A null key has none.
GPUJOIN_HD inline Matches matchesOf(const Plan& plan, const Dimension& table, uint32_t d,
                                    const Facts& facts, int32_t row, int64_t key) {
    if (plan.nullKeysColumn != NO_COLUMN &&
        (factValue(facts, plan.nullKeysColumn, row) >> d & 1) != 0) {
        return Matches{NO_ROW, 0};
    }
    return findMatches(table, key);
}

// Returns the number of results of a row for its matches in one dimension.
GPUJOIN_HD inline uint32_t resultsOf(const Dimension& table, const Matches& matches) {
    switch (table.joinKind) {
        case JOIN_INNER:
            return matches.count;
        case JOIN_LEFT:
            return matches.count == 0 ? 1 : matches.count;
        case JOIN_SEMI:
            return matches.count == 0 ? 0 : 1;
        default:
            return matches.count == 0 ? 1 : 0;
    }
}

// Returns the number of results of a row: the product over all dimensions, 0 if a filter rejects
// the row. Stops at the first dimension without a result.
GPUJOIN_HD inline uint64_t countResults(const Plan& plan, const Dimension* tables,
                                        const Facts& facts, int32_t row) {
    uint64_t count = isKept(plan, facts, row) ? 1 : 0;
    for (uint32_t d = 0; d < plan.dimensionCount && count > 0; d++) {
        int64_t key = factKey(facts, tables[d], row);
        uint32_t results = resultsOf(tables[d], matchesOf(plan, tables[d], d, facts, row, key));
        count = results == 0 ? 0 : multiplyCounts(count, results);
    }
    return count;
}

}  // namespace gpujoin
