// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The columns that TPC-H queries 3 and 5 read, in device memory, and their answers by order numbers
// alone. Attributes of customers and suppliers are at the places of their dense keys.
#pragma once

#include <cstdint>
#include <vector>

#include "tpch_lines.cuh"
#include "tpch_sales.h"

namespace gpujoin::bench {

__global__ void __launch_bounds__(TPCH_THREADS)
    fillSalesOrders(TpchSales sales, int64_t* keys, int32_t* customers, int16_t* dates) {
    uint64_t row = tpchRow();
    if (row < sales.rows.orders) {
        uint64_t order = sales.rows.orderAt(row);
        keys[row] = TpchRows::orderKey(order);
        customers[row] = sales.customerOf(order);
        dates[row] = TpchRows::orderDate(order);
    }
}

__global__ void __launch_bounds__(TPCH_THREADS)
    fillAttributes(TpchSales sales, int8_t* segments, int8_t* nations, int8_t* supplierNations) {
    uint64_t key = tpchRow();
    if (key <= sales.customers()) {
        segments[key] = TpchSales::segmentOf(key);
        nations[key] = TpchSales::customerNation(key);
    }
    if (key <= sales.suppliers()) {
        supplierNations[key] = TpchSales::supplierNation(key);
    }
}

// The columns of LINEITEM that queries 3 and 5 read.
struct SaleColumns {
    TpchSales sales;
    int64_t* keys;
    int32_t* suppliers;
    int32_t* prices;
    int8_t* discounts;
    int16_t* shipDates;

    __device__ void operator()(uint64_t order, uint32_t number, uint64_t row) const {
        TpchSale sale = sales.sale(order, number);
        keys[row] = TpchRows::orderKey(order);
        suppliers[row] = sale.supplier;
        prices[row] = sale.priceCents;
        discounts[row] = sale.discountPercent;
        shipDates[row] = sale.shipDate;
    }
};

class TpchSalesTables {
  public:
    explicit TpchSalesTables(const TpchSales& sales)
        : TpchSalesTables(sales, firstLines(sales.rows)) {}

    const TpchSales sales;
    const DeviceArray<int64_t> orderKeys;
    const DeviceArray<int32_t> orderCustomers;
    const DeviceArray<int16_t> orderDates;
    const DeviceArray<int64_t> lineKeys;
    const DeviceArray<int32_t> lineSuppliers;
    const DeviceArray<int32_t> prices;
    const DeviceArray<int8_t> discounts;
    const DeviceArray<int16_t> shipDates;
    const DeviceArray<int8_t> segments;
    const DeviceArray<int8_t> nations;
    const DeviceArray<int8_t> supplierNations;

    int64_t lastKey() const { return TpchRows::orderKey(sales.rows.orders - 1); }

  private:
    TpchSalesTables(const TpchSales& sales, const std::vector<uint64_t>& firsts)
        : sales(sales),
          orderKeys(sales.rows.orders),
          orderCustomers(sales.rows.orders),
          orderDates(sales.rows.orders),
          lineKeys(firsts.back()),
          lineSuppliers(firsts.back()),
          prices(firsts.back()),
          discounts(firsts.back()),
          shipDates(firsts.back()),
          segments(sales.customers() + 1),
          nations(sales.customers() + 1),
          supplierNations(sales.suppliers() + 1) {
        fillSalesOrders<<<tpchBlocks(sales.rows.orders), TPCH_THREADS>>>(
            sales, orderKeys.data(), orderCustomers.data(), orderDates.data());
        fillAttributes<<<tpchBlocks(sales.customers() + 1), TPCH_THREADS>>>(
            sales, segments.data(), nations.data(), supplierNations.data());
        fillLines(sales.rows, firsts,
                  SaleColumns{sales, lineKeys.data(), lineSuppliers.data(), prices.data(),
                              discounts.data(), shipDates.data()});
    }
};

// An order of query 3 as one number: greater for more revenue, and then for a smaller key. The ten
// largest revenues are different, so the order date, by which the query breaks ties, is not needed.
struct OrderRank {
    static constexpr uint32_t ORDER_BITS = 28;
    static constexpr uint64_t LAST_ORDER = (uint64_t{1} << ORDER_BITS) - 1;

    GPUJOIN_HD static unsigned long long of(int64_t revenue, uint64_t order) {
        return static_cast<uint64_t>(revenue) << ORDER_BITS | (LAST_ORDER - order);
    }
    static int64_t revenue(uint64_t rank) { return static_cast<int64_t>(rank >> ORDER_BITS); }
    static int64_t orderKey(uint64_t rank) {
        return TpchRows::orderKey(LAST_ORDER - (rank & LAST_ORDER));
    }
};

// The answers of both queries, in device memory.
struct SalesAnswer {
    static constexpr uint32_t TOP_ORDERS = 10;

    // Query 3: ranks of the orders with most revenue, and the number of all orders.
    unsigned long long top[TOP_ORDERS];
    unsigned long long orders;
    // Of all nations in query 5, and in the first element of all orders in query 3.
    unsigned long long revenue[TpchSales::NATIONS];

    bool operator==(const SalesAnswer& other) const {
        bool isEqual = orders == other.orders;
        for (uint32_t i = 0; i < TOP_ORDERS; i++) {
            isEqual &= top[i] == other.top[i];
        }
        for (uint32_t n = 0; n < TpchSales::NATIONS; n++) {
            isEqual &= revenue[n] == other.revenue[n];
        }
        return isEqual;
    }
};

// The orders of query 3 that a thread has seen. Those without revenue are not counted.
struct OrderTotals {
    unsigned long long orders = 0;
    unsigned long long revenue = 0;

    // Returns the rank of the order.
    __device__ unsigned long long add(int64_t ofOrder, uint64_t order) {
        if (ofOrder == 0) {
            return 0;
        }
        orders++;
        revenue += static_cast<unsigned long long>(ofOrder);
        return OrderRank::of(ofOrder, order);
    }

    // All threads of a warp call it.
    __device__ void addTo(SalesAnswer* answer) {
        for (int distance = 16; distance > 0; distance /= 2) {
            orders += __shfl_down_sync(0xFFFFFFFFu, orders, distance);
            revenue += __shfl_down_sync(0xFFFFFFFFu, revenue, distance);
        }
        if (threadIdx.x % 32 == 0 && orders != 0) {
            atomicAdd(&answer->orders, orders);
            atomicAdd(&answer->revenue[0], revenue);
        }
    }
};

// Finds the greatest rank that is less than the one found before.
__global__ void __launch_bounds__(TPCH_THREADS)
    findNextRank(const unsigned long long* ranks, uint64_t count, uint32_t place,
                 SalesAnswer* answer) {
    unsigned long long limit = place == 0 ? ~0ull : answer->top[place - 1];
    unsigned long long most = 0;
    for (uint64_t i = tpchRow(); i < count; i += uint64_t{gridDim.x} * TPCH_THREADS) {
        unsigned long long rank = ranks[i];
        most = rank < limit && rank > most ? rank : most;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        unsigned long long other = __shfl_down_sync(0xFFFFFFFFu, most, distance);
        most = other > most ? other : most;
    }
    if (threadIdx.x % 32 == 0 && most != 0) {
        atomicMax(&answer->top[place], most);
    }
}

inline void enqueueTopOrders(const unsigned long long* ranks, uint64_t count, int multiprocessors,
                             SalesAnswer* answer) {
    for (uint32_t place = 0; place < SalesAnswer::TOP_ORDERS; place++) {
        findNextRank<<<multiprocessors, TPCH_THREADS>>>(ranks, count, place, answer);
    }
}

__global__ void __launch_bounds__(TPCH_THREADS)
    answerQuery3(TpchSales sales, unsigned long long* ranks, SalesAnswer* answer) {
    OrderTotals totals;
    uint64_t order = tpchRow();
    if (order < sales.rows.orders) {
        ranks[order] = totals.add(sales.revenueOf(order), order);
    }
    totals.addTo(answer);
}

__global__ void __launch_bounds__(TPCH_THREADS) answerQuery5(TpchSales sales, SalesAnswer* answer) {
    uint64_t order = tpchRow();
    if (order < sales.rows.orders) {
        int8_t nation;
        int64_t revenue = sales.revenueOf(order, nation);
        if (revenue != 0) {
            atomicAdd(&answer->revenue[nation], static_cast<unsigned long long>(revenue));
        }
    }
}

}  // namespace gpujoin::bench
