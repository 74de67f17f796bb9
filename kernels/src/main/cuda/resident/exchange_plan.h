// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Arithmetic of an exchange between the members of a device group: digits, chunks, and the rows that
// a member may receive. Runs on the host and on the device.
#pragma once

#include <cstdint>

#include "join_plan.h"

namespace gpujoin::resident {

constexpr uint32_t MAX_MEMBERS = 8;

// The first digit of an exchange contains the number of a member, so it may be wider than that of a
// join on one device.
constexpr uint32_t MAX_EXCHANGE_BITS = 10;

// The least bits of the first digit besides the number of a member. The second digit is as wide as
// possible instead: a narrow first digit makes long runs, which use the links best.
constexpr uint32_t MIN_LOCAL_BITS = 3;

// The probe table is exchanged in chunks; each is joined while the next one arrives.
constexpr uint32_t MAX_CHUNKS = 4;

// More chunks would build tables from the build rows once more, which takes longer than the devices
// wait for a larger first chunk.
constexpr uint32_t DEFAULT_CHUNKS = 3;
constexpr uint64_t MIN_CHUNK_ROWS = uint64_t{1} << 24;
constexpr uint32_t CHUNK_ALIGNMENT_ROWS = 64;

// Transfers of a join: number 0 is the build table, the others are chunks of the probe table.
constexpr uint32_t BUILD_TRANSFER = 0;
constexpr uint32_t MAX_TRANSFERS = MAX_CHUNKS + 1;

GPUJOIN_INLINE uint64_t dividedUp(uint64_t dividend, uint64_t divisor) {
    return (dividend + divisor - 1) / divisor;
}

// Returns the first row of a chunk of a part of `rows` rows; `chunk` may be the number of chunks.
// Chunk k has k + 1 times the rows of the first one: nothing is joined before the first chunk has
// arrived. Columns of a chunk are aligned like those of the part.
GPUJOIN_INLINE uint64_t chunkFirst(uint64_t rows, uint64_t chunk, uint64_t chunks) {
    if (chunk == chunks) {
        return rows;
    }
    uint64_t first = rows * (chunk * (chunk + 1)) / (chunks * (chunks + 1));
    return first / CHUNK_ALIGNMENT_ROWS * CHUNK_ALIGNMENT_ROWS;
}

// The bits of a hash by which rows are exchanged and then partitioned on the member that owns them.
//
//    first digit                       second digit
//   +--------------+------------------+------------+
//   | owner        | local partition  | partition  |
//   +--------------+------------------+------------+
struct ExchangeDigits {
    RadixDigit first;
    RadixDigit second;
    uint32_t memberBits;

    GPUJOIN_INLINE uint32_t localBits() const { return first.bits - memberBits; }
    GPUJOIN_INLINE uint32_t localPartitions() const { return 1u << localBits(); }
    // Partitions that a member joins.
    GPUJOIN_INLINE uint32_t partitions() const { return localPartitions() << second.bits; }

    // Plans partitions of a table of `buildRows` rows in all; `members` is a power of two.
    static GPUJOIN_INLINE ExchangeDigits of(uint64_t buildRows, uint32_t members,
                                            TableShape table) {
        uint32_t memberBits = 0;
        while ((1u << memberBits) < members) {
            memberBits++;
        }
        uint64_t share = dividedUp(buildRows, members);
        uint32_t most = MAX_EXCHANGE_BITS - memberBits + MAX_DIGIT_BITS;
        uint32_t bits = MIN_RADIX_BITS;
        while (bits < most && (share >> bits) > table.meanRows) {
            bits++;
        }
        uint32_t wide = bits - MIN_LOCAL_BITS;
        uint32_t second = wide < MAX_DIGIT_BITS ? wide : MAX_DIGIT_BITS;
        return {{second, bits - second + memberBits}, {0, second}, memberBits};
    }
};

// The rows of one transfer, and the inbox in which a member receives them: a region for each sender,
// one after the other. A member may receive all rows, whatever the keys are.
struct TransferPlan {
    uint64_t sentRows[MAX_MEMBERS];
    // First row of each region; the last entry is the number of rows of the inbox.
    uint64_t regionFirsts[MAX_MEMBERS + 1];
    uint64_t totalRows;
    // Estimate of the distinct keys among all rows of the table.
    double keys;

    // Plans the inbox; `sentRows` is set.
    GPUJOIN_INLINE void plan(const ExchangeDigits& digits, uint32_t members, double keyEstimate) {
        keys = keyEstimate;
        totalRows = 0;
        regionFirsts[0] = 0;
        for (uint32_t n = 0; n < members; n++) {
            regionFirsts[n + 1] = regionFirsts[n] + regionRows(sentRows[n], digits, members);
            totalRows += sentRows[n];
        }
    }

    // Returns an estimate for guessedCapacityRows().
    GPUJOIN_INLINE double rowsPerKey(uint64_t rows) const {
        return 1.0 + static_cast<double>(rows) / keys;
    }

    // Returns the rows of the buffer for the partitions of a receiver.
    GPUJOIN_INLINE uint64_t partitionedRows(const ExchangeDigits& digits, uint32_t members) const {
        uint64_t even = slotBufferRows(dividedUp(totalRows, members), digits.partitions(),
                                       rowsPerKey(totalRows));
        uint64_t all = totalRows + uint64_t{SLOT_ALIGNMENT_ROWS} * digits.partitions();
        return even > all ? even : all;
    }

  private:
    // Reserves rows for all that a sender has, and no less than guessed and sampled slots need for
    // rows that are spread evenly.
    GPUJOIN_INLINE uint64_t regionRows(uint64_t rows, const ExchangeDigits& digits,
                                       uint32_t members) const {
        uint64_t even =
            dividedUp(slotBufferRows(rows, digits.first.count(), rowsPerKey(rows)), members);
        uint64_t all = rows + uint64_t{SLOT_ALIGNMENT_ROWS} * digits.localPartitions();
        uint64_t most = even > all ? even : all;
        return dividedUp(most, SLOT_ALIGNMENT_ROWS) * SLOT_ALIGNMENT_ROWS;
    }
};

}  // namespace gpujoin::resident
