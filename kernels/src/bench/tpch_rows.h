// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The columns of ORDERS and LINEITEM that TPC-H query 4 reads, by the distributions of the TPC-H
// specification 3.0 (clause 4.2.3). The number of an order determines all of its values, so rows are
// generated in any order, and the query is also answered without a join.
#pragma once

#include <cstdint>

#include "mix.h"

namespace gpujoin::bench {

// Dates are days since 1992-01-01 (STARTDATE), priorities the rank of the text: 0 for 1-URGENT.
struct TpchLine {
    int16_t shipDate;
    int16_t commitDate;
    int16_t receiptDate;
};

struct TpchRows {
    static constexpr uint64_t ORDERS_PER_SCALE = 1500000;
    static constexpr uint32_t MAX_LINES = 7;
    static constexpr uint32_t PRIORITIES = 5;
    // o_orderdate is from STARTDATE to ENDDATE (1998-12-31) - 151 days.
    static constexpr uint32_t ORDER_DAYS = 2406;
    // Query 4 with its validation parameter: 1993-07-01 to 1993-09-30.
    static constexpr int16_t QUARTER_FIRST_DAY = 547;
    static constexpr int16_t QUARTER_LAST_DAY = 638;

    uint64_t orders;
    // Number of the first order: devices hold consecutive orders.
    uint64_t firstOrder;
    // Whether orders are stored in the order of their keys, as the specification's generator
    // writes them.
    bool isClustered;

    // Returns the number of the order that is stored at a row. Not clustered, adjacent rows are far
    // apart: the factor is a prime above the number of orders, so the result is a permutation.
    GPUJOIN_HD uint64_t orderAt(uint64_t row) const {
        return firstOrder + (isClustered ? row : row * 2654435761ull % orders);
    }

    // Of each 32 keys the first 8 are used. Keys start at 1.
    GPUJOIN_HD static int64_t orderKey(uint64_t order) {
        uint64_t number = order + 1;
        return static_cast<int64_t>(number / 8 * 32 + number % 8);
    }
    // Returns the order of a key.
    GPUJOIN_HD static uint64_t orderOf(int64_t key) {
        return static_cast<uint64_t>(key / 32 * 8 + key % 32 - 1);
    }
    GPUJOIN_HD static int16_t orderDate(uint64_t order) {
        return static_cast<int16_t>(uniform(bitsOf(order, 0), 0, ORDER_DAYS));
    }
    GPUJOIN_HD static int8_t priority(uint64_t order) {
        return static_cast<int8_t>(uniform(bitsOf(order, 0), 1, PRIORITIES));
    }
    GPUJOIN_HD static uint32_t lineCount(uint64_t order) {
        return 1 + uniform(bitsOf(order, 0), 2, MAX_LINES);
    }

    // `number` is less than lineCount(order).
    GPUJOIN_HD static TpchLine line(uint64_t order, uint32_t number) {
        uint64_t bits = bitsOf(order, 1 + number);
        auto ordered = static_cast<uint32_t>(orderDate(order));
        uint32_t shipped = ordered + 1 + uniform(bits, 0, 121);
        uint32_t committed = ordered + 30 + uniform(bits, 1, 61);
        uint32_t received = shipped + 1 + uniform(bits, 2, 30);
        return {static_cast<int16_t>(shipped), static_cast<int16_t>(committed),
                static_cast<int16_t>(received)};
    }

    // Whether query 4 counts the order.
    GPUJOIN_HD static bool isCounted(uint64_t order) {
        int16_t date = orderDate(order);
        if (date < QUARTER_FIRST_DAY || date > QUARTER_LAST_DAY) {
            return false;
        }
        for (uint32_t number = 0; number < lineCount(order); number++) {
            TpchLine row = line(order, number);
            if (row.commitDate < row.receiptDate) {
                return true;
            }
        }
        return false;
    }

  private:
    // Of an order (field 0) or of one of its lines.
    GPUJOIN_HD static uint64_t bitsOf(uint64_t order, uint32_t field) {
        return mix(order * (1 + MAX_LINES) + field);
    }

    // Maps 21 of the bits to a number below `count`; the error of its probability is count / 2^21.
    GPUJOIN_HD static uint32_t uniform(uint64_t bits, uint32_t part, uint32_t count) {
        constexpr uint32_t PART_BITS = 21;
        uint64_t drawn = bits >> part * PART_BITS & ((1u << PART_BITS) - 1u);
        return static_cast<uint32_t>(drawn * count >> PART_BITS);
    }
};

}  // namespace gpujoin::bench
