// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Copies a segment from mapped host memory to device memory, once over the bus, and verifies it.
//
// A Group is the set of threads that run one step: rank(), size(), sync(), exclusiveSum().
#pragma once

#include "encoding.h"
#include "facts.h"
#include "read_gate.h"

namespace gpujoin {

struct alignas(16) Words {
    uint64_t low;
    uint64_t high;
};

// Copies whole words and returns this thread's share of their checksum, with the checksum field as
// 0. A thread has one outstanding load; the other reading blocks hide the latency of the bus.
template <typename Group>
GPUJOIN_HD inline uint64_t copySegment(Group& group, const unsigned char* from, unsigned char* to,
                                       uint32_t lengthBytes) {
    constexpr uint32_t CHECKSUM_INDEX = offsetof(ChunkHeader, checksum) / 8;
    const Words* source = reinterpret_cast<const Words*>(from);
    Words* target = reinterpret_cast<Words*>(to);
    uint32_t pairs = lengthBytes / sizeof(Words);
    uint64_t sum = 0;
    for (uint32_t at = group.rank(); at < pairs; at += group.size()) {
        Words words = source[at];
        target[at] = words;
        uint64_t low = 2 * at == CHECKSUM_INDEX ? 0 : words.low;
        sum += checksumOf(low, 2 * uint64_t{at}) + checksumOf(words.high, 2 * uint64_t{at} + 1);
    }
    return sum;
}

constexpr uint32_t MAX_READS = 1000;

// Reads the segment of the step. If a check fails, the segment has not fully arrived: a remote
// writer may have made only part of it visible. The block rereads it every microsecond, up to 1000
// times (Thostrup et al., section 4.2).
//
// The length is part of the step and is checked against the size of the slot. All other fields are
// checked in the copy, which cannot change. Every thread returns the same status.
template <typename Group>
GPUJOIN_HD inline StepStatus readSegment(Group& group, const Plan& plan, const StepEntry& step,
                                         ReadGate& gate) {
    const unsigned char* from =
        reinterpret_cast<const unsigned char*>(plan.segments) + plan.segmentBytes * step.slot;
    unsigned char* to =
        reinterpret_cast<unsigned char*>(plan.scratch) + plan.segmentBytes * step.slot;
    if (step.lengthBytes < sizeof(ChunkHeader) || step.lengthBytes > plan.segmentBytes) {
        return STEP_BAD_HEADER;
    }
    bool writes = plan.capacityRows > 0 && plan.aggregation == 0;
    uint64_t blocks = writes ? READING_BLOCKS : READING_BLOCKS_WITHOUT_RESULTS;
    StepStatus status = STEP_BAD_HEADER;
    for (uint32_t reads = 0; reads < MAX_READS; reads++) {
        enterGate(group, gate, blocks);
        uint64_t sum = copySegment(group, from, to, step.lengthBytes);
        group.exclusiveSum(sum, sum);  // includes a barrier: all threads have read
        leaveGate(group, gate);
        ChunkHeader copy = *reinterpret_cast<const ChunkHeader*>(to);
        if (!isHeaderOf(copy, step, plan)) {
            status = STEP_BAD_HEADER;
        } else if (copy.checksum != sum) {
            status = STEP_BAD_CHECKSUM;
        } else if (isEncoded(copy) &&
                   encodedLength(plan, to, copy.rowCount, step.lengthBytes) != step.lengthBytes) {
            return STEP_BAD_ENCODING;  // the writer is wrong, so rereading does not help
        } else {
            return STEP_OK;
        }
        group.sync();
        backOff(1000);
        fenceAcquireSystem();
    }
    return status;
}

}  // namespace gpujoin
