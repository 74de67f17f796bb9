// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A random number for each number, so that rows are generated in any order.
#pragma once

#include <cstdint>

#include "../main/cuda/engine/attributes.h"

namespace gpujoin::bench {

// The output function of SplitMix64.
GPUJOIN_HD inline uint64_t mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace gpujoin::bench
