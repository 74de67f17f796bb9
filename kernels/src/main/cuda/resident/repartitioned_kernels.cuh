// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of a repartitioned join, for words of 32 and of 64 bits. Each has the planned call of
// its member as its first parameter, and as a second one the number of the transfer.
#pragma once

#include "partition.cuh"
#include "partition_join.cuh"
#include "radix_pass.cuh"
#include "repartitioned_call.h"

namespace gpujoin::resident {

template <typename Word>
__device__ ColumnSource<Word> columnsOf(const RepartitionedCall<Word>& call, uint64_t transfer) {
    TableView<Word> view = call.sentRows(transfer);
    return {view.keys, view.payloads, view.rows, view.runs};
}

template <typename Word>
__device__ InboxSource<Word> inboxOf(const RepartitionedCall<Word>& call, uint64_t transfer) {
    const Inbox<Word>& inbox = call.inboxOf(transfer);
    Slots slots{inbox.received.begin, nullptr, inbox.received.cursor, nullptr, nullptr, nullptr};
    return {{inbox.rows, slots, inbox.tileStarts, call.digits.first.count(),
             call.digits.second.count()},
            call.digits.partitions() - 1u};
}

template <typename Word>
__device__ void guessExchange(const RepartitionedCall<Word>& call, uint64_t transfer) {
    RadixPass<Word> pass = call.exchangePass(transfer);
    guessRegionSlots(call.sent, call.region(transfer), pass.partitions,
                     guessedCapacityRows(pass.rows, pass.partitions, pass.rowsPerKey));
}

template <Attempt ATTEMPT, typename Word>
__device__ void scatterExchange(const RepartitionedCall<Word>& call, uint64_t transfer) {
    // Barriers before the first write make the addresses visible to all threads.
    __shared__ Tuple<Word>* inboxes[MAX_MEMBERS];
    if (threadIdx.x < call.members) {
        inboxes[threadIdx.x] = call.target(transfer, threadIdx.x);
    }
    RadixPass<Word> pass = call.exchangePass(transfer);
    scatterClaimedTiles<Word, ColumnSource<Word>, ExchangeShape<Word>, ATTEMPT>(
        columnsOf(call, transfer), pass.tiles, pass.digit, call.sent,
        PeerRows<Word>{inboxes, call.digits.localBits()}, conditionOf<ATTEMPT>(pass));
}

template <Attempt ATTEMPT, typename Word>
__device__ void countExchange(const RepartitionedCall<Word>& call, uint64_t transfer) {
    RadixPass<Word> pass = call.exchangePass(transfer);
    countTiles<Word, ColumnSource<Word>, ExchangeShape<Word>, ATTEMPT>(
        columnsOf(call, transfer), pass.tiles, pass.digit, pass.slots, conditionOf<ATTEMPT>(pass));
}

template <Attempt ATTEMPT, typename Word>
__device__ void layOutExchange(const RepartitionedCall<Word>& call, uint64_t transfer) {
    RadixPass<Word> pass = call.exchangePass(transfer);
    layOutRegionSlots<SCAN_THREADS>(pass.slots, call.region(transfer), pass.partitions,
                                    conditionOf<ATTEMPT>(pass), [](uint32_t count) {
                                        return uint64_t{ATTEMPT == Attempt::SAMPLED
                                                            ? sampledCapacityRows(count)
                                                            : alignedRows(count)};
                                    });
}

// Tells the receivers which slots this member has filled. If the join is staged, the host tells the
// other members.
template <typename Word>
__device__ void publish(const RepartitionedCall<Word>& call, uint64_t transfer) {
    uint32_t p = threadIdx.x;
    if (p >= call.digits.first.count()) {
        return;
    }
    uint32_t receiver = p >> call.digits.localBits();
    if (call.isStaged != 0 && receiver != call.member) {
        return;
    }
    ReceivedSlots received = call.inboxOf(transfer).received;
    publishSlot(call.sent.slots,
                {call.peer(receiver, received.begin), call.peer(receiver, received.cursor),
                 call.peer(receiver, received.overflow)},
                static_cast<uint32_t>(call.member), p, call.digits.localPartitions());
}

// Assigns tiles of the second pass to received slots. Runs as one block.
template <typename Word>
__device__ void mapReceived(const RepartitionedCall<Word>& call, uint64_t transfer) {
    const Inbox<Word>& inbox = call.inboxOf(transfer);
    if (threadIdx.x == 0) {
        uint32_t overflow = 0;
        for (uint64_t n = 0; n < call.members; n++) {
            overflow |= inbox.received.overflow[n];
        }
        *call.ownedOf(transfer).senderOverflow = overflow;
    }
    mapTiles<SCAN_THREADS>(inboxOf(call, transfer).slots, call.digits.first.count(),
                           PassShape<Word>::ROWS, inbox.tileStarts);
}

// Counts the tiles that exist, which may be far fewer than a member can receive.
template <Attempt ATTEMPT, typename Word>
__device__ void countReceived(const RepartitionedCall<Word>& call, uint64_t transfer) {
    RadixPass<Word> pass = call.secondPass(transfer);
    InboxSource<Word> source = inboxOf(call, transfer);
    pass.tiles = source.tileCount();
    count<ATTEMPT>(source, pass);
}

// Plans the items of a chunk. Matches of all chunks are counted together.
template <typename Word>
__device__ void planChunk(const RepartitionedCall<Word>& call, uint64_t transfer) {
    planItems<Word, SCAN_THREADS>(
        call.owned[0].slots, call.owned[1].slots, call.items,
        transfer == BUILD_TRANSFER + 1 ? call.matches.matchCount : call.unusedCount);
}

template <typename Word>
__device__ void joinChunk(const RepartitionedCall<Word>& call) {
    const OwnedTable<Word>& build = call.owned[0];
    const OwnedTable<Word>& probe = call.owned[1];
    joinPartitions<Word, JOIN_THREADS, PROBE_BATCH_ROWS<Word>>(
        build.rows, build.slots, probe.rows, probe.slots, call.items, ItemRange::all(),
        PairOutput<Word>{MatchWriter<Word>{call.matches}});
}

}  // namespace gpujoin::resident

// A kernel with a parameter `transfer` whose body may use the names of this namespace.
#define GPUJOIN_TRANSFER_KERNEL(name, Word, Bits, bounds, body)                  \
    extern "C" __global__ void bounds gpujoin_repartitioned_##name##_##Bits(     \
        const __grid_constant__ gpujoin::resident::RepartitionedCall<Word> call, \
        uint64_t transfer) {                                                     \
        using namespace gpujoin::resident;                                       \
        body;                                                                    \
    }

#define GPUJOIN_EXCHANGE_BOUNDS(Word)                                  \
    __launch_bounds__(gpujoin::resident::ExchangeShape<Word>::THREADS, \
                      gpujoin::resident::ExchangeShape<Word>::BLOCKS_PER_SM)
#define GPUJOIN_SECOND_BOUNDS(Word) \
    __launch_bounds__(gpujoin::resident::PassShape<Word>::THREADS, 2)
#define GPUJOIN_SCAN_BOUNDS __launch_bounds__(gpujoin::resident::SCAN_THREADS)

#define GPUJOIN_EXCHANGE_ATTEMPT_KERNELS(attempt, ATTEMPT, Word, Bits)                             \
    GPUJOIN_TRANSFER_KERNEL(clear_exchange_##attempt, Word, Bits, ,                                \
                            clear<Attempt::ATTEMPT>(call.exchangePass(transfer)))                  \
    GPUJOIN_TRANSFER_KERNEL(count_exchange_##attempt, Word, Bits, GPUJOIN_EXCHANGE_BOUNDS(Word),   \
                            countExchange<Attempt::ATTEMPT>(call, transfer))                       \
    GPUJOIN_TRANSFER_KERNEL(lay_out_exchange_##attempt, Word, Bits, GPUJOIN_SCAN_BOUNDS,           \
                            layOutExchange<Attempt::ATTEMPT>(call, transfer))                      \
    GPUJOIN_TRANSFER_KERNEL(scatter_exchange_##attempt, Word, Bits, GPUJOIN_EXCHANGE_BOUNDS(Word), \
                            scatterExchange<Attempt::ATTEMPT>(call, transfer))

#define GPUJOIN_SECOND_ATTEMPT_KERNELS(attempt, ATTEMPT, Word, Bits)                         \
    GPUJOIN_TRANSFER_KERNEL(clear_second_##attempt, Word, Bits, ,                            \
                            clear<Attempt::ATTEMPT>(call.secondPass(transfer)))              \
    GPUJOIN_TRANSFER_KERNEL(count_second_##attempt, Word, Bits, GPUJOIN_SECOND_BOUNDS(Word), \
                            countReceived<Attempt::ATTEMPT>(call, transfer))                 \
    GPUJOIN_TRANSFER_KERNEL(lay_out_second_##attempt, Word, Bits, GPUJOIN_SCAN_BOUNDS,       \
                            layOut<Attempt::ATTEMPT>(call.secondPass(transfer)))             \
    GPUJOIN_TRANSFER_KERNEL(                                                                 \
        scatter_second_##attempt, Word, Bits, GPUJOIN_SECOND_BOUNDS(Word),                   \
        scatter<Attempt::ATTEMPT>(inboxOf(call, transfer), call.secondPass(transfer)))

#define GPUJOIN_REPARTITIONED_KERNELS(Word, Bits)                                                \
    extern "C" __global__ void gpujoin_repartitioned_plan_##Bits(                                \
        gpujoin::resident::RepartitionedCall<Word>* call) {                                      \
        call->plan();                                                                            \
    }                                                                                            \
    GPUJOIN_TRANSFER_KERNEL(guess_exchange, Word, Bits, , guessExchange(call, transfer))         \
    GPUJOIN_TRANSFER_KERNEL(scatter_exchange_guessed, Word, Bits, GPUJOIN_EXCHANGE_BOUNDS(Word), \
                            scatterExchange<Attempt::GUESSED>(call, transfer))                   \
    GPUJOIN_EXCHANGE_ATTEMPT_KERNELS(sampled, SAMPLED, Word, Bits)                               \
    GPUJOIN_EXCHANGE_ATTEMPT_KERNELS(counted, COUNTED, Word, Bits)                               \
    GPUJOIN_TRANSFER_KERNEL(publish, Word, Bits, GPUJOIN_SCAN_BOUNDS, publish(call, transfer))   \
    GPUJOIN_TRANSFER_KERNEL(map_received, Word, Bits, GPUJOIN_SCAN_BOUNDS,                       \
                            mapReceived(call, transfer))                                         \
    GPUJOIN_TRANSFER_KERNEL(guess_second, Word, Bits, , guess(call.secondPass(transfer)))        \
    GPUJOIN_TRANSFER_KERNEL(                                                                     \
        scatter_second_guessed, Word, Bits, GPUJOIN_SECOND_BOUNDS(Word),                         \
        scatter<Attempt::GUESSED>(inboxOf(call, transfer), call.secondPass(transfer)))           \
    GPUJOIN_SECOND_ATTEMPT_KERNELS(sampled, SAMPLED, Word, Bits)                                 \
    GPUJOIN_SECOND_ATTEMPT_KERNELS(counted, COUNTED, Word, Bits)                                 \
    GPUJOIN_TRANSFER_KERNEL(items, Word, Bits, GPUJOIN_SCAN_BOUNDS, planChunk(call, transfer))   \
    extern "C" __global__ void __launch_bounds__(gpujoin::resident::JOIN_THREADS,                \
                                                 gpujoin::resident::JOIN_BLOCKS_PER_SM)          \
        gpujoin_repartitioned_join_##Bits(                                                       \
            const __grid_constant__ gpujoin::resident::RepartitionedCall<Word> call) {           \
        gpujoin::resident::joinChunk(call);                                                      \
    }

GPUJOIN_REPARTITIONED_KERNELS(int32_t, 32)
GPUJOIN_REPARTITIONED_KERNELS(int64_t, 64)
