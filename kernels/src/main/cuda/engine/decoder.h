// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Decodes tiles of encoded columns with all threads of a block.
#pragma once

#include "encoding.h"
#include "facts.h"

namespace gpujoin {

// Rows that a block decodes at a time. One thread may look up its rows without waiting for the
// slowest lookup of every tile.
constexpr int32_t BATCH_ROWS = 4 * TILE_ROWS;
static_assert(BATCH_ROWS == PACKED_ROWS);  // rows are decoded and their results packed together

// Decoded rows that a block holds: a batch, and the one before it, which other threads may still
// read.
constexpr int32_t DECODED_ROWS = 2 * BATCH_ROWS;
constexpr uint64_t DECODED_COLUMN_BYTES = uint64_t{8} * DECODED_ROWS;

// Returns the width of decoded values of a column. A store that tests for narrower ones doubles the
// spilled registers of the serving kernel.
GPUJOIN_HD inline uint8_t decodedWidth(uint8_t widthBytes) {
    return widthBytes < 4 ? 4 : widthBytes;
}

// State of a block that decodes a segment, in shared memory.
struct Decoding {
    alignas(16) EncodedColumn columns[MAX_FACT_COLUMNS];
    BodySections sections[MAX_FACT_COLUMNS];
    uint32_t runStart[TILE_ROWS];  // of the tile that is being decoded
    int64_t runValue[TILE_ROWS];
    uint32_t fault;  // 1 if a thread has found a code that is not in its dictionary
};

// Reads code number `index` of a packed section. The section is aligned to 8 bytes, and ends at
// least 7 bytes after its last code.
GPUJOIN_HD inline uint64_t packedCode(const unsigned char* section, uint64_t index, uint32_t bits) {
    if (bits == 0) {
        return 0;
    }
    const uint64_t* words = reinterpret_cast<const uint64_t*>(section);
    uint64_t bit = index * bits;
    uint32_t shift = static_cast<uint32_t>(bit & 63);
    uint64_t code = words[bit >> 6] >> shift;
    if (shift + bits > 64) {
        code |= words[(bit >> 6) + 1] << (64 - shift);
    }
    return code & (~uint64_t{0} >> (64 - bits));
}

// Decodes one segment, whose columns are checked.
template <typename Group>
class Decoder {
  public:
    GPUJOIN_HD Decoder(Group& group, Decoding& shared, const unsigned char* segment,
                       int32_t rowCount)
        : group(group), shared(shared), segment(segment), rowCount(rowCount) {}

    // Reads the entries of all columns. The group needs a barrier before it decodes.
    GPUJOIN_HD void open(uint32_t columnCount) {
        const EncodedColumn* entries =
            reinterpret_cast<const EncodedColumn*>(segment + sizeof(ChunkHeader));
        forEach(columnCount, [&](uint32_t c) {
            shared.columns[c] = entries[c];
            shared.sections[c] = sectionsOf(entries[c], rowCount);
        });
        if (group.rank() == 0) {
            shared.fault = 0;
        }
    }

    // Decodes all columns of a batch of rows to `to`: row i of column c is value number
    // i mod DECODED_ROWS at DECODED_COLUMN_BYTES * c, at its decodedWidth. Returns false,
    // in every thread, if runs do not fill a tile or a code is not in its dictionary: the checksum
    // does not protect against a faulty writer. Ends with a barrier. The rows of the batch before
    // stay readable.
    GPUJOIN_HD bool decode(uint32_t columnCount, int32_t batch, unsigned char* to) {
        int32_t first = batch * BATCH_ROWS;
        int32_t end = first + least(rowCount - first, BATCH_ROWS);
        bool isWhole = true;
        for (uint32_t c = 0; c < columnCount; c++) {
            isWhole &= decodeColumn(c, first, end, to + DECODED_COLUMN_BYTES * c);
        }
        group.sync();
        return isWhole && shared.fault == 0;
    }

  private:
    Group& group;
    Decoding& shared;
    const unsigned char* segment;
    int32_t rowCount;
    uint32_t index;  // of the column that is being decoded
    const unsigned char* body;

    GPUJOIN_HD const EncodedColumn& column() const { return shared.columns[index]; }
    GPUJOIN_HD const BodySections& at() const { return shared.sections[index]; }

    GPUJOIN_HD bool decodeColumn(uint32_t columnIndex, int32_t first, int32_t end,
                                 unsigned char* to) {
        index = columnIndex;
        body = segment + column().bodyOffset;
        if (!column().hasRuns() && column().values() != ENCODING_DELTA) {
            decodeRows(first, end, to);
            return true;
        }
        for (int32_t row = first; row < end; row += TILE_ROWS) {
            int32_t tileEnd = row + least(end - row, TILE_ROWS);
            if (!column().hasRuns()) {
                decodeRows(row, tileEnd, to);
            } else if (!decodeRuns(row, tileEnd, to)) {
                return false;
            }
        }
        return true;
    }

    GPUJOIN_HD void decodeRows(int32_t first, int32_t end, unsigned char* to) {
        decodeValues(
            first / TILE_ROWS, static_cast<uint32_t>(first), static_cast<uint32_t>(end - first),
            [&](uint32_t i, int64_t value) { store(to, static_cast<uint32_t>(first) + i, value); });
    }

    // Decodes `count` values, each of a row or of a run, from number `first` on. Differences must
    // be those of one tile.
    template <typename Use>
    GPUJOIN_HD void decodeValues(int32_t tile, uint32_t first, uint32_t count, Use use) {
        const unsigned char* section = body + at().values;
        switch (column().values()) {
            case ENCODING_PLAIN:
                forEach(count, [&](uint32_t i) {
                    use(i, loadInteger(section + uint64_t{column().widthBytes} * (first + i),
                                       column().widthBytes));
                });
                break;
            case ENCODING_BIT_PACKED:
                forEach(count, [&](uint32_t i) { use(i, sum(column().base, code(first + i))); });
                break;
            case ENCODING_DICTIONARY:
                forEach(count, [&](uint32_t i) { use(i, dictionaryValue(code(first + i))); });
                break;
            default:
                decodeDeltas(tile, first, count, use);
        }
    }

    template <typename Use>
    GPUJOIN_HD void decodeDeltas(int32_t tile, uint32_t first, uint32_t count, Use use) {
        uint64_t before = reinterpret_cast<const uint64_t*>(body + at().firstValues)[tile];
        for (uint32_t from = 0; from < count; from += group.size()) {
            uint32_t i = from + group.rank();
            uint64_t delta = 0;
            if (i > 0 && i < count) {
                delta = static_cast<uint64_t>(column().base) + code(first + i);
            }
            uint64_t total;
            uint64_t value = before + group.exclusiveSum(delta, total) + delta;
            if (i < count) {
                use(i, static_cast<int64_t>(value));
            }
            before += total;
        }
    }

    // Decodes the rows of a tile.
    GPUJOIN_HD bool decodeRuns(int32_t firstRow, int32_t endRow, unsigned char* to) {
        uint32_t rows = static_cast<uint32_t>(endRow - firstRow);
        const int32_t* firstRuns = reinterpret_cast<const int32_t*>(body) + firstRow / TILE_ROWS;
        int32_t first = firstRuns[0];
        int32_t next = firstRuns[1];
        if (first < 0 || next > column().runCount || next <= first ||
            static_cast<uint32_t>(next - first) > rows) {
            return false;
        }
        uint32_t count = static_cast<uint32_t>(next - first);
        group.sync();  // no thread reads the runs of the tile before any more
        decodeValues(firstRow / TILE_ROWS, static_cast<uint32_t>(first), count,
                     [&](uint32_t i, int64_t value) { shared.runValue[i] = value; });
        uint64_t start = 0;
        for (uint32_t from = 0; from < count; from += group.size()) {
            uint32_t i = from + group.rank();
            uint64_t length = 0;
            if (i < count) {
                uint64_t run = static_cast<uint64_t>(first) + i;
                length = packedCode(body + at().runLengths, run, column().runBits) + 1;
            }
            uint64_t total;
            uint64_t before = group.exclusiveSum(length, total);
            if (i < count) {
                shared.runStart[i] = static_cast<uint32_t>(start + before);
            }
            start += total;
        }
        group.sync();
        if (start != rows) {
            return false;
        }
        forEach(rows, [&](uint32_t row) {
            store(to, static_cast<uint32_t>(firstRow) + row, shared.runValue[runOf(row, count)]);
        });
        return true;
    }

    // Returns the last run that starts at or before a row.
    GPUJOIN_HD uint32_t runOf(uint32_t row, uint32_t count) const {
        uint32_t run = 0;
        uint32_t end = count;
        while (end - run > 1) {
            uint32_t middle = (run + end) / 2;
            if (shared.runStart[middle] <= row) {
                run = middle;
            } else {
                end = middle;
            }
        }
        return run;
    }

    GPUJOIN_HD uint64_t code(uint64_t index) const {
        return packedCode(body + at().values, index, column().valueBits);
    }

    GPUJOIN_HD int64_t dictionaryValue(uint64_t code) {
        if (code >= static_cast<uint64_t>(column().dictionarySize)) {
            shared.fault = 1;  // by any number of threads; read after a barrier
            return 0;
        }
        return loadInteger(body + at().dictionary + column().widthBytes * code,
                           column().widthBytes);
    }

    GPUJOIN_HD void store(unsigned char* to, uint32_t segmentRow, int64_t value) const {
        uint32_t row = segmentRow % DECODED_ROWS;
        if (column().widthBytes == 8) {
            reinterpret_cast<int64_t*>(to)[row] = value;
        } else {
            // The lower bits are the value, also of sums that exceed a narrow type.
            uint32_t unused = 32 - 8 * column().widthBytes;
            uint32_t shifted = static_cast<uint32_t>(value) << unused;
            reinterpret_cast<int32_t*>(to)[row] = static_cast<int32_t>(shifted) >> unused;
        }
    }

    template <typename Use>
    GPUJOIN_HD void forEach(uint32_t count, Use use) const {
        for (uint32_t i = group.rank(); i < count; i += group.size()) {
            use(i);
        }
    }

    static GPUJOIN_HD int64_t sum(int64_t base, uint64_t code) {
        return static_cast<int64_t>(static_cast<uint64_t>(base) + code);
    }
};

}  // namespace gpujoin
