// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Joins a batch of facts of which none has more than one result, and writes packed results, as
// drawn in layout.h.
//
// A thread looks up all its facts of a batch before the first barrier, so that it does not wait for
// the slowest lookup of every 1,024 facts. One prefix sum assigns positions to the results of the
// batch. Codes of a column pass through shared memory, where adjacent threads put adjacent words
// together, so that every store over the bus is a run of whole words.
#pragma once

#include "step_shared.h"

namespace gpujoin {

constexpr uint32_t NO_POSITION = 0xFFFFFFFFu;
constexpr uint32_t STAGED_CODES = MAX_TILE_ROWS;
constexpr uint32_t BITS_OF_WORD = 64;

// Facts whose counts of results are summed at once, 16 bits each.
constexpr uint32_t SUMMED_ROUNDS = 4;

GPUJOIN_HD inline uint32_t alignToWord(uint32_t bits) {
    return (bits + BITS_OF_WORD - 1) & ~(BITS_OF_WORD - 1);
}

// Returns word number `word` of `count` packed codes of `bits` bits each, 1 to 64. The bits behind
// the last code are 0.
GPUJOIN_HD inline uint64_t packedWord(const uint64_t* codes, uint32_t count, uint32_t bits,
                                      uint32_t word) {
    uint32_t first = BITS_OF_WORD * word;
    uint32_t i = first / bits;
    uint64_t packed = codes[i] >> (first - i * bits);
    for (uint32_t at = ++i * bits - first; at < BITS_OF_WORD && i < count;
         at = ++i * bits - first) {
        packed |= codes[i] << at;
    }
    return packed;
}

template <typename Group>
class ResultPacker {
  public:
    GPUJOIN_HD ResultPacker(Group& group, StepShared& shared) : group(group), shared(shared) {}

    // Joins `count` facts from `first` on, at most PACKED_ROWS, and writes their results from
    // `position` on, a multiple of 64. `stepRow` is the number of the first fact in the step.
    // Returns the number of results.
    GPUJOIN_HD uint32_t packBatch(int32_t first, uint32_t count, uint32_t stepRow,
                                  uint32_t position) {
        firstRow = first;
        rowCount = count;
        firstBit = stepRow;
        firstPosition = position;
        total = 0;
        findResults();
        writeMask(0);
        for (uint32_t d = 0; d < shared.plan.dimensionCount; d++) {
            if (isWritten(d)) {
                writeDimension(d, shared.tables[d]);
            }
        }
        group.sync();  // no thread uses the mask and the codes of this batch any more
        return total;
    }

  private:
    static constexpr uint32_t ROUNDS = PACKED_ROWS / Group::MIN_SIZE;
    static_assert(ROUNDS % SUMMED_ROUNDS == 0);

    Group& group;
    StepShared& shared;
    int32_t firstRow;
    uint32_t rowCount;
    uint32_t firstBit;
    uint32_t firstPosition;
    uint32_t total;             // results of the batch
    uint32_t foundDimension;    // first dimension that is written
    uint32_t match[ROUNDS];     // build row of each fact of this thread
    uint32_t position[ROUNDS];  // of its result in the batch, or NO_POSITION
    uint64_t value[ROUNDS];     // of the column that is being written

    // Number of a fact of this thread in the batch.
    GPUJOIN_HD uint32_t indexOf(uint32_t round) const {
        return round * group.size() + group.rank();
    }

    // Whether any thread has a fact, or a bit behind the last fact, in this round.
    GPUJOIN_HD bool isUsed(uint32_t round) const {
        return round * group.size() < alignToWord(rowCount);
    }

    GPUJOIN_HD unsigned char* resultBuffer() const {
        const Plan& plan = shared.plan;
        return reinterpret_cast<unsigned char*>(plan.results) +
               plan.resultBytes * (2 * shared.step.slot + shared.step.resultBuffer);
    }

    // Calls `use(round)` for each result of this thread.
    template <typename Use>
    GPUJOIN_HD void forEachResult(Use use) {
        GPUJOIN_UNROLL
        for (uint32_t round = 0; round < ROUNDS; round++) {
            if (position[round] != NO_POSITION) {
                use(round);
            }
        }
    }

    GPUJOIN_HD bool isWritten(uint32_t d) const {
        return shared.tables[d].copyCount > 0 || shared.tables[d].matchedOffset > 0;
    }

    // Finds the results of all facts, their positions and the mask of facts with a result.
    GPUJOIN_HD void findResults() {
        foundDimension = 0;
        while (foundDimension + 1 < shared.plan.dimensionCount && !isWritten(foundDimension)) {
            foundDimension++;
        }
        GPUJOIN_UNROLL
        for (uint32_t round = 0; round < ROUNDS; round++) {
            position[round] = NO_POSITION;
        }
        GPUJOIN_UNROLL
        for (uint32_t round = 0; round < ROUNDS; round += SUMMED_ROUNDS) {
            if (isUsed(round)) {
                findResultsOf(round);
            }
        }
    }

    GPUJOIN_HD void findResultsOf(uint32_t firstRound) {
        uint64_t counts = 0;
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < SUMMED_ROUNDS; i++) {
            uint32_t index = indexOf(firstRound + i);
            bool has = index < rowCount &&
                       hasResult(firstRow + static_cast<int32_t>(index), match[firstRound + i]);
            counts |= uint64_t{has} << 16 * i;
            putBit(index, has);
        }
        uint64_t totals;
        uint64_t before = group.exclusiveSum(counts, totals);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < SUMMED_ROUNDS; i++) {
            if ((counts >> 16 * i & 1) != 0) {
                position[firstRound + i] = total + (before >> 16 * i & 0xFFFF);
            }
            total += totals >> 16 * i & 0xFFFF;
        }
    }

    GPUJOIN_HD void putBit(uint32_t index, bool bit) {
        if (index < PACKED_ROWS) {  // of all threads of a warp or of none
            group.putBit(shared.mask, index, bit);
        }
    }

    // Returns whether the fact has a result. Assigns its match in the found dimension.
    GPUJOIN_HD bool hasResult(int32_t row, uint32_t& found) const {
        bool has = isKept(shared.plan, shared.facts, row);
        for (uint32_t d = 0; d < shared.plan.dimensionCount && has; d++) {
            Matches matches = matchesIn(d, row);
            has = resultsOf(shared.tables[d], matches) > 0;
            found = d == foundDimension ? matches.first : found;
        }
        return has;
    }

    GPUJOIN_HD Matches matchesIn(uint32_t d, int32_t row) const {
        const Dimension& table = shared.tables[d];
        int64_t key = factKey(shared.facts, table, row);
        return matchesOf(shared.plan, table, d, shared.facts, row, key);
    }

    // Writes a mask that all threads have put their bits into.
    GPUJOIN_HD void writeMask(uint64_t offset) const {
        uint64_t* target =
            reinterpret_cast<uint64_t*>(resultBuffer() + offset) + firstBit / BITS_OF_WORD;
        uint32_t words = alignToWord(rowCount) / BITS_OF_WORD;
        for (uint32_t word = group.rank(); word < words; word += group.size()) {
            target[word] = shared.mask[word];
        }
    }

    GPUJOIN_HD void writeDimension(uint32_t d, const Dimension& table) {
        if (d != foundDimension) {
            forEachResult([&](uint32_t round) {
                match[round] = matchesIn(d, firstRow + static_cast<int32_t>(indexOf(round))).first;
            });
        }
        if (table.matchedOffset > 0) {
            writeMatched(table);
        }
        const PayloadCopy* copies =
            reinterpret_cast<const PayloadCopy*>(shared.plan.copies) + table.firstCopy;
        for (uint32_t c = 0; c < table.copyCount; c++) {
            writeColumn(table, copies[c]);
        }
    }

    GPUJOIN_HD void writeMatched(const Dimension& table) {
        group.sync();  // all threads have written the previous mask
        GPUJOIN_UNROLL
        for (uint32_t round = 0; round < ROUNDS; round++) {
            if (isUsed(round)) {
                bool matched = position[round] != NO_POSITION && match[round] != NO_ROW;
                putBit(indexOf(round), matched);
            }
        }
        group.sync();
        writeMask(table.matchedOffset);
    }

    GPUJOIN_HD void writeColumn(const Dimension& table, const PayloadCopy& copy) {
        bool isWhole = copy.widthBytes >= 4 && copy.bits == 8 * copy.widthBytes;
        forEachResult([&](uint32_t round) {
            int64_t payload = 0;
            if (match[round] != NO_ROW) {
                payload = loadInteger(rowAt(table, match[round]) + copy.rowOffset, copy.widthBytes);
            }
            value[round] = static_cast<uint64_t>(payload) - static_cast<uint64_t>(copy.base);
        });
        unsigned char* column = resultBuffer() + copy.resultOffset;
        if (isWhole) {
            writeWhole(column, copy.widthBytes);
        } else if (copy.bits > 0) {
            writeCodes(column, copy.bits);
        }
    }

    // Writes the values of this thread; those of adjacent threads are adjacent.
    GPUJOIN_HD void writeWhole(unsigned char* column, uint32_t widthBytes) {
        forEachResult([&](uint32_t round) {
            uint32_t at = firstPosition + position[round];
            if (widthBytes == 8) {
                reinterpret_cast<uint64_t*>(column)[at] = value[round];
            } else {
                reinterpret_cast<uint32_t*>(column)[at] = static_cast<uint32_t>(value[round]);
            }
        });
    }

    GPUJOIN_HD void writeCodes(unsigned char* column, uint32_t bits) {
        uint64_t* codes = shared.start;
        for (uint32_t staged = 0; staged < total; staged += STAGED_CODES) {
            group.sync();  // no thread reads the codes before any more
            forEachResult([&](uint32_t round) {
                if (position[round] - staged < STAGED_CODES) {
                    codes[position[round] - staged] = value[round];
                }
            });
            group.sync();
            uint32_t count = least(total - staged, STAGED_CODES);
            uint64_t firstWord = uint64_t{firstPosition + staged} / BITS_OF_WORD * bits;
            uint64_t* target = reinterpret_cast<uint64_t*>(column) + firstWord;
            uint32_t words = alignToWord(count * bits) / BITS_OF_WORD;
            for (uint32_t word = group.rank(); word < words; word += group.size()) {
                target[word] = packedWord(codes, count, bits, word);
            }
        }
    }
};

}  // namespace gpujoin
