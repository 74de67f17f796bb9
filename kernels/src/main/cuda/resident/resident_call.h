// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One resident join as its kernels see it: inputs, outputs, plan and workspace.
#pragma once

#include <cstdint>

#include "chain_table.h"
#include "join_item.h"
#include "join_plan.h"
#include "partition.cuh"
#include "resident_join.h"
#include "slots.cuh"

namespace gpujoin::resident {

// The largest tiles with which two blocks share a multiprocessor; for narrow rows, registers limit
// them.
template <typename Word>
using PassShape = TileShape<1024, sizeof(Word) == 8 ? 6 : 8, 1, 2>;

// Threads of a block that treats slots one by one, of one that scans all slots, and of one that
// joins. Three joining blocks share a multiprocessor; more threads would leave too few registers
// for a batch.
constexpr uint32_t SLOT_THREADS = 256;
constexpr uint32_t SCAN_THREADS = 1024;
constexpr uint32_t JOIN_THREADS = 384;
constexpr uint32_t JOIN_BLOCKS_PER_SM = 3;

// Probe rows of a thread that joins, whose lookups overlap.
template <typename Word>
constexpr int PROBE_BATCH_ROWS = sizeof(Word) == 8 ? 4 : 6;

// Maximum of scattering blocks of a sampled or counted attempt for each that a device holds at once:
// so many share the tiles evenly, and return soon if the guess succeeded.
constexpr uint32_t SCATTER_WAVES = 32;

// What a host needs to launch the kernels of a call.
struct LaunchShape {
    // Tiles of the first pass over the build and the probe table.
    uint32_t tiles[2];
    uint32_t tileThreads;
    uint32_t tileBlocksPerSm;
    uint32_t firstPartitions;
    // Of the last pass; as many as of the first if there is one pass.
    uint32_t partitions;
    // Shared memory of a block that scatters, in each pass, and of one that joins.
    uint32_t scatterBytes[2];
    uint32_t joinBytes;
    uint32_t slotThreads;
    uint32_t scanThreads;
    uint32_t joinThreads;
    uint32_t joinBlocksPerSm;
    uint32_t scatterWaves;
};
static_assert(sizeof(LaunchShape) == 56);

// The partitioned rows of one table and their slots, in the workspace.
template <typename Word>
struct PartitionedTable {
    double rowsPerKey;
    Slots firstSlots;
    // Slots of the last pass, which may be the first.
    Slots slots;
    Tuple<Word>* rows;
    uint32_t* tileStarts;

    static GPUJOIN_INLINE PartitionedTable allocate(RegionAllocator& regions, const RadixPlan& plan,
                                                    uint64_t tableRows, double rowsPerKey) {
        PartitionedTable table;
        table.rowsPerKey = rowsPerKey;
        table.firstSlots = Slots::allocate(regions, plan.first.count());
        table.slots =
            plan.hasTwoPasses() ? Slots::allocate(regions, plan.partitions()) : table.firstSlots;
        table.rows =
            regions.allocate<Tuple<Word>>(slotBufferRows(tableRows, plan.partitions(), rowsPerKey));
        table.tileStarts = regions.allocate<uint32_t>(plan.first.count() + 1);
        return table;
    }
};

// A radix pass over one table.
template <typename Word>
struct RadixPass {
    uint32_t tiles;
    uint64_t rows;
    double rowsPerKey;
    RadixDigit digit;
    uint32_t partitions;
    Slots slots;
    // The overflow word of the pass before; null if there is none.
    const uint32_t* overflowBefore;
    Tuple<Word>* target;
    // Of the target.
    uint64_t bufferRows;
};

// The host writes the first line of members, and `plan` sets the others.
//
//   0        32       64         104       112              120      176       192
//   +--------+--------+----------+---------+----------------+--------+---------+-----
//   | build  | probe  | matches  | memory  | workspaceBytes | launch | counts  | ...
//   +--------+--------+----------+---------+----------------+--------+---------+-----
template <typename Word>
struct ResidentCall {
    TableView<Word> build;
    TableView<Word> probe;
    MatchColumns<Word> matches;
    // The workspace; null if only its size is asked for.
    void* memory;

    uint64_t workspaceBytes;
    LaunchShape launch;
    // Words of `items` for a host that joins ranges of items.
    unsigned long long* claimedItems;
    const uint64_t* extraItems;

    RadixPlan radix;
    PartitionedTable<Word> tables[2];
    // Rows between two passes. Both tables use it, one after the other.
    Tuple<Word>* intermediate;
    JoinItems items;

    GPUJOIN_INLINE void plan() {
        static_assert(RUN_ROWS % PassShape<Word>::ROWS == 0, "no tile has rows of two runs");
        static_assert(PassShape<Word>::template sharedBytes<Word>(1u << MAX_DIGIT_BITS) <=
                      MAX_LAUNCH_SHARED_BYTES);
        radix = RadixPlan::of(build.rows, TABLE_SHAPE<Word>);
        using Shape = PassShape<Word>;
        uint32_t firsts = radix.first.count();
        launch.tiles[0] = tilesOf(build.rows);
        launch.tiles[1] = tilesOf(probe.rows);
        launch.tileThreads = Shape::THREADS;
        launch.tileBlocksPerSm = Shape::BLOCKS_PER_SM;
        launch.firstPartitions = firsts;
        launch.partitions = radix.partitions();
        launch.scatterBytes[0] = sharedBytes(firsts);
        launch.scatterBytes[1] = sharedBytes(radix.second.count());
        launch.joinBytes = static_cast<uint32_t>(
            ChainTable<Word>::lengthBytes(TABLE_SHAPE<Word>.rows, TABLE_SHAPE<Word>.slotBits));
        launch.slotThreads = SLOT_THREADS;
        launch.scanThreads = SCAN_THREADS;
        launch.joinThreads = JOIN_THREADS;
        launch.joinBlocksPerSm = JOIN_BLOCKS_PER_SM;
        launch.scatterWaves = SCATTER_WAVES;
        RegionAllocator regions(memory);
        // Most probe rows have the key of a build row.
        double probeRowsPerKey =
            1.0 + static_cast<double>(probe.rows) / static_cast<double>(build.rows + 1);
        tables[0] = PartitionedTable<Word>::allocate(regions, radix, build.rows, 1.0);
        tables[1] = PartitionedTable<Word>::allocate(regions, radix, probe.rows, probeRowsPerKey);
        intermediate = nullptr;
        if (radix.hasTwoPasses()) {
            uint64_t buildRows = slotBufferRows(build.rows, firsts, 1.0);
            uint64_t probeRows = slotBufferRows(probe.rows, firsts, probeRowsPerKey);
            intermediate =
                regions.allocate<Tuple<Word>>(buildRows > probeRows ? buildRows : probeRows);
        }
        items = JoinItems::allocate(regions, radix.partitions());
        claimedItems = items.claimed;
        extraItems = items.extraCount();
        workspaceBytes = regions.usedBytes();
    }

    GPUJOIN_INLINE const TableView<Word>& view(uint32_t table) const {
        return table == 0 ? build : probe;
    }

    GPUJOIN_INLINE RadixPass<Word> firstPass(uint32_t table) const {
        const PartitionedTable<Word>& result = tables[table];
        return {launch.tiles[table],
                view(table).rows,
                result.rowsPerKey,
                radix.first,
                launch.firstPartitions,
                result.firstSlots,
                nullptr,
                radix.hasTwoPasses() ? intermediate : result.rows,
                slotBufferRows(view(table).rows, launch.firstPartitions, result.rowsPerKey)};
    }

    // A tile of the second pass lies in one partition of the first.
    GPUJOIN_INLINE RadixPass<Word> secondPass(uint32_t table) const {
        const PartitionedTable<Word>& result = tables[table];
        return {launch.tiles[table] + launch.firstPartitions,
                view(table).rows,
                result.rowsPerKey,
                radix.second,
                launch.partitions,
                result.slots,
                result.firstSlots.overflow,
                result.rows,
                slotBufferRows(view(table).rows, launch.partitions, result.rowsPerKey)};
    }

  private:
    static GPUJOIN_INLINE uint32_t tilesOf(uint64_t rows) {
        uint32_t tileRows = PassShape<Word>::ROWS;
        return static_cast<uint32_t>((rows + tileRows - 1) / tileRows);
    }

    static GPUJOIN_INLINE uint32_t sharedBytes(uint32_t digits) {
        return static_cast<uint32_t>(PassShape<Word>::template sharedBytes<Word>(digits));
    }
};

static_assert(sizeof(TableView<int64_t>) == 32 && sizeof(MatchColumns<int64_t>) == 40);
constexpr size_t CALL_MEMORY_OFFSET = 104;
constexpr size_t CALL_WORKSPACE_BYTES_OFFSET = 112;
constexpr size_t CALL_LAUNCH_OFFSET = 120;
constexpr size_t CALL_COUNTS_OFFSET = 176;
constexpr size_t CALL_BYTES = 512;
static_assert(offsetof(ResidentCall<int64_t>, memory) == CALL_MEMORY_OFFSET);
static_assert(offsetof(ResidentCall<int64_t>, workspaceBytes) == CALL_WORKSPACE_BYTES_OFFSET);
static_assert(offsetof(ResidentCall<int64_t>, launch) == CALL_LAUNCH_OFFSET);
static_assert(offsetof(ResidentCall<int64_t>, claimedItems) == CALL_COUNTS_OFFSET);
static_assert(sizeof(ResidentCall<int64_t>) <= CALL_BYTES);

}  // namespace gpujoin::resident
