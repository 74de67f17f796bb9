// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Encoded columns of a segment: their layout, and the checks that a decoder relies on. Java writes
// them; EncodedColumnDescriptor draws the layout.
#pragma once

#include "attributes.h"
#include "layout.h"

namespace gpujoin {

constexpr int32_t TILE_ROWS = 1024;
constexpr int32_t MAX_ENCODED_ROWS = 1 << 20;  // of a segment; its length does not limit them
constexpr uint32_t RUN_LENGTH = 0x10;          // added to the encoding of the values
constexpr uint32_t MAX_CODE_BITS = 56;
constexpr uint32_t MAX_RUN_BITS = 10;
constexpr int32_t MAX_DICTIONARY_SIZE = 1 << 16;

// Encoding of values, as in ValueEncoding of Java.
enum ValueEncoding : uint32_t {
    ENCODING_PLAIN = 0,
    ENCODING_BIT_PACKED = 1,
    ENCODING_DICTIONARY = 2,
    ENCODING_DELTA = 3
};

// Entry of a column, drawn in EncodedColumnDescriptor. Entries follow the header of the segment.
struct EncodedColumn {
    uint8_t encoding;
    uint8_t valueBits;
    uint8_t runBits;
    uint8_t widthBytes;
    int32_t dictionarySize;
    int32_t bodyOffset;
    int32_t bodyBytes;
    int64_t base;
    int32_t runCount;
    int32_t reserved;

    GPUJOIN_HD bool hasRuns() const { return (encoding & RUN_LENGTH) != 0; }
    GPUJOIN_HD uint32_t values() const { return encoding & ~RUN_LENGTH; }
};
static_assert(sizeof(EncodedColumn) == 32);
static_assert(offsetof(EncodedColumn, base) == 16);

// Offsets of the sections of a body, from its start. An absent section is empty.
struct BodySections {
    uint64_t firstValues;
    uint64_t dictionary;
    uint64_t runLengths;
    uint64_t values;
    uint64_t end;
};

GPUJOIN_HD inline uint64_t alignSection(uint64_t bytes) { return (bytes + 15) & ~uint64_t{15}; }

// Bytes of packed codes, with at least 7 bytes after the last one.
GPUJOIN_HD inline uint64_t packedBytes(uint64_t count, uint32_t bits) {
    return bits == 0 ? 0 : alignSection(((count * bits + 7) >> 3) + 7);
}

GPUJOIN_HD inline BodySections sectionsOf(const EncodedColumn& column, int32_t rowCount) {
    uint64_t tiles = (uint64_t{static_cast<uint32_t>(rowCount)} + TILE_ROWS - 1) / TILE_ROWS;
    uint64_t count = static_cast<uint32_t>(column.hasRuns() ? column.runCount : rowCount);
    BodySections at{};
    at.firstValues = column.hasRuns() ? alignSection(4 * (tiles + 1)) : 0;
    at.dictionary =
        at.firstValues + (column.values() == ENCODING_DELTA ? alignSection(8 * tiles) : 0);
    at.runLengths =
        at.dictionary +
        alignSection(uint64_t{static_cast<uint32_t>(column.dictionarySize)} * column.widthBytes);
    at.values = at.runLengths + packedBytes(static_cast<uint32_t>(column.runCount), column.runBits);
    at.end =
        at.values + (column.values() == ENCODING_PLAIN ? alignSection(count * column.widthBytes)
                                                       : packedBytes(count, column.valueBits));
    return at;
}

// Returns whether every field is in its range and the body has the length of its sections, so that
// no tile is decoded from bytes outside the body. The first runs of tiles are checked with each
// tile.
GPUJOIN_HD inline bool isEncodedColumn(const EncodedColumn& column, int32_t rowCount,
                                       uint32_t widthBytes, uint64_t expectedBody) {
    uint32_t values = column.values();
    if (values > ENCODING_DELTA || column.widthBytes != widthBytes || column.reserved != 0) {
        return false;
    }
    int32_t mostRuns = column.hasRuns() ? rowCount : 0;
    uint32_t mostBits = values == ENCODING_PLAIN ? 0 : MAX_CODE_BITS;
    int32_t mostValues = values != ENCODING_DICTIONARY    ? 0
                         : rowCount < MAX_DICTIONARY_SIZE ? rowCount
                                                          : MAX_DICTIONARY_SIZE;
    if (column.valueBits > mostBits || column.runBits > (column.hasRuns() ? MAX_RUN_BITS : 0) ||
        column.runCount < 0 || column.runCount > mostRuns || column.dictionarySize < 0 ||
        column.dictionarySize > mostValues || column.bodyOffset < 0 || column.bodyBytes < 0) {
        return false;
    }
    return static_cast<uint64_t>(column.bodyOffset) == expectedBody &&
           static_cast<uint64_t>(column.bodyBytes) == sectionsOf(column, rowCount).end;
}

// Returns the length of the segment whose copy starts at `segment`, or 0 if a column is wrong. The
// copy has `lengthBytes` bytes, and its rows are counted in a checked header.
GPUJOIN_HD inline uint64_t encodedLength(const Plan& plan, const unsigned char* segment,
                                         int32_t rowCount, uint64_t lengthBytes) {
    uint64_t end = sizeof(ChunkHeader) + plan.columnCount * sizeof(EncodedColumn);
    if (rowCount == 0 || rowCount > MAX_ENCODED_ROWS || end > lengthBytes) {
        return 0;
    }
    const EncodedColumn* columns =
        reinterpret_cast<const EncodedColumn*>(segment + sizeof(ChunkHeader));
    for (uint32_t c = 0; c < plan.columnCount; c++) {
        if (!isEncodedColumn(columns[c], rowCount, plan.columnWidth[c], end)) {
            return 0;
        }
        end += static_cast<uint64_t>(columns[c].bodyBytes);
        if (end > lengthBytes) {
            return 0;
        }
    }
    return end;
}

}  // namespace gpujoin
