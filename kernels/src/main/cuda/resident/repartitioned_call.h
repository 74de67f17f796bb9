// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One member's part of a repartitioned join as its kernels see it: inputs, outputs, plan and
// workspace.
#pragma once

#include <cstdint>

#include "exchange.cuh"
#include "exchange_plan.h"
#include "join_item.h"
#include "resident_call.h"

namespace gpujoin::resident {

// Tiles of an exchange: as large as the shared memory of a multiprocessor of compute capability 8.0
// permits, because runs across a link should be long.
template <typename Word>
using ExchangeShape = TileShape<1024, sizeof(Word) == 8 ? 8 : 15, 1, 1>;

// Shared memory that a block of an exchange requests at least, so that no block of another kernel
// fits beside it: stores that wait for a link would hold up its accesses to memory.
constexpr uint32_t EXCHANGE_BYTES = 160 * 1024;
static_assert(EXCHANGE_BYTES <= MAX_LAUNCH_SHARED_BYTES);

// Share of the multiprocessors that exchange a chunk of the probe table while the others partition
// and join.
constexpr uint32_t EXCHANGE_PERCENT = 42;

// What a host needs to launch the kernels of a call.
struct RepartitionedLaunch {
    uint32_t chunks;
    // By transfer.
    uint32_t exchangeTiles[MAX_TRANSFERS];
    // Expected tiles of the second pass, by transfer; kernels may find more.
    uint32_t secondTiles[MAX_TRANSFERS];
    // Partitions and digits of the exchange.
    uint32_t exchangePartitions;
    uint32_t exchangeThreads;
    uint32_t exchangeBytes;
    uint32_t exchangePercent;
    uint32_t secondDigits;
    // Partitions that a member joins.
    uint32_t partitions;
    uint32_t secondThreads;
    uint32_t secondBytes;
    uint32_t secondBlocksPerSm;
    uint32_t scatterWaves;
    uint32_t slotThreads;
    uint32_t scanThreads;
    uint32_t joinThreads;
    uint32_t joinBytes;
    uint32_t joinBlocksPerSm;
};
static_assert(sizeof(RepartitionedLaunch) == 104);

// An inbox, and the slots received in it. Transfers use two inboxes in turn.
template <typename Word>
struct Inbox {
    Tuple<Word>* rows;
    ReceivedSlots received;
    uint32_t* tileStarts;

    static GPUJOIN_INLINE Inbox allocate(RegionAllocator& regions, uint64_t rows, uint32_t slots) {
        return {regions.allocate<Tuple<Word>>(rows), ReceivedSlots::allocate(regions, slots),
                regions.allocate<uint32_t>(slots + 1)};
    }
};

// The partitions of the build table, or of the current chunk of the probe table.
template <typename Word>
struct OwnedTable {
    Slots slots;
    Tuple<Word>* rows;
    uint64_t bufferRows;
    // Whether the guess of a sender failed, so that a guess of more partitions would fail too.
    uint32_t* senderOverflow;

    static GPUJOIN_INLINE OwnedTable allocate(RegionAllocator& regions, uint32_t partitions,
                                              uint64_t bufferRows) {
        return {Slots::allocate(regions, partitions), regions.allocate<Tuple<Word>>(bufferRows),
                bufferRows, regions.allocate<uint32_t>(1)};
    }
};

// The host writes the members up to `isStaged`, and `plan` sets the others.
//
//   0       32      64        104        168         232         296
//   +-------+-------+---------+----------+-----------+-----------+----
//   | build | probe | matches | memories | buildRows | probeRows |
//   +-------+-------+---------+----------+-----------+-----------+----
//   296       304      312      320        328              336      440
//   +---------+--------+--------+----------+----------------+--------+----
//   | members | member | chunks | isStaged | workspaceBytes | launch | ...
//   +---------+--------+--------+----------+----------------+--------+----
template <typename Word>
struct RepartitionedCall {
    // Parts of both tables on this member.
    TableView<Word> build;
    TableView<Word> probe;
    // Results of this member.
    MatchColumns<Word> matches;
    // The workspaces of all members, equally laid out up to the outbox; null if only the size of the
    // own one is asked for.
    void* memories[MAX_MEMBERS];
    // Rows of the parts of all members.
    uint64_t buildRows[MAX_MEMBERS];
    uint64_t probeRows[MAX_MEMBERS];
    // A power of two.
    uint64_t members;
    // The number of this member.
    uint64_t member;
    // Chunks of the probe table; 0 lets the plan choose.
    uint64_t chunks;
    // Whether rows for other members are written to the outbox, from which the host copies them.
    uint64_t isStaged;

    uint64_t workspaceBytes;
    RepartitionedLaunch launch;
    ExchangeDigits digits;
    TransferPlan transfers[MAX_TRANSFERS];
    SentSlots sent;
    Inbox<Word> inboxes[2];
    // Of the build table, and of the current chunk of the probe table.
    OwnedTable<Word> owned[2];
    JoinItems items;
    // Takes the place of the count of matches for planItems(), which resets it.
    uint64_t* unusedCount;
    // Regions of all receivers, one after the other; null unless the join is staged.
    Tuple<Word>* outbox;

    GPUJOIN_INLINE void plan() {
        auto count = static_cast<uint32_t>(members);
        uint64_t buildTotal = sumOf(buildRows);
        if (chunks == 0) {
            uint64_t most = sumOf(probeRows) / members / MIN_CHUNK_ROWS;
            chunks = most < 1 ? 1 : most > DEFAULT_CHUNKS ? DEFAULT_CHUNKS : most;
        }
        digits = ExchangeDigits::of(buildTotal, count, TABLE_SHAPE<Word>);
        for (uint64_t t = 0; t <= chunks; t++) {
            for (uint32_t n = 0; n < count; n++) {
                transfers[t].sentRows[n] = t == BUILD_TRANSFER
                                               ? buildRows[n]
                                               : chunkFirst(probeRows[n], t, chunks) -
                                                     chunkFirst(probeRows[n], t - 1, chunks);
            }
            // Build keys seldom repeat, and most probe rows have the key of a build row.
            transfers[t].plan(digits, count,
                              t == BUILD_TRANSFER ? 1e18 : static_cast<double>(buildTotal) + 1.0);
        }
        allocate(count);
        planLaunch(count);
    }

    // Returns the rows of a transfer that this member sends.
    GPUJOIN_INLINE TableView<Word> sentRows(uint64_t transfer) const {
        if (transfer == BUILD_TRANSFER) {
            return build;
        }
        uint64_t first = chunkFirst(probe.rows, transfer - 1, chunks);
        return {probe.keys + first, probe.payloads + first, transfers[transfer].sentRows[member]};
    }

    GPUJOIN_INLINE const OwnedTable<Word>& ownedOf(uint64_t transfer) const {
        return owned[transfer == BUILD_TRANSFER ? 0 : 1];
    }

    GPUJOIN_INLINE const Inbox<Word>& inboxOf(uint64_t transfer) const {
        return inboxes[transfer % 2];
    }

    // Returns the region of this member in the inboxes of all others.
    GPUJOIN_INLINE Region region(uint64_t transfer) const {
        const uint64_t* firsts = transfers[transfer].regionFirsts + member;
        return {firsts[0], firsts[1] - firsts[0], digits.localPartitions()};
    }

    // Returns the address in a peer's workspace of a region of the own one.
    template <typename T>
    GPUJOIN_INLINE T* peer(uint32_t receiver, T* own) const {
        size_t offset =
            reinterpret_cast<unsigned char*>(own) - static_cast<unsigned char*>(memories[member]);
        return reinterpret_cast<T*>(static_cast<unsigned char*>(memories[receiver]) + offset);
    }

    // Returns where this member writes row 0 of the inbox of a receiver.
    GPUJOIN_INLINE Tuple<Word>* target(uint64_t transfer, uint32_t receiver) const {
        return isStaged != 0 && receiver != member
                   ? outboxOf(transfer, receiver) - region(transfer).firstRow
                   : peer(receiver, inboxOf(transfer).rows);
    }

    GPUJOIN_INLINE Tuple<Word>* outboxOf(uint64_t transfer, uint32_t receiver) const {
        return outbox + receiver * region(transfer).rows;
    }

    GPUJOIN_INLINE RadixPass<Word> exchangePass(uint64_t transfer) const {
        const TransferPlan& transferred = transfers[transfer];
        uint64_t rows = transferred.sentRows[member];
        return {tilesOf<ExchangeShape<Word>>(rows),
                rows,
                transferred.rowsPerKey(rows),
                digits.first,
                digits.first.count(),
                sent.slots,
                nullptr,
                nullptr,
                region(transfer).rows};
    }

    // A tile of the second pass lies in the slot of one sender. The number of tiles allows for a
    // member that receives all rows.
    GPUJOIN_INLINE RadixPass<Word> secondPass(uint64_t transfer) const {
        const TransferPlan& transferred = transfers[transfer];
        const OwnedTable<Word>& table = ownedOf(transfer);
        return {tilesOf<PassShape<Word>>(transferred.totalRows) + digits.first.count(),
                dividedUp(transferred.totalRows, members),
                transferred.rowsPerKey(transferred.totalRows),
                digits.second,
                digits.partitions(),
                table.slots,
                table.senderOverflow,
                table.rows,
                table.bufferRows};
    }

  private:
    GPUJOIN_INLINE uint64_t sumOf(const uint64_t* rows) const {
        uint64_t sum = 0;
        for (uint64_t n = 0; n < members; n++) {
            sum += rows[n];
        }
        return sum;
    }

    GPUJOIN_INLINE void allocate(uint32_t count) {
        uint64_t inboxRows[2] = {0, 0};
        uint64_t ownedRows[2] = {0, 0};
        uint64_t outboxRows = 0;
        for (uint64_t t = 0; t <= chunks; t++) {
            grow(inboxRows[t % 2], transfers[t].regionFirsts[count]);
            grow(ownedRows[t == BUILD_TRANSFER ? 0 : 1],
                 transfers[t].partitionedRows(digits, count));
            grow(outboxRows, region(t).rows * count);
        }
        RegionAllocator regions(memories[member]);
        sent = SentSlots::allocate(regions, digits.first.count());
        for (int i = 0; i < 2; i++) {
            inboxes[i] = Inbox<Word>::allocate(regions, inboxRows[i], digits.first.count());
            owned[i] = OwnedTable<Word>::allocate(regions, digits.partitions(), ownedRows[i]);
        }
        items = JoinItems::allocate(regions, digits.partitions());
        unusedCount = regions.allocate<uint64_t>(1);
        outbox = isStaged == 0 ? nullptr : regions.allocate<Tuple<Word>>(outboxRows);
        workspaceBytes = regions.usedBytes();
    }

    static GPUJOIN_INLINE void grow(uint64_t& most, uint64_t rows) {
        most = rows > most ? rows : most;
    }

    GPUJOIN_INLINE void planLaunch(uint32_t count) {
        using Exchange = ExchangeShape<Word>;
        using Second = PassShape<Word>;
        static_assert(Exchange::template sharedBytes<Word>(1u << MAX_EXCHANGE_BITS) <=
                      MAX_LAUNCH_SHARED_BYTES);
        launch.chunks = static_cast<uint32_t>(chunks);
        for (uint64_t t = 0; t < MAX_TRANSFERS; t++) {
            uint64_t share = t <= chunks ? dividedUp(transfers[t].totalRows, count) : 0;
            launch.exchangeTiles[t] =
                t <= chunks ? tilesOf<Exchange>(transfers[t].sentRows[member]) : 0;
            launch.secondTiles[t] = tilesOf<Second>(share + share / 32) + digits.first.count();
        }
        auto exchangeBytes =
            static_cast<uint32_t>(Exchange::template sharedBytes<Word>(digits.first.count()));
        launch.exchangePartitions = digits.first.count();
        launch.exchangeThreads = Exchange::THREADS;
        launch.exchangeBytes = exchangeBytes < EXCHANGE_BYTES ? EXCHANGE_BYTES : exchangeBytes;
        launch.exchangePercent = EXCHANGE_PERCENT;
        launch.secondDigits = digits.second.count();
        launch.partitions = digits.partitions();
        launch.secondThreads = Second::THREADS;
        launch.secondBytes =
            static_cast<uint32_t>(Second::template sharedBytes<Word>(digits.second.count()));
        launch.secondBlocksPerSm = Second::BLOCKS_PER_SM;
        launch.scatterWaves = SCATTER_WAVES;
        launch.slotThreads = SLOT_THREADS;
        launch.scanThreads = SCAN_THREADS;
        launch.joinThreads = JOIN_THREADS;
        launch.joinBytes = static_cast<uint32_t>(
            ChainTable<Word>::lengthBytes(TABLE_SHAPE<Word>.rows, TABLE_SHAPE<Word>.slotBits));
        launch.joinBlocksPerSm = JOIN_BLOCKS_PER_SM;
    }

    template <typename Shape>
    static GPUJOIN_INLINE uint32_t tilesOf(uint64_t rows) {
        return static_cast<uint32_t>(dividedUp(rows, Shape::ROWS));
    }
};

constexpr size_t REPARTITIONED_WORKSPACE_BYTES_OFFSET = 328;
constexpr size_t REPARTITIONED_LAUNCH_OFFSET = 336;
constexpr size_t REPARTITIONED_BYTES = 2048;
static_assert(offsetof(RepartitionedCall<int64_t>, workspaceBytes) ==
              REPARTITIONED_WORKSPACE_BYTES_OFFSET);
static_assert(offsetof(RepartitionedCall<int64_t>, launch) == REPARTITIONED_LAUNCH_OFFSET);
static_assert(sizeof(RepartitionedCall<int64_t>) <= REPARTITIONED_BYTES);

}  // namespace gpujoin::resident
