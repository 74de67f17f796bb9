// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One step: joins a segment with all dimensions in one pass, and writes the results in order of
// rows, plain or packed, or aggregates them. A step ends with its segment, when the result buffer or
// the table of groups is full, or at the limit of aggregated results. The next step continues there,
// even within a row.
//
// A step processes tiles of rows. Each thread counts the results of its rows, and a prefix sum over
// the threads assigns positions among the results of the tile. Then the threads write the results
// in a block-stride loop: coalesced, with all threads busy, and no more than the buffer holds.
#pragma once

#include "packed.h"
#include "segment.h"

namespace gpujoin {

// Packs the results, or else writes, counts or aggregates them.
template <typename Group, bool PACKS>
class Step {
  public:
    // All blocks read their segments through the gate. `block` is the number of this one.
    GPUJOIN_HD Step(Group& group, StepShared& shared, ReadGate& gate, uint32_t block)
        : group(group), shared(shared), gate(gate), block(block) {}

    // Runs the step in `shared.step` under the plan in `shared.plan`.
    GPUJOIN_HD void run(Completion& done) {
        const StepEntry& step = shared.step;
        Progress* progress = reinterpret_cast<Progress*>(shared.plan.progress) + step.slot;
        StepStatus status =
            step.resume ? STEP_OK : readSegment(group, shared.plan, step, gate, shared.decoding);
        matches = 0;
        out = 0;
        groupsFull = false;
        isDamaged = false;
        decodedBatch = -1;
        Progress end{0, 0, 0};
        if (status == STEP_OK) {
            openFacts();
            Progress begin = step.resume ? *progress : Progress{0, shared.facts.rowCount, 0};
            if constexpr (PACKS) {
                end = pack(begin);
            } else {
                end = shared.plan.aggregation != 0    ? aggregate(begin)
                      : shared.plan.capacityRows == 0 ? count(begin)
                                                      : join(begin);
            }
            status = isDamaged ? STEP_BAD_ENCODING : groupsFull ? STEP_GROUPS_FULL : STEP_OK;
        }
        group.sync();
        if (group.rank() == 0) {
            *progress = end;
            done.status = status;
            done.rowCount = static_cast<int32_t>(out);
            done.completedRows = end.nextRow;
            done.matchCount = matches;
        }
    }

  private:
    Group& group;
    StepShared& shared;
    ReadGate& gate;
    uint32_t block;
    uint64_t matches;      // counted, written or aggregated in this step
    uint64_t total;        // results of the tile
    uint32_t out;          // rows written to the result buffer
    bool groupsFull;       // whether a full table of groups ended this step
    bool isDamaged;        // whether rows that do not decode ended this step
    int32_t decodedBatch;  // number of the batch whose rows are readable, if rows are encoded

    GPUJOIN_HD void openFacts() {
        const Plan& plan = shared.plan;
        const unsigned char* segment = reinterpret_cast<const unsigned char*>(plan.scratch) +
                                       plan.segmentBytes * shared.step.slot;
        const ChunkHeader& header = *reinterpret_cast<const ChunkHeader*>(segment);
        if (group.rank() == 0) {
            Facts& facts = shared.facts;
            facts.base = segment;
            locateColumns(plan, rowsOf(shared.step, header), facts);
            shared.segment = segment;
            shared.encoded = isEncoded(header);
            if (shared.encoded) {
                facts.base = decodedRows();
                facts.rowMask = DECODED_ROWS - 1;
                for (uint32_t c = 0; c < plan.columnCount; c++) {
                    facts.columnOffset[c] = static_cast<uint32_t>(DECODED_COLUMN_BYTES * c);
                    facts.columnWidth[c] = decodedWidth(plan.columnWidth[c]);
                }
            }
        }
        group.sync();
        if (shared.encoded) {
            decoder().open(plan.columnCount);
            group.sync();
        }
    }

    GPUJOIN_HD Decoder<Group> decoder() const {
        return {group, shared.decoding, shared.segment, shared.facts.rowCount};
    }

    // Where this block decodes rows. A block runs one step at a time.
    GPUJOIN_HD unsigned char* decodedRows() const {
        return reinterpret_cast<unsigned char*>(shared.plan.decodedRows) +
               DECODED_COLUMN_BYTES * shared.plan.columnCount * block;
    }

    // Makes rows from `row` on readable; returns the end of those that are.
    GPUJOIN_HD int32_t loadRows(int32_t row) {
        int32_t rowCount = shared.facts.rowCount;
        if (!shared.encoded) {
            return rowCount;
        }
        int32_t batch = row / BATCH_ROWS;
        if (batch != decodedBatch) {
            isDamaged = !decoder().decode(shared.plan.columnCount, batch, decodedRows());
            decodedBatch = batch;
        }
        return row + least(rowCount - row, BATCH_ROWS - row % BATCH_ROWS);
    }

    // Counts the results of all rows. Threads do not wait for each other.
    GPUJOIN_HD Progress count(Progress at) {
        uint64_t sum = 0;
        while (at.nextRow < at.rowCount) {
            int32_t end = loadRows(at.nextRow);
            if (isDamaged) {
                return at;
            }
            int32_t stride = static_cast<int32_t>(group.size());
            for (int32_t row = at.nextRow + static_cast<int32_t>(group.rank()); row < end;
                 row += stride) {
                sum += countResults(shared.plan, shared.tables, shared.facts, row);
            }
            at.nextRow = end;
        }
        group.exclusiveSum(sum, matches);
        return at;
    }

    // Joins from `at` on; packs the results of as many facts as the buffer has room for.
    GPUJOIN_HD Progress pack(Progress at) {
        ResultPacker<Group> packer(group, shared);
        uint32_t left = static_cast<uint32_t>(at.rowCount - at.nextRow);
        uint32_t rows = least(left, shared.plan.capacityRows);
        uint32_t position = 0;
        for (uint32_t row = 0; row < rows; row += PACKED_ROWS) {
            loadRows(at.nextRow);
            if (isDamaged) {
                return at;
            }
            uint32_t count = least(rows - row, PACKED_ROWS);
            uint32_t results = packer.packBatch(at.nextRow, count, row, position);
            position += alignToWord(results);
            out += results;
            at.nextRow += static_cast<int32_t>(count);
        }
        matches = out;
        return at;
    }

    // Joins from `at` on; returns the position where it stopped.
    GPUJOIN_HD Progress join(Progress at) {
        bool aggregates = shared.plan.aggregation != 0;
        while (at.nextRow < at.rowCount) {
            int32_t readable = loadRows(at.nextRow);
            if (isDamaged) {
                return at;
            }
            int32_t end = at.nextRow + least(readable - at.nextRow,
                                             static_cast<int32_t>(group.size() * ROWS_PER_THREAD));
            countTile(at, end);
            uint64_t emitted = aggregates ? addResults(at) : writeResults(at);
            matches += emitted;
            if (at.skip + emitted < total) {
                uint32_t row = rowAtPosition(at.skip + emitted);
                at.skip += emitted - shared.start[row];
                at.nextRow += static_cast<int32_t>(row);
                return at;
            }
            at.nextRow = end;
            at.skip = 0;
        }
        return at;
    }

    // Writes results of the tile until the buffer is full.
    GPUJOIN_HD uint64_t writeResults(const Progress& at) {
        uint64_t written = least(total - at.skip, uint64_t{shared.plan.capacityRows - out});
        for (uint64_t i = group.rank(); i < written; i += group.size()) {
            writeResult(at.nextRow, at.skip + i, out + static_cast<uint32_t>(i));
        }
        out += static_cast<uint32_t>(written);
        return written;
    }

    // Like `join`, but aggregates the results.
    GPUJOIN_HD Progress aggregate(Progress at) {
        const uint64_t* from = reinterpret_cast<const uint64_t*>(shared.plan.aggregation);
        uint64_t* to = reinterpret_cast<uint64_t*>(&shared.aggregation);
        for (uint32_t i = group.rank(); i < sizeof(Aggregation) / 8; i += group.size()) {
            to[i] = from[i];
        }
        clearLocal(group, shared.sums);
        group.sync();
        at = join(at);
        group.sync();
        addLocalSums(group, shared.aggregation, shared.sums);
        return at;
    }

    // Aggregates results of the tile until the table of groups is full or the step reaches its
    // limit. Between two checks of the number of groups each thread inserts at most one group,
    // which bounds the excess.
    GPUJOIN_HD uint64_t addResults(const Progress& at) {
        uint64_t left = uint64_t{ADDED_PER_THREAD} * group.size() - matches;
        uint64_t end = at.skip + least(total - at.skip, left);
        uint64_t position = at.skip;
        while (position < end && !checkFullGroups()) {
            if (position + group.rank() < end) {
                addResult(at.nextRow, position + group.rank());
            }
            position = least(position + group.size(), end);
        }
        return position - at.skip;
    }

    GPUJOIN_HD bool checkFullGroups() {
        if (group.rank() == 0) {
            uint32_t* count = reinterpret_cast<uint32_t*>(shared.aggregation.groupCount);
            shared.broadcast = loadRelaxedDevice(count) >= shared.aggregation.maxGroups ? 1 : 0;
        }
        group.sync();
        groupsFull = shared.broadcast != 0;
        group.sync();
        return groupsFull;
    }

    // Counts the results of the rows from `at` to `end`, and assigns their positions.
    GPUJOIN_HD void countTile(const Progress& at, int32_t end) {
        uint32_t first = group.rank() * ROWS_PER_THREAD;
        uint64_t count[ROWS_PER_THREAD];
        uint64_t sum = 0;
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < ROWS_PER_THREAD; i++) {
            int32_t row = at.nextRow + static_cast<int32_t>(first + i);
            count[i] = row < end ? countResults(shared.plan, shared.tables, shared.facts, row) : 0;
            sum += count[i];
        }
        // includes a barrier: no thread uses the positions of the previous tile any more
        uint64_t position = group.exclusiveSum(sum, total);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < ROWS_PER_THREAD; i++) {
            shared.start[first + i] = position;
            position += count[i];
        }
        group.sync();
    }

    // Returns the row of the tile with the result at a position: the last row that starts at or
    // before it.
    GPUJOIN_HD uint32_t rowAtPosition(uint64_t position) const {
        uint32_t row = 0;
        uint32_t end = group.size() * ROWS_PER_THREAD;
        while (end - row > 1) {
            uint32_t middle = (row + end) / 2;
            if (shared.start[middle] <= position) {
                row = middle;
            } else {
                end = middle;
            }
        }
        return row;
    }

    // Writes one result: the row number, and the payload of one match of each dimension.
    GPUJOIN_HD void writeResult(int32_t tileRow, uint64_t position, uint32_t outRow) const {
        const StepEntry& step = shared.step;
        const Plan& plan = shared.plan;
        unsigned char* buffer = reinterpret_cast<unsigned char*>(plan.results) +
                                plan.resultBytes * (2 * step.slot + step.resultBuffer);
        uint32_t rowOfTile = rowAtPosition(position);
        uint64_t index = position - shared.start[rowOfTile];
        int32_t row = tileRow + static_cast<int32_t>(rowOfTile);
        reinterpret_cast<uint32_t*>(buffer)[outRow] = step.baseRow + static_cast<uint32_t>(row);
        for (uint32_t d = plan.dimensionCount; d-- > 0;) {
            const Dimension& table = shared.tables[d];
            bool wanted = table.copyCount > 0 || table.matchedOffset > 0;
            uint32_t match = matchOf(d, row, wanted, index);
            if (table.matchedOffset > 0) {
                buffer[table.matchedOffset + outRow] = match == NO_ROW ? 0 : 1;
            }
            if (match != NO_ROW) {
                copyPayload(table, match, buffer, outRow);
            } else if (wanted) {
                clearPayload(table, buffer, outRow);
            }
        }
    }

    // Returns the build row of dimension `d` in result number `index`, and divides `index` by the
    // number of results of this dimension. The matches of the last dimension vary fastest. Returns
    // NO_ROW if there is no match or the match is not wanted; in the latter case it avoids the
    // lookup if possible.
    GPUJOIN_HD uint32_t matchOf(uint32_t d, int32_t row, bool wanted, uint64_t& index) const {
        if (!wanted && index == 0) {
            return NO_ROW;
        }
        const Dimension& table = shared.tables[d];
        int64_t key = factKey(shared.facts, table, row);
        Matches found = matchesOf(shared.plan, table, d, shared.facts, row, key);
        uint32_t results = resultsOf(table, found);
        uint32_t number = 0;
        if (results > 1) {
            number = static_cast<uint32_t>(index % results);
            index /= results;
        }
        return wanted ? matchAt(table, found, number, key) : NO_ROW;
    }

    // Adds one result to its group.
    GPUJOIN_HD void addResult(int32_t tileRow, uint64_t position) const {
        const Aggregation& aggregation = shared.aggregation;
        uint32_t rowOfTile = rowAtPosition(position);
        uint64_t index = position - shared.start[rowOfTile];
        int32_t row = tileRow + static_cast<int32_t>(rowOfTile);
        uint32_t match[MAX_DIMENSIONS];
        for (uint32_t d = shared.plan.dimensionCount; d-- > 0;) {
            bool wanted = (aggregation.dimensionsUsed >> d & 1) != 0;
            match[d] = matchOf(d, row, wanted, index);
        }
        GroupKey key{};
        GPUJOIN_UNROLL
        for (uint32_t c = 0; c < MAX_GROUP_COLUMNS; c++) {
            if (c < aggregation.columnCount) {
                key.column[c] = valueOf(aggregation.columns[c], row, match);
            }
        }
        uint64_t hash = hashGroup(aggregation, key);
        uint32_t local = findLocal(aggregation, shared.sums, key, hash);
        uint64_t* sums =
            local == NOT_LOCAL ? sumsAt(aggregation, findGroup(aggregation, key, hash)) : nullptr;
        for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
            const Aggregate& aggregate = aggregation.aggregates[a];
            uint64_t value = 1;
            for (uint32_t f = 0; f < aggregate.factorCount; f++) {
                value *= static_cast<uint64_t>(valueOf(aggregate.factors[f], row, match));
            }
            if (local == NOT_LOCAL) {
                fetchAddRelaxedDevice(&sums[a], value);
            } else {
                addLocal(shared.sums, a, local, value);
            }
        }
    }

    GPUJOIN_HD int64_t valueOf(const ValueSource& source, int32_t row,
                               const uint32_t* match) const {
        if (source.dimension == FACT_SIDE) {
            return factValue(shared.facts, source.at, row);
        }
        const Dimension& table = shared.tables[source.dimension];
        return loadInteger(rowAt(table, match[source.dimension]) + source.at, source.widthBytes);
    }

    GPUJOIN_HD void copyPayload(const Dimension& table, uint32_t match, unsigned char* buffer,
                                uint32_t position) const {
        forEachCopy(table, [&](const PayloadCopy& copy) {
            int64_t value = loadInteger(rowAt(table, match) + copy.rowOffset, copy.widthBytes);
            writeValue(copy, buffer, position, static_cast<uint64_t>(value));
        });
    }

    GPUJOIN_HD void clearPayload(const Dimension& table, unsigned char* buffer,
                                 uint32_t position) const {
        forEachCopy(table, [&](const PayloadCopy& copy) { writeValue(copy, buffer, position, 0); });
    }

    template <typename Use>
    GPUJOIN_HD void forEachCopy(const Dimension& table, Use use) const {
        const PayloadCopy* copies =
            reinterpret_cast<const PayloadCopy*>(shared.plan.copies) + table.firstCopy;
        for (uint32_t c = 0; c < table.copyCount; c++) {
            use(copies[c]);
        }
    }

    GPUJOIN_HD void writeValue(const PayloadCopy& copy, unsigned char* buffer, uint32_t position,
                               uint64_t bits) const {
        storeInteger(buffer + copy.resultOffset + uint64_t{copy.widthBytes} * position,
                     copy.widthBytes, bits);
    }
};

}  // namespace gpujoin
