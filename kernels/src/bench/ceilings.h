#pragma once

#include <vector>

namespace gpujoin::bench {

/** One thing that the machine itself does, measured in the run whose results it bounds. */
struct Ceiling {
    const char* name;
    const char* unit;
    /** Rates, in the order of the runs. */
    std::vector<double> rounds;
};

/**
 * h2d-copy, d2h-copy            one large copy of pinned host memory by the driver
 * zero-copy-read, -write        a kernel on mapped host memory, 10^9 bytes a second
 * zero-copy-both-ways           a kernel that copies mapped host memory: bytes in each direction, which share the
 *                               bus with each other's requests
 * device-copy                   a kernel's copy of 8 GiB, bytes read plus bytes written
 * device-gather                 independent 16-byte loads at random places of 8 GiB, 10^9 a second
 */
std::vector<Ceiling> measureCeilings();

}  // namespace gpujoin::bench
