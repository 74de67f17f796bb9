// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The columns of CUSTOMER, SUPPLIER, ORDERS and LINEITEM that TPC-H queries 3 and 5 read in addition
// to those of TpchRows, by the distributions of the TPC-H specification 3.0 (clause 4.2.3). Like
// those, they follow from the numbers of rows alone.
#pragma once

#include <cstdint>

#include "tpch_rows.h"

namespace gpujoin::bench {

struct TpchSale {
    int32_t supplier;
    int32_t priceCents;
    int8_t discountPercent;
    int16_t shipDate;

    // In hundredths of a cent.
    GPUJOIN_HD int64_t revenue() const { return int64_t{priceCents} * (100 - discountPercent); }
};

struct TpchSales {
    static constexpr uint32_t SEGMENTS = 5;
    static constexpr uint32_t NATIONS = 25;
    // Query 3 with its validation parameters: BUILDING, 1995-03-15.
    static constexpr int8_t SEGMENT = 1;
    static constexpr int16_t SHIPPING_DAY = 1169;
    // Query 5 with its validation parameters: ASIA (India, Indonesia, Japan, China, Vietnam), 1994.
    static constexpr uint32_t REGION = 1u << 8 | 1u << 9 | 1u << 12 | 1u << 18 | 1u << 21;
    static constexpr int16_t YEAR_FIRST_DAY = 731;
    static constexpr int16_t YEAR_LAST_DAY = 1095;

    // Of a whole number of scale factors.
    TpchRows rows;

    GPUJOIN_HD uint64_t customers() const { return rows.orders / 10; }
    GPUJOIN_HD uint64_t suppliers() const { return rows.orders / 150; }
    GPUJOIN_HD uint64_t parts() const { return rows.orders / 15 * 2; }

    // Keys start at 1. No customer with a multiple of 3 has orders.
    GPUJOIN_HD int32_t customerOf(uint64_t order) const {
        uint64_t number = draw(CUSTOMER, order, customers() / 3 * 2);
        return static_cast<int32_t>(number / 2 * 3 + number % 2 + 1);
    }
    GPUJOIN_HD static int8_t segmentOf(uint64_t customer) {
        return static_cast<int8_t>(draw(SEGMENT_OF, customer, SEGMENTS));
    }
    GPUJOIN_HD static int8_t customerNation(uint64_t customer) {
        return static_cast<int8_t>(draw(CUSTOMER_NATION, customer, NATIONS));
    }
    GPUJOIN_HD static int8_t supplierNation(uint64_t supplier) {
        return static_cast<int8_t>(draw(SUPPLIER_NATION, supplier, NATIONS));
    }

    GPUJOIN_HD TpchSale sale(uint64_t order, uint32_t number) const {
        uint64_t line = order * TpchRows::MAX_LINES + number;
        uint64_t part = 1 + draw(PART, line, parts());
        uint64_t supplier =
            (part + draw(SUPPLIER, line, 4) * (suppliers() / 4 + (part - 1) / suppliers())) %
                suppliers() +
            1;
        uint64_t partCents = 90000 + part / 10 % 20001 + 100 * (part % 1000);
        uint64_t quantity = 1 + draw(QUANTITY, line, 50);
        return {static_cast<int32_t>(supplier), static_cast<int32_t>(quantity * partCents),
                static_cast<int8_t>(draw(DISCOUNT, line, 11)),
                TpchRows::line(order, number).shipDate};
    }

    // Returns the revenue of an order in query 3, and 0 if the query does not return the order.
    GPUJOIN_HD int64_t revenueOf(uint64_t order) const {
        if (TpchRows::orderDate(order) >= SHIPPING_DAY ||
            segmentOf(static_cast<uint64_t>(customerOf(order))) != SEGMENT) {
            return 0;
        }
        int64_t revenue = 0;
        for (uint32_t number = 0; number < TpchRows::lineCount(order); number++) {
            TpchSale line = sale(order, number);
            revenue += line.shipDate > SHIPPING_DAY ? line.revenue() : 0;
        }
        return revenue;
    }

    GPUJOIN_HD static bool isInRegion(int8_t nation) { return (REGION >> nation & 1u) != 0; }

    // Returns the revenue of an order in query 5, and the nation that it belongs to.
    GPUJOIN_HD int64_t revenueOf(uint64_t order, int8_t& nation) const {
        int16_t date = TpchRows::orderDate(order);
        nation = customerNation(static_cast<uint64_t>(customerOf(order)));
        if (date < YEAR_FIRST_DAY || date > YEAR_LAST_DAY || !isInRegion(nation)) {
            return 0;
        }
        int64_t revenue = 0;
        for (uint32_t number = 0; number < TpchRows::lineCount(order); number++) {
            TpchSale line = sale(order, number);
            bool isLocal = supplierNation(static_cast<uint64_t>(line.supplier)) == nation;
            revenue += isLocal ? line.revenue() : 0;
        }
        return revenue;
    }

  private:
    enum Field : uint64_t {
        CUSTOMER,
        SEGMENT_OF,
        CUSTOMER_NATION,
        SUPPLIER_NATION,
        PART,
        SUPPLIER,
        QUANTITY,
        DISCOUNT,
        FIELDS
    };

    // Returns a number below `count`, which is less than 2^32.
    GPUJOIN_HD static uint64_t draw(Field field, uint64_t number, uint64_t count) {
        return (mix(~(number * FIELDS + field)) >> 32) * count >> 32;
    }
};

}  // namespace gpujoin::bench
