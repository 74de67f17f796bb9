// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Main loop of a thread block: claim a step of its lane, run it, publish the completion.
//
//   host --> ring --(polling block)--> lanes --(claiming blocks)--> completions
//
// The host publishes steps in one ring. One idle block at a time polls it over the bus and
// dispatches steps to lanes in device memory, from which blocks claim them. The allotment assigns a
// lane to each block. A block rereads its lane before each claim, so blocks move between lanes
// while the kernel runs. Steps are never assigned to a block in advance: a block may change its
// lane, or exit, between any two steps.
#pragma once

#include "step.h"

namespace gpujoin {

// Steps that wait for a block, in a queue with as many entries as the ring; on a cache line of its
// own.
struct alignas(128) Lane {
    uint64_t next;  // queue position of the next step to claim
    uint64_t end;   // queue positions below it hold steps
    uint64_t tail;  // `end` with steps being added; only the polling block uses it
};
static_assert(sizeof(Lane) == 128);

// State shared by blocks, in device memory; persists between launches.
struct Grid {
    uint64_t polling;     // 1 while a block polls the ring
    uint64_t dispatched;  // tickets below were dispatched to lanes; polling block only
    uint64_t allotment;   // version of laneOf; polling block only
    uint64_t heartbeat;   // polling block only
    uint64_t stopped;     // number of the last launch that was told to stop
    ReadGate gate;
    uint64_t reserved[9];
    Lane lanes[MAX_LANES];
};
static_assert(offsetof(Grid, lanes) == 128);

struct ServeArguments {
    Control* control;   // mapped host memory
    StepEntry* ring;    // mapped host memory
    Grid* grid;         // device memory
    uint64_t* laneOf;   // device memory: a copy of Control.laneOf
    uint64_t* queues;   // device memory: tickets; lane i starts at i * (ringMask + 1)
    const Plan* plans;  // device memory
    uint64_t ringMask;  // entries of the ring (a power of two, at least 8) minus 1
    uint64_t lanes;
    uint64_t launch;  // number of this launch, 32 bits, never 0
    uint64_t blocks;  // of this launch
};

// A read over the bus of a cache line that the host has just written delays all reads behind it. So
// one idle block polls for all, with one read if nothing is new, and with pauses.
constexpr uint32_t MIN_PAUSE_NS = 50;
constexpr uint32_t MAX_PAUSE_NS = 1000;
constexpr uint32_t POLLS_PER_HEARTBEAT = 16;

GPUJOIN_HD inline uint32_t laneIn(uint64_t word, uint64_t index) {
    return word >> 8 * (index % LANES_PER_WORD) & 0xFF;
}

// Claims a step of the lane of the block; returns NO_TICKET if there is none.
GPUJOIN_HD inline uint64_t claimStep(const ServeArguments& arguments, uint32_t laneIndex) {
    Lane& lane = arguments.grid->lanes[laneIndex];
    // acquire: the queue entry, the step and its segment are read after the end that covers them
    uint64_t end = loadAcquireDevice(&lane.end);
    uint64_t next = loadRelaxedDevice(&lane.next);
    while (next < end) {
        uint64_t seen = compareExchangeRelaxedDevice(&lane.next, next, next + 1);
        if (seen == next) {
            const uint64_t* queue = arguments.queues + laneIndex * (arguments.ringMask + 1);
            return arguments.lanes == 1 ? next : queue[next & arguments.ringMask];
        }
        next = seen;
    }
    return NO_TICKET;
}

// Copies the allotment of the host to device memory.
GPUJOIN_HD inline void copyAllotment(const ServeArguments& arguments) {
    for (uint64_t word = 0; word * LANES_PER_WORD < arguments.blocks; word++) {
        storeRelaxedDevice(&arguments.laneOf[word],
                           loadRelaxedSystem(&arguments.control->laneOf[word]));
    }
}

// Dispatches up to eight published steps to their lanes, or all steps if there is only one lane.
// Returns the first ticket that is left.
GPUJOIN_HD inline uint64_t dispatch(const ServeArguments& arguments, uint64_t begin,
                                    uint64_t published) {
    Lane* lanes = arguments.grid->lanes;
    if (arguments.lanes == 1) {
        // release: a block that acquires the end sees what the host wrote before publishing
        storeReleaseDevice(&lanes[0].end, published);
        return published;
    }
    uint64_t* lanesOfSteps = reinterpret_cast<uint64_t*>(arguments.ring + arguments.ringMask + 1);
    // relaxed: bytes of unpublished steps may change meanwhile, but are not used
    uint64_t lanesOfEight =
        loadRelaxedSystem(&lanesOfSteps[(begin & arguments.ringMask) / LANES_PER_WORD]);
    uint64_t end = least(published, begin / LANES_PER_WORD * LANES_PER_WORD + LANES_PER_WORD);
    for (uint64_t ticket = begin; ticket < end; ticket++) {
        uint32_t laneIndex = laneIn(lanesOfEight, ticket);
        uint64_t position = lanes[laneIndex].tail++ & arguments.ringMask;
        arguments.queues[laneIndex * (arguments.ringMask + 1) + position] = ticket;
    }
    // pairs with the stores below: a block that acquires an end sees the queue and the host writes
    fenceReleaseDevice();
    for (uint64_t ticket = begin; ticket < end; ticket++) {
        Lane& lane = lanes[laneIn(lanesOfEight, ticket)];
        storeRelaxedDevice(&lane.end, lane.tail);
    }
    return end;
}

// Polls once over the bus; only the polling block calls it. Returns whether anything was new.
GPUJOIN_HD inline bool pollRing(const ServeArguments& arguments) {
    Grid* grid = arguments.grid;
    uint64_t published;
    uint64_t orders;
    loadPairRelaxedSystem(&arguments.control->published, published, orders);
    if (static_cast<uint32_t>(orders) == arguments.launch) {
        storeRelaxedDevice(&grid->stopped, arguments.launch);
        return true;
    }
    uint64_t allotment = orders >> 32;
    if (published == grid->dispatched && allotment == grid->allotment) {
        return false;
    }
    // pairs with the loads above: what the host wrote before is visible to this block and, by the
    // releases in dispatch, to blocks that claim
    fenceAcquireSystem();
    if (allotment != grid->allotment) {
        copyAllotment(arguments);
        grid->allotment = allotment;
    }
    if (published != grid->dispatched) {
        grid->dispatched = dispatch(arguments, grid->dispatched, published);
    }
    return true;
}

// Called by one thread of a block. Returns the ticket of a step to run, or NO_TICKET on a stop
// request.
GPUJOIN_HD inline uint64_t awaitStep(const ServeArguments& arguments, uint32_t block) {
    Grid* grid = arguments.grid;
    uint64_t* laneWord = &arguments.laneOf[block / LANES_PER_WORD];
    bool isPolling = false;
    uint64_t ticket = NO_TICKET;
    uint32_t pauseNs = MIN_PAUSE_NS;
    while (loadRelaxedDevice(&grid->stopped) != arguments.launch) {
        ticket = claimStep(arguments, laneIn(loadRelaxedDevice(laneWord), block));
        if (ticket != NO_TICKET) {
            break;
        }
        // acquire: sees what the previous polling block wrote
        isPolling = isPolling || (loadRelaxedDevice(&grid->polling) == 0 &&
                                  exchangeAcquireDevice(&grid->polling, uint64_t{1}) == 0);
        if (isPolling && pollRing(arguments)) {
            continue;
        }
        if (isPolling && ++grid->heartbeat % POLLS_PER_HEARTBEAT == 0) {
            storeRelaxedSystem(&arguments.control->heartbeat, grid->heartbeat);
        }
        backOff(pauseNs);
        pauseNs = least(2 * pauseNs, MAX_PAUSE_NS);
    }
    if (isPolling) {
        storeReleaseDevice(&grid->polling, uint64_t{0});
    }
    return ticket;
}

template <typename Group>
GPUJOIN_HD inline void loadStep(Group& group, const ServeArguments& arguments, uint64_t ticket,
                                StepShared& shared) {
    // adjacent threads read adjacent words, so the entry is one read over the bus
    const uint64_t* entry =
        reinterpret_cast<const uint64_t*>(&arguments.ring[ticket & arguments.ringMask]);
    for (uint32_t i = group.rank(); i < sizeof(StepEntry) / 8; i += group.size()) {
        reinterpret_cast<uint64_t*>(&shared.step)[i] = entry[i];
    }
    group.sync();
}

template <typename Group>
GPUJOIN_HD inline void loadPlan(Group& group, const ServeArguments& arguments, StepShared& shared) {
    const uint64_t* plan = reinterpret_cast<const uint64_t*>(&arguments.plans[shared.step.plan]);
    for (uint32_t i = group.rank(); i < sizeof(Plan) / 8; i += group.size()) {
        reinterpret_cast<uint64_t*>(&shared.plan)[i] = plan[i];
    }
    group.sync();
    const uint64_t* tables = reinterpret_cast<const uint64_t*>(shared.plan.dimensions);
    uint32_t words = shared.plan.dimensionCount * sizeof(Dimension) / 8;
    for (uint32_t i = group.rank(); i < words; i += group.size()) {
        reinterpret_cast<uint64_t*>(shared.tables)[i] = tables[i];
    }
    group.sync();
}

// Runs the step if its results are packed. Not inlined, so that other steps keep their registers.
template <typename Group>
GPUJOIN_NOINLINE Completion runPackedStep(Group group, StepShared& shared, ReadGate& gate,
                                          uint32_t block) {
    Completion done{};
    Step<Group, true>(group, shared, gate, block).run(done);
    return done;
}

// Serves steps until the host requests a stop.
template <typename Group>
GPUJOIN_HD inline void serve(Group& group, const ServeArguments& arguments, uint32_t block,
                             StepShared& shared) {
    while (true) {
        if (group.rank() == 0) {
            shared.broadcast = awaitStep(arguments, block);
        }
        group.sync();
        uint64_t ticket = shared.broadcast;
        if (ticket == NO_TICKET) {
            return;
        }
        uint64_t startedNs = nanoTime();
        loadStep(group, arguments, ticket, shared);
        loadPlan(group, arguments, shared);
        Completion done{};
        if (shared.plan.packsResults != 0) {
            done = runPackedStep(group, shared, arguments.grid->gate, block);
        } else {
            Step<Group, false>(group, shared, arguments.grid->gate, block).run(done);
        }
        group.sync();
        if (group.rank() == 0) {
            Completion* completion = reinterpret_cast<Completion*>(shared.plan.completions) +
                                     2 * shared.step.slot + shared.step.resultBuffer;
            completion->status = done.status;
            completion->rowCount = done.rowCount;
            completion->completedRows = done.completedRows;
            completion->block = block;
            completion->matchCount = done.matchCount;
            completion->busyNs = nanoTime() - startedNs;
            completion->startedNs = startedNs;
            // release: with the barrier above, orders all results of the group before the sequence
            storeReleaseSystem(&completion->sequence, ticket + 1);
        }
        group.sync();
    }
}

}  // namespace gpujoin
