// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// State of a thread block that runs a step, in shared memory.
#pragma once

#include "aggregate.h"
#include "decoder.h"

namespace gpujoin {

constexpr uint32_t ROWS_PER_THREAD = 1;
constexpr uint32_t MAX_TILE_ROWS = 1024;

// Maximum results that a step aggregates, for each thread of its block. An unbounded step could not
// be distinguished from one that hangs, and would delay a stop of the kernel.
constexpr uint32_t ADDED_PER_THREAD = 1 << 12;

// State shared by the threads of a step.
struct StepShared {
    StepEntry step;
    Plan plan;
    Dimension tables[MAX_DIMENSIONS];
    uint64_t broadcast;
    uint64_t start[MAX_TILE_ROWS];  // position of the first result of each row within the tile; if
                                    // results are packed, the codes of a column
    uint64_t mask[PACKED_ROWS / 64];  // bit for each fact of a batch, if results are packed
    Aggregation aggregation;
    LocalSums sums;
    Decoding decoding;
    Facts facts;                   // the rows of the segment, or those that are decoded
    const unsigned char* segment;  // the verified copy
    bool encoded;                  // whether its columns are
};

}  // namespace gpujoin
