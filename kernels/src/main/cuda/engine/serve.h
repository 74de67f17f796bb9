// The life of a thread block: take a ticket, wait for its step in the ring, run it, say so.
#pragma once

#include "step.h"

namespace gpujoin {

// Device memory that outlives a launch. A block that is asked to stop keeps the ticket that it
// waits for, and the block of that number waits for it again in the next launch.
struct Tickets {
    uint64_t next;     // the next ticket to take
    uint64_t seen;     // steps before this one were seen in the ring
    uint64_t stopped;  // the last launch that was seen to be asked to stop
    uint64_t reserved;
    uint64_t held[1];  // one for each block
};
static_assert(offsetof(Tickets, held) == 32);

struct ServeArguments {
    Control* control;   // mapped host memory
    StepEntry* ring;    // mapped host memory
    Tickets* tickets;   // device memory
    const Plan* plans;  // device memory
    uint64_t ringMask;  // entries of the ring, a power of two, less 1
    uint64_t launch;    // number of this launch, from 1
};

// Blocks that look at the ring over the bus at once: those with the next tickets. The others wait
// for `seen` to come near, in device memory; idle blocks would else take the bus from busy ones.
constexpr uint64_t LOOKING_BLOCKS = 8;
constexpr uint32_t POLLS_PER_HEARTBEAT = 16;
constexpr uint32_t MAX_BACK_OFF_NS = 1000;

GPUJOIN_HD inline bool mustStop(const ServeArguments& arguments, bool looks) {
    uint64_t* stopped = &arguments.tickets->stopped;
    if (loadRelaxedDevice(stopped) == arguments.launch) {
        return true;
    }
    if (looks && loadRelaxedSystem(&arguments.control->stop) == arguments.launch) {
        storeRelaxedDevice(stopped, arguments.launch);
        return true;
    }
    return false;
}

// For one thread of a block. True with the step copied to `step`; false where asked to stop.
GPUJOIN_HD inline bool awaitStep(const ServeArguments& arguments, uint64_t& ticket,
                                 StepEntry& step) {
    Tickets* tickets = arguments.tickets;
    if (ticket == NO_TICKET) {
        ticket = fetchAddRelaxedDevice(&tickets->next, uint64_t{1});
    }
    StepEntry* entry = &arguments.ring[ticket & arguments.ringMask];
    uint32_t pauseNs = 50;
    for (uint32_t polls = 1;; polls++) {
        uint64_t seen = loadRelaxedDevice(&tickets->seen);
        bool looks = ticket < seen + LOOKING_BLOCKS;
        if (looks && loadRelaxedSystem(&entry->sequence) == ticket + 1) {
            // with the load above: what the host wrote before it published the entry is read after
            fenceAcquireSystem();
            fetchMaxRelaxedDevice(&tickets->seen, ticket + 1);
            step = *entry;
            return true;
        }
        if (mustStop(arguments, looks)) {
            return false;
        }
        if (ticket == seen && polls % POLLS_PER_HEARTBEAT == 0) {
            uint64_t* heartbeat = &arguments.control->heartbeat;
            storeRelaxedSystem(heartbeat, loadRelaxedSystem(heartbeat) + 1);
        }
        backOff(pauseNs);
        pauseNs = least(2 * pauseNs, MAX_BACK_OFF_NS);
    }
}

template <typename Group>
GPUJOIN_HD inline void loadPlan(Group& group, const ServeArguments& arguments,
                                StepShared& shared) {
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

// Serves steps until asked to stop.
template <typename Group>
GPUJOIN_HD inline void serve(Group& group, const ServeArguments& arguments, uint32_t block,
                             StepShared& shared) {
    uint64_t ticket = group.rank() == 0 ? arguments.tickets->held[block] : 0;
    while (true) {
        if (group.rank() == 0) {
            shared.broadcast = awaitStep(arguments, ticket, shared.step) ? 1 : 0;
        }
        group.sync();
        bool hasStep = shared.broadcast != 0;
        group.sync();
        if (!hasStep) {
            break;
        }
        uint64_t seenNs = nanoTime();
        loadPlan(group, arguments, shared);
        Completion done{};
        Step<Group>(group, shared).run(done);
        group.sync();
        if (group.rank() == 0) {
            Completion* completion = reinterpret_cast<Completion*>(shared.plan.completions) +
                                     2 * shared.step.slot + shared.step.resultBuffer;
            completion->status = done.status;
            completion->rowCount = done.rowCount;
            completion->completedRows = done.completedRows;
            completion->matchCount = done.matchCount;
            completion->busyNs = nanoTime() - seenNs;
            // release: orders the whole group's results, by the barrier above, before the sequence
            storeReleaseSystem(&completion->sequence, ticket + 1);
            ticket = NO_TICKET;
        }
        group.sync();
    }
    if (group.rank() == 0) {
        arguments.tickets->held[block] = ticket;
    }
}

}  // namespace gpujoin
