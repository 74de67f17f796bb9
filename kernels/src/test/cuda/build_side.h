// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A build side with its table, built by several CPU threads concurrently.
#pragma once

#include <atomic>
#include <cstring>
#include <thread>

#include "../../main/cuda/engine/build.h"
#include "test_support.h"

namespace gpujoin {

constexpr uint32_t ROW_BYTES = 24;  // key, next, 4-byte payload, 8-byte payload
constexpr uint32_t NARROW_OFFSET = 12;
constexpr uint32_t WIDE_OFFSET = 16;

constexpr uint32_t RUN_SHIFT = 6;
constexpr uint32_t RUN_ROWS = 1u << RUN_SHIFT;

// A build side with its table.
struct BuildSide {
    std::vector<int64_t> keys;
    std::vector<uint64_t> runWords;
    std::vector<uint64_t> runs;
    std::vector<BuildColumn> columns;
    BuildRuns build{};
    std::vector<uint64_t> rows;
    std::vector<KeySlot> slots;
    Dimension dimension{};

    // Keys in the runs have `keyBytes` bytes.
    BuildSide(std::vector<int64_t> buildKeys, TableKind kind, JoinKind joinKind = JOIN_INNER,
              uint32_t keyBytes = 8)
        : keys(buildKeys) {
        dimension.joinKind = joinKind;
        uint32_t count = static_cast<uint32_t>(keys.size());
        fillRuns(count, keyBytes);
        dimension.rowBytes = ROW_BYTES;
        dimension.slotCount = 2 * count;
        dimension.tableKind = kind;
        dimension.hashSeed = TEST_HASH_SEED;
        dimension.hashMultiplier = TEST_HASH_MULTIPLIER;
        rows.assign(uint64_t{2 * count + 1} * ROW_BYTES / 8, ~uint64_t{0});
        dimension.rows = reinterpret_cast<uint64_t>(rows.data());
        slots.resize(2 * count + 1);
        std::memset(slots.data(), 0xFF, slots.size() * sizeof(KeySlot));
        dimension.slots = reinterpret_cast<uint64_t>(
            kind == TABLE_UNIQUE ? static_cast<void*>(rows.data()) : slots.data());
    }

    // Writes the columns of all runs: key, narrow payload (the number of the row), wide payload and
    // kind of change. Initially all rows are upserts.
    void fillRuns(uint32_t count, uint32_t keyBytes) {
        uint32_t runBytes = RUN_ROWS * (keyBytes + 4 + 8 + 4);
        columns = {{0, ROW_KEY_OFFSET, keyBytes, 0},
                   {RUN_ROWS * keyBytes, NARROW_OFFSET, 4, 0},
                   {RUN_ROWS * (keyBytes + 4), WIDE_OFFSET, 8, 0}};
        uint32_t runCount = (count + RUN_ROWS - 1) / RUN_ROWS;
        runWords.resize(uint64_t{runCount} * runBytes / 8);
        for (uint32_t run = 0; run < runCount; run++) {
            runs.push_back(reinterpret_cast<uint64_t>(runWords.data()) + uint64_t{run} * runBytes);
        }
        build = {reinterpret_cast<uint64_t>(runs.data()),
                 reinterpret_cast<uint64_t>(columns.data()),
                 RUN_SHIFT,
                 3,
                 RUN_ROWS * (keyBytes + 4 + 8),
                 0};
        for (uint32_t row = 0; row < count; row++) {
            uint64_t wide = uint64_t{row} << 32 | 7;
            put(columns[0], row, &keys[row]);
            put(columns[1], row, &row);
            put(columns[2], row, &wide);
        }
    }

    void put(const BuildColumn& column, uint32_t row, const void* value) {
        std::memcpy(const_cast<unsigned char*>(buildValue(build, column, row)), value,
                    column.widthBytes);
    }

    void setDelete(uint32_t row) {
        BuildColumn change{build.changeOffset, 0, 4, 0};
        uint32_t code = CHANGE_DELETE;
        put(change, row, &code);
    }

    // Calls `work(row)` for every row, from several threads concurrently.
    template <typename Work>
    void forEachRow(uint32_t threads, Work work) {
        std::vector<std::thread> workers;
        for (uint32_t t = 0; t < threads; t++) {
            workers.emplace_back([this, t, threads, &work] {
                for (uint32_t row = t; row < keys.size(); row += threads) {
                    work(row);
                }
            });
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
    }

    // Returns the number of rows with a repeated key; 0 if the table allows repeated keys.
    uint32_t insertAll(uint32_t threads) {
        std::atomic<uint32_t> repeats{0};
        if (dimension.tableKind == TABLE_GROUPED) {
            group(threads);
        } else {
            forEachRow(threads, [this, &repeats](uint32_t row) {
                if (dimension.tableKind == TABLE_CHAINED) {
                    insertChained(dimension, build, row);
                } else if (!insertUnique(dimension, build, row, keys[row])) {
                    repeats++;
                }
            });
        }
        return repeats;
    }

    void group(uint32_t threads) {
        forEachRow(threads, [&](uint32_t row) { countInGroup(dimension, build, row, keys[row]); });
        uint32_t nextRow = 0;
        for (uint32_t slot = 0; slot < dimension.slotCount; slot++) {
            allocateGroup(dimension, slot, &nextRow);
        }
        REQUIRE(nextRow == keys.size());
        forEachRow(threads, [&](uint32_t row) { writeToGroup(dimension, build, row, keys[row]); });
    }

    bool keepsPayload() const {
        return dimension.joinKind == JOIN_INNER || dimension.joinKind == JOIN_LEFT;
    }

    // Returns the number of the build row in a row of the table: its narrow payload.
    uint32_t origin(uint32_t row) {
        return *reinterpret_cast<uint32_t*>(rowAt(dimension, row) + NARROW_OFFSET);
    }
};

}  // namespace gpujoin
