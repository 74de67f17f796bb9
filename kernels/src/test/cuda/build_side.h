// A build side with its table, built by several CPU threads at once.
#pragma once

#include <atomic>
#include <cstring>
#include <thread>

#include "../../main/cuda/engine/table.h"
#include "test_support.h"

namespace gpujoin {

constexpr uint32_t ROW_BYTES = 24;  // key, next, 4-byte payload, 8-byte payload
constexpr uint32_t NARROW_OFFSET = 12;
constexpr uint32_t WIDE_OFFSET = 16;

// A build side with its table.
struct BuildSide {
    std::vector<int64_t> keys;
    std::vector<uint64_t> rows;
    std::vector<KeySlot> slots;
    std::vector<uint64_t> groupedRows;
    Dimension dimension{};
    bool semi;

    BuildSide(std::vector<int64_t> buildKeys, TableKind kind, bool semi = false)
        : keys(buildKeys), semi(semi) {
        uint32_t count = static_cast<uint32_t>(keys.size());
        rows.assign(uint64_t{count} * ROW_BYTES / 8 + 1, 0);
        slots.assign(2 * count + 1, KeySlot{0, NO_ROW, NO_ROW});
        std::memset(slots.data(), 0xFF, slots.size() * sizeof(KeySlot));
        dimension.slots = reinterpret_cast<uint64_t>(slots.data());
        dimension.rows = reinterpret_cast<uint64_t>(rows.data());
        dimension.rowBytes = ROW_BYTES;
        dimension.slotCount = count == 0 ? 0 : 2 * count;
        dimension.tableKind = kind;
        for (uint32_t row = 0; row < count; row++) {
            unsigned char* at = rowAt(dimension, row);
            std::memcpy(at, &keys[row], 8);
            std::memcpy(at + NARROW_OFFSET, &row, 4);
            uint64_t wide = uint64_t{row} << 32 | 7;
            std::memcpy(at + WIDE_OFFSET, &wide, 8);
        }
    }

    // Calls `work(row)` for every row, from several threads at once.
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

    // Returns how many rows repeat a key, of a table of unique keys.
    uint32_t insertAll(uint32_t threads) {
        std::atomic<uint32_t> repeats{0};
        if (dimension.tableKind == TABLE_GROUPED) {
            group(threads);
        } else {
            forEachRow(threads, [this, &repeats](uint32_t row) {
                if (dimension.tableKind == TABLE_CHAINED) {
                    insertChained(dimension, row);
                } else if (!insertUnique(dimension, row)) {
                    repeats++;
                }
            });
        }
        return repeats;
    }

    void group(uint32_t threads) {
        std::vector<GroupPlace> places(keys.size());
        forEachRow(threads, [&](uint32_t row) { places[row] = joinGroup(dimension, row); });
        uint32_t nextRow = 0;
        for (uint32_t slot = 0; slot < dimension.slotCount; slot++) {
            placeGroup(dimension, slot, &nextRow);
        }
        REQUIRE(nextRow == keys.size());
        groupedRows.resize(rows.size());
        unsigned char* target = reinterpret_cast<unsigned char*>(groupedRows.data());
        forEachRow(threads, [&](uint32_t row) {
            moveToGroup(dimension, row, places[row], target);
        });
        dimension.rows = reinterpret_cast<uint64_t>(target);
    }

    // What the build side held at that row before any grouping: its narrow payload.
    uint32_t origin(uint32_t row) {
        return *reinterpret_cast<uint32_t*>(rowAt(dimension, row) + NARROW_OFFSET);
    }
};

}  // namespace gpujoin
