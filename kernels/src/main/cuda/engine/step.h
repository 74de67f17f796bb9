// One step: joins a segment with all dimensions in one chained pass and writes results in order of
// rows, until the segment or the result buffer ends.
//
// Rows are taken by tiles. Each thread counts the results of its rows, and a sum over the threads
// gives each row its place among the tile's results. Then each thread takes every so-many-th
// result, wherever its row is, and writes it: whole lines of each column, all threads busy
// whatever the fan-out, and no more rows than the buffer holds.
#pragma once

#include "segment.h"

namespace gpujoin {

constexpr uint32_t ROWS_PER_THREAD = 1;
constexpr uint32_t MAX_TILE_ROWS = 1024;

// What the threads of a step share.
struct StepShared {
    StepEntry step;
    Plan plan;
    Dimension tables[MAX_DIMENSIONS];
    uint64_t broadcast;
    uint64_t start[MAX_TILE_ROWS];  // place of each row's first result among the tile's
};

template <typename Group>
class Step {
  public:
    GPUJOIN_HD Step(Group& group, StepShared& shared) : group(group), shared(shared) {}

    // Runs the step that stands in `shared.step` under the plan in `shared.plan`.
    GPUJOIN_HD void run(Completion& done) {
        const StepEntry& step = shared.step;
        Progress* progress = reinterpret_cast<Progress*>(shared.plan.progress) + step.slot;
        StepStatus status =
            step.resume ? STEP_OK : readSegment(group, shared.plan, step);
        matches = 0;
        out = 0;
        Progress end{0, 0, 0};
        if (status == STEP_OK) {
            facts.base = reinterpret_cast<const unsigned char*>(shared.plan.scratch) +
                         shared.plan.segmentBytes * step.slot;
            int32_t rowCount = reinterpret_cast<const ChunkHeader*>(facts.base)->rowCount;
            placeColumns(shared.plan, rowCount, facts);
            end = join(step.resume ? *progress : Progress{0, rowCount, 0});
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
    Facts facts;
    uint64_t matches;  // counted or written, in this step
    uint64_t total;    // results of the tile
    uint32_t out;      // rows written to the result buffer

    // Joins from `at` on; returns where it stopped.
    GPUJOIN_HD Progress join(Progress at) {
        uint32_t tileRows = group.size() * ROWS_PER_THREAD;
        bool countOnly = shared.plan.capacityRows == 0;
        while (at.nextRow < at.rowCount) {
            countTile(at);
            uint64_t left = total - at.skip;
            uint64_t room = countOnly ? left : shared.plan.capacityRows - out;
            uint64_t given = least(left, room);
            if (!countOnly) {
                for (uint64_t i = group.rank(); i < given; i += group.size()) {
                    writeResult(at.nextRow, at.skip + i, out + static_cast<uint32_t>(i));
                }
                out += static_cast<uint32_t>(given);
            }
            matches += given;
            if (given < left) {
                uint32_t row = rowOfPlace(at.skip + given);
                at.skip += given - shared.start[row];
                at.nextRow += static_cast<int32_t>(row);
                return at;
            }
            at.nextRow = least(at.nextRow + static_cast<int32_t>(tileRows), at.rowCount);
            at.skip = 0;
        }
        return at;
    }

    // Counts the results of the rows of the tile that starts at `at` and gives each its place.
    GPUJOIN_HD void countTile(const Progress& at) {
        uint32_t first = group.rank() * ROWS_PER_THREAD;
        uint64_t count[ROWS_PER_THREAD];
        uint64_t sum = 0;
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < ROWS_PER_THREAD; i++) {
            int32_t row = at.nextRow + static_cast<int32_t>(first + i);
            count[i] = row < at.rowCount
                           ? countResults(shared.plan, shared.tables, facts, row)
                           : 0;
            sum += count[i];
        }
        // its barrier: all threads are done with the places of the tile before
        uint64_t place = group.exclusiveSum(sum, total);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < ROWS_PER_THREAD; i++) {
            shared.start[first + i] = place;
            place += count[i];
        }
        group.sync();
    }

    // The row of the tile that gives the result of that place: the last one to start at or before.
    GPUJOIN_HD uint32_t rowOfPlace(uint64_t place) const {
        uint32_t row = 0;
        uint32_t end = group.size() * ROWS_PER_THREAD;
        while (end - row > 1) {
            uint32_t middle = (row + end) / 2;
            if (shared.start[middle] <= place) {
                row = middle;
            } else {
                end = middle;
            }
        }
        return row;
    }

    // Writes one result: the row, and of each dimension the payload of the match whose turn it is,
    // the last dimension turning fastest.
    GPUJOIN_HD void writeResult(int32_t tileRow, uint64_t place, uint32_t position) const {
        const StepEntry& step = shared.step;
        const Plan& plan = shared.plan;
        unsigned char* buffer = reinterpret_cast<unsigned char*>(plan.results) +
                                plan.resultBytes * (2 * step.slot + step.resultBuffer);
        uint32_t rowOfTile = rowOfPlace(place);
        uint64_t index = place - shared.start[rowOfTile];
        int32_t row = tileRow + static_cast<int32_t>(rowOfTile);
        reinterpret_cast<uint32_t*>(buffer)[position] = step.baseRow + static_cast<uint32_t>(row);
        for (uint32_t d = plan.dimensionCount; d-- > 0;) {
            const Dimension& table = shared.tables[d];
            if (table.copyCount > 0 || index > 0) {
                int64_t key = factKey(plan, facts, table, row);
                Matches found = findMatches(table, key);
                uint32_t turn = 0;
                if (found.count > 1) {
                    turn = static_cast<uint32_t>(index % found.count);
                    index /= found.count;
                }
                if (table.copyCount > 0) {
                    copyPayload(table, matchAt(table, found, turn, key), buffer, position);
                }
            }
        }
    }

    GPUJOIN_HD void copyPayload(const Dimension& table, uint32_t match, unsigned char* buffer,
                                uint32_t position) const {
        const PayloadCopy* copies =
            reinterpret_cast<const PayloadCopy*>(shared.plan.copies) + table.firstCopy;
        for (uint32_t c = 0; c < table.copyCount; c++) {
            PayloadCopy copy = copies[c];
            const unsigned char* value = rowAt(table, match) + copy.rowOffset;
            unsigned char* target = buffer + copy.resultOffset;
            if (copy.widthBytes == 8) {
                reinterpret_cast<uint64_t*>(target)[position] =
                    *reinterpret_cast<const uint64_t*>(value);
            } else {
                reinterpret_cast<uint32_t*>(target)[position] =
                    *reinterpret_cast<const uint32_t*>(value);
            }
        }
    }
};

}  // namespace gpujoin
