// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Copies a segment from mapped host memory to device memory, once over the bus, and verifies it. A
// chunk that is read in place becomes a segment by the copy.
//
// A Group is the set of threads that run one step: rank(), size(), sync(), exclusiveSum().
#pragma once

#include "decoder.h"
#include "facts.h"
#include "read_gate.h"

namespace gpujoin {

struct alignas(16) Words {
    uint64_t low;
    uint64_t high;
};

// Copies whole words from `from + offset` and returns this thread's share of their checksum, with
// the checksum field as 0. Copies nothing if `to` is null. A thread has one outstanding load; the
// other reading blocks hide the latency of the bus.
template <typename Group>
GPUJOIN_HD inline uint64_t copyWords(Group& group, const unsigned char* from, uint64_t offset,
                                     unsigned char* to, uint64_t lengthBytes) {
    constexpr uint32_t CHECKSUM_INDEX = offsetof(ChunkHeader, checksum) / 8;
    const Words* source = reinterpret_cast<const Words*>(from + offset);
    Words* target = reinterpret_cast<Words*>(to);
    uint32_t pairs = static_cast<uint32_t>(lengthBytes / sizeof(Words));
    uint64_t first = offset / 8;
    uint64_t sum = 0;
    for (uint32_t at = group.rank(); at < pairs; at += group.size()) {
        Words words = source[at];
        if (target != nullptr) {
            target[at] = words;
        }
        uint64_t index = first + 2 * uint64_t{at};
        uint64_t low = index == CHECKSUM_INDEX ? 0 : words.low;
        sum += checksumOf(low, index) + checksumOf(words.high, index + 1);
    }
    return sum;
}

// Copies the columns of a chunk that the device needs to where they are in a segment. If the chunk
// is not known to have arrived, also reads all other columns, and returns this thread's share of the
// checksum of the chunk.
template <typename Group>
GPUJOIN_HD inline uint64_t copyChunk(Group& group, const Plan& plan, const StepEntry& step,
                                     unsigned char* to) {
    const unsigned char* from = reinterpret_cast<const unsigned char*>(step.chunk);
    bool verifies = step.chunkReadRows == 0;
    uint64_t firstRow = verifies ? 0 : step.baseRow;
    Facts segment;
    locateColumns(plan, static_cast<int32_t>(rowsToRead(step)), segment);
    uint64_t sum = copyWords(group, from, 0, to, sizeof(ChunkHeader));
    uint64_t offset = sizeof(ChunkHeader);
    for (uint32_t c = 0; c < plan.chunkColumnCount; c++) {
        uint64_t width = plan.chunkColumnWidth[c];
        uint32_t column = plan.segmentColumn[c];
        unsigned char* target =
            column == NOT_IN_SEGMENT ? nullptr : to + segment.columnOffset[column];
        if (target != nullptr || verifies) {
            sum += copyWords(group, from, offset + width * firstRow, target,
                             alignColumn(width * rowsToRead(step)));
        }
        offset += alignColumn(width * step.chunkRowCount);
    }
    return sum;
}

// Does the same for a chunk with encoded columns, whose entries go to `entries` in shared memory. The
// copy is an encoded segment. Sets `isSound` to false, in every thread, if the entries are not those
// of such a chunk; they may not have arrived.
template <typename Group>
GPUJOIN_NOINLINE uint64_t copyEncodedChunk(Group& group, const Plan& plan, const StepEntry& step,
                                           EncodedColumn* entries, unsigned char* to,
                                           bool& isSound) {
    const unsigned char* from = reinterpret_cast<const unsigned char*>(step.chunk);
    bool verifies = step.chunkReadRows == 0;
    int32_t rowCount = static_cast<int32_t>(step.chunkRowCount);
    uint64_t end = sizeof(ChunkHeader) + plan.chunkColumnCount * sizeof(EncodedColumn);
    uint64_t targetEnd = sizeof(ChunkHeader) + plan.columnCount * sizeof(EncodedColumn);
    uint64_t sum = copyWords(group, from, 0, to, sizeof(ChunkHeader));
    sum += copyWords(group, from, sizeof(ChunkHeader), reinterpret_cast<unsigned char*>(entries),
                     end - sizeof(ChunkHeader));
    group.sync();
    // From here on only the copy of the entries is read, which no writer can change.
    isSound = true;
    for (uint32_t c = 0; c < plan.chunkColumnCount; c++) {
        EncodedColumn entry = entries[c];
        uint64_t bodyBytes = static_cast<uint32_t>(entry.bodyBytes);
        uint32_t column = plan.segmentColumn[c];
        bool isNeeded = column != NOT_IN_SEGMENT;
        isSound = isSound && isEncodedColumn(entry, rowCount, plan.chunkColumnWidth[c], end) &&
                  end + bodyBytes <= step.lengthBytes &&
                  (!isNeeded || targetEnd + bodyBytes <= plan.segmentBytes);
        if (!isSound) {
            return sum;
        }
        if (isNeeded || verifies) {
            sum += copyWords(group, from, end, isNeeded ? to + targetEnd : nullptr, bodyBytes);
        }
        if (isNeeded) {
            if (group.rank() == 0) {
                entry.bodyOffset = static_cast<int32_t>(targetEnd);
                reinterpret_cast<EncodedColumn*>(to + sizeof(ChunkHeader))[column] = entry;
            }
            targetEnd += bodyBytes;
        }
        end += bodyBytes;
    }
    isSound = end == step.lengthBytes;
    return sum;
}

// The first row of a range must be a multiple of this, so that every column of it is aligned.
constexpr uint32_t RANGE_ROWS = 64;

// Returns whether a chunk that is read in place has the columns of the plan, and the rows to read
// fit a segment. Everything comes from the step, so that the writer of the chunk has no influence.
GPUJOIN_HD inline bool isReadableInPlace(const StepEntry& step, const Plan& plan) {
    if (step.chunkIsEncoded != 0) {
        uint64_t entries = sizeof(ChunkHeader) + plan.chunkColumnCount * sizeof(EncodedColumn);
        bool isWhole = step.chunkReadRows == 0 || step.chunkReadRows == step.chunkRowCount;
        return plan.chunkColumnCount > 0 && plan.decodedRows != 0 && isWhole &&
               step.chunkRowCount > 0 && step.chunkRowCount <= uint32_t{MAX_ENCODED_ROWS} &&
               step.lengthBytes >= entries && step.lengthBytes % sizeof(Words) == 0;
    }
    uint64_t end = sizeof(ChunkHeader);
    for (uint32_t c = 0; c < plan.chunkColumnCount; c++) {
        end += alignColumn(uint64_t{plan.chunkColumnWidth[c]} * step.chunkRowCount);
    }
    uint64_t endRow = uint64_t{step.baseRow} + step.chunkReadRows;
    bool isRange =
        step.chunkReadRows == 0 || (step.baseRow % RANGE_ROWS == 0 && endRow <= step.chunkRowCount);
    Facts segment;
    return plan.chunkColumnCount > 0 && isRange && step.chunkRowCount <= 0x7FFFFFFFu &&
           end == step.lengthBytes &&
           locateColumns(plan, static_cast<int32_t>(rowsToRead(step)), segment) <=
               plan.segmentBytes;
}

constexpr uint32_t MAX_READS = 1000;

// Reads the segment or chunk of the step. If a check fails, it has not fully arrived: a remote
// writer may have made only part of it visible. The block rereads it every microsecond, up to 1000
// times (Thostrup et al., section 4.2).
//
// The length is part of the step and is checked against the size of the slot. All other fields are
// checked in the copy, which cannot change. Every thread returns the same status. `decoding` is
// overwritten.
template <typename Group>
GPUJOIN_HD inline StepStatus readSegment(Group& group, const Plan& plan, const StepEntry& step,
                                         ReadGate& gate, Decoding& decoding) {
    const unsigned char* from =
        reinterpret_cast<const unsigned char*>(plan.segments) + plan.segmentBytes * step.slot;
    unsigned char* to =
        reinterpret_cast<unsigned char*>(plan.scratch) + plan.segmentBytes * step.slot;
    bool inPlace = step.chunk != 0;
    if (inPlace ? !isReadableInPlace(step, plan)
                : step.lengthBytes < sizeof(ChunkHeader) || step.lengthBytes > plan.segmentBytes) {
        return STEP_BAD_HEADER;
    }
    bool writes = plan.capacityRows > 0 && plan.aggregation == 0;
    uint64_t blocks = writes ? READING_BLOCKS : READING_BLOCKS_WITHOUT_RESULTS;
    StepStatus status = STEP_BAD_HEADER;
    for (uint32_t reads = 0; reads < MAX_READS; reads++) {
        enterGate(group, gate, blocks);
        bool isSound = true;
        uint64_t sum = !inPlace ? copyWords(group, from, 0, to, step.lengthBytes)
                       : step.chunkIsEncoded == 0
                           ? copyChunk(group, plan, step, to)
                           : copyEncodedChunk(group, plan, step, decoding.columns, to, isSound);
        group.exclusiveSum(sum, sum);  // includes a barrier: all threads have read
        leaveGate(group, gate);
        ChunkHeader copy = *reinterpret_cast<const ChunkHeader*>(to);
        if (!isHeaderOf(copy, step, plan)) {
            status = STEP_BAD_HEADER;
        } else if (!isSound) {
            status = STEP_BAD_ENCODING;
        } else if (copy.checksum != sum && !(inPlace && step.chunkReadRows != 0)) {
            status = STEP_BAD_CHECKSUM;
        } else if (!inPlace && isEncoded(copy) &&
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
