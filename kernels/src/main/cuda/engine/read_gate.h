// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Limits how many blocks read over the bus at once, in order of arrival.
//
// Reads of host memory share queues with loads of device memory and with the writing of results.
// With 16 MB of outstanding reads, the table lookups of a tile took 35 us, three fifths of a step
// that writes results. 400 KB of outstanding reads also saturate the bus.
#pragma once

#include "portable.h"

namespace gpujoin {

// Blocks that read at once, each with 16 KiB outstanding. The product of bandwidth and latency is
// 51 GB/s times 2 us, or 100 KB; more is needed because blocks leave gaps when they change. Above
// 400 KB results are written more slowly. If none are written, more blocks do no harm and fill the
// gaps between short segments.
constexpr uint64_t READING_BLOCKS = 24;
constexpr uint64_t READING_BLOCKS_WITHOUT_RESULTS = 40;
constexpr uint32_t GATE_PAUSE_NS = 200;

// In device memory, initially zero. A block that has entered is resident and leaves in bounded
// time, so every other block enters eventually.
struct ReadGate {
    uint64_t entered;  // counts up
    uint64_t left;     // likewise
};

// Waits until fewer than `most` blocks that entered earlier are still reading. The counts are
// relaxed, since they publish no other data.
template <typename Group>
GPUJOIN_HD inline void enterGate(Group& group, ReadGate& gate, uint64_t most) {
    if (group.rank() == 0) {
        uint64_t ticket = fetchAddRelaxedDevice(&gate.entered, uint64_t{1});
        while (ticket >= loadRelaxedDevice(&gate.left) + most) {
            backOff(GATE_PAUSE_NS);
        }
    }
    group.sync();
}

// Call it once all threads of the group have received their data.
template <typename Group>
GPUJOIN_HD inline void leaveGate(Group& group, ReadGate& gate) {
    if (group.rank() == 0) {
        fetchAddRelaxedDevice(&gate.left, uint64_t{1});
    }
}

}  // namespace gpujoin
