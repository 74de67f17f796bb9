// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Measured limits of the machine, which bound the other results.
#pragma once

#include <vector>

namespace gpujoin::bench {

// A measured limit of the machine, from the run whose results it bounds.
struct Ceiling {
    const char* name;
    const char* unit;
    // Rates in the order of the runs.
    std::vector<double> rounds;
};

// Measures all limits.
//
//   h2d-copy, d2h-copy      one large copy of pinned host memory by the driver
//   zero-copy-read, -write  a kernel that accesses mapped host memory, in 10^9 bytes a second
//   zero-copy-both-ways     a kernel that copies mapped host memory: bytes in each direction, which
//                           share the bus with the requests of the other
//   device-copy             a kernel that copies 8 GiB: bytes read plus bytes written
//   device-gather           independent 16-byte loads at random addresses of 8 GiB, 10^9 a second
std::vector<Ceiling> measureCeilings();

}  // namespace gpujoin::bench
