// Lets a few blocks at a time read over the bus, in the order in which they come.
//
// What the multiprocessors have asked of the host stands in queues that their loads of device memory
// and their results pass too. With 16 MB asked for, a tile's look-ups in the tables took 35 us, three
// fifths of a step that gives results; 400 KB fill the bus as well.
#pragma once

#include "portable.h"

namespace gpujoin {

// Blocks that read at once, each with 16 KiB under way: 51 GB/s times 2 us are 100 KB, and blocks
// that come and go leave gaps. Above 400 KB results get slower; where none are written, more blocks
// do no harm, and fill the gaps between short segments.
constexpr uint64_t READING_BLOCKS = 24;
constexpr uint64_t READING_BLOCKS_WITHOUT_RESULTS = 40;
constexpr uint32_t GATE_PAUSE_NS = 200;

// In device memory, zero at first. A block that has entered is resident and leaves in bounded time,
// so all others get in.
struct ReadGate {
    uint64_t entered;  // counts up
    uint64_t left;     // likewise
};

// Waits until fewer than `most` blocks read that came before. Only the counts themselves are shared,
// so they are relaxed.
template <typename Group>
GPUJOIN_HD inline void enterGate(Group& group, ReadGate& gate, uint64_t most) {
    if (group.rank() == 0) {
        uint64_t turn = fetchAddRelaxedDevice(&gate.entered, uint64_t{1});
        while (turn >= loadRelaxedDevice(&gate.left) + most) {
            backOff(GATE_PAUSE_NS);
        }
    }
    group.sync();
}

// To be called once all threads of the group have what they read.
template <typename Group>
GPUJOIN_HD inline void leaveGate(Group& group, ReadGate& gate) {
    if (group.rank() == 0) {
        fetchAddRelaxedDevice(&gate.left, uint64_t{1});
    }
}

}  // namespace gpujoin
