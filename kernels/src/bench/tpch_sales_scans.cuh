// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The scans and sums of TPC-H queries 3 and 5.
#pragma once

#include <cstdint>

#include "resident_join.h"
#include "row_appender.cuh"
#include "row_scan.cuh"
#include "tpch_sales_tables.cuh"

namespace gpujoin::bench {

using resident::MatchColumns;
using semijoin::BATCH_ROWS;
using semijoin::DirectKeySet;
using semijoin::RowAppender;
using semijoin::RowBatch;
using semijoin::SCAN_THREADS;
using semijoin::SideView;

constexpr uint32_t SCAN_BLOCKS = 6;
// Payloads are a number and, in the lowest bits, a nation or a segment.
constexpr uint32_t GROUP_BITS = 8;
constexpr int64_t GROUP_MASK = (1 << GROUP_BITS) - 1;

// Selected rows, in any order.
struct RowList {
    int64_t* keys;
    int64_t* payloads;
    uint64_t capacityRows;
    // Exact even if it exceeds the capacity.
    uint64_t* count;

    __device__ void put(uint64_t place, int64_t key, int64_t number, int8_t group) const {
        if (place < capacityRows) {
            keys[place] = key;
            payloads[place] = number << GROUP_BITS | group;
        }
    }
};

// Appends the rows of a scanned side for which `select` returns a bit. It receives a batch and sets
// the groups of its rows; `numberOf` returns the number of a selected row.
template <typename Select, typename NumberOf>
__device__ void appendRows(const SideView<int64_t>& side, const RowList& list, Select select,
                           NumberOf numberOf) {
    __shared__ RowAppender appender;
    if (threadIdx.x == 0) {
        appender.clear();
    }
    __syncthreads();
    uint32_t round = 0;
    semijoin::scanRows(side, [&](const RowBatch<int64_t>& batch) {
        int8_t groups[BATCH_ROWS] = {};
        uint32_t selected = select(batch, groups);
        uint64_t place = appender.place(round, __popc(selected), list.count);
        round ^= 1u;
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if ((selected >> i & 1u) != 0) {
                list.put(place++, batch.keys[i], numberOf(batch.row(i)), groups[i]);
            }
        }
    });
}

struct OrderScan {
    // With the condition of the dates.
    SideView<int64_t> orders;
    const int32_t* customers;
    // Of each customer.
    const int8_t* attributes;
    // A bit for each attribute.
    uint32_t wanted;
    const int16_t* dates;
    DirectKeySet<int64_t> keys;
};

__global__ void __launch_bounds__(SCAN_THREADS, SCAN_BLOCKS)
    selectOrders(const __grid_constant__ OrderScan scan, const __grid_constant__ RowList list) {
    appendRows(
        scan.orders, list,
        [&](const RowBatch<int64_t>& batch, int8_t* groups) {
            int32_t customers[BATCH_ROWS];
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                customers[i] = batch.isSelected(i) ? __ldcs(scan.customers + batch.row(i)) : 0;
            }
            uint32_t selected = 0;
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                groups[i] = scan.attributes[customers[i]];
            }
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                selected |= (scan.wanted >> groups[i] & 1u) << i;
            }
            selected &= batch.selected;
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                if ((selected >> i & 1u) != 0) {
                    scan.keys.insert(batch.keys[i]);
                }
            }
            return selected;
        },
        [&](uint64_t row) { return int64_t{scan.dates[row]}; });
}

struct LineScan {
    // Query 3: with the condition of the ship date.
    SideView<int64_t> lines;
    DirectKeySet<int64_t> keys;
    const int32_t* prices;
    const int8_t* discounts;
    const int32_t* suppliers;
    // Of each supplier; null: the query does not read suppliers.
    const int8_t* nations;
    // A bit for each nation.
    uint32_t wanted;
};

__global__ void __launch_bounds__(SCAN_THREADS, SCAN_BLOCKS)
    selectLines(const __grid_constant__ LineScan scan, const __grid_constant__ RowList list) {
    appendRows(
        scan.lines, list,
        [&](const RowBatch<int64_t>& batch, int8_t* groups) {
            uint32_t words[BATCH_ROWS];
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                words[i] = loadCached(batch.isSelected(i) ? scan.keys.wordOf(batch.keys[i])
                                                          : scan.keys.firstWord());
            }
            uint32_t selected = 0;
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                selected |= static_cast<uint32_t>(scan.keys.mayBeLive(batch.keys[i], words[i]))
                            << i;
            }
            selected &= batch.selected;
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                if (scan.nations != nullptr && (selected >> i & 1u) != 0) {
                    groups[i] = scan.nations[scan.suppliers[batch.row(i)]];
                    selected &= ~((~(scan.wanted >> groups[i]) & 1u) << i);
                }
            }
            return selected;
        },
        [&](uint64_t row) {
            return TpchSale{0, scan.prices[row], scan.discounts[row], 0}.revenue();
        });
}

// Adds up the lines of each order, which are adjacent, and writes its rank to the place of the first
// one.
__global__ void __launch_bounds__(TPCH_THREADS)
    addByOrder(MatchColumns<int64_t> matches, unsigned long long* ranks, SalesAnswer* answer) {
    OrderTotals totals;
    uint64_t count = *matches.matchCount;
    for (uint64_t i = tpchRow(); i < count; i += uint64_t{gridDim.x} * TPCH_THREADS) {
        int64_t key = matches.keys[i];
        int64_t revenue = 0;
        if (i == 0 || matches.keys[i - 1] != key) {
            for (uint64_t j = i; j < count && matches.keys[j] == key; j++) {
                revenue += matches.probePayloads[j] >> GROUP_BITS;
            }
        }
        ranks[i] = totals.add(revenue, TpchRows::orderOf(key));
    }
    totals.addTo(answer);
}

// Adds up the lines whose supplier has the customer's nation.
__global__ void __launch_bounds__(TPCH_THREADS)
    addByNation(MatchColumns<int64_t> matches, SalesAnswer* answer) {
    __shared__ unsigned long long revenue[TpchSales::NATIONS];
    if (threadIdx.x < TpchSales::NATIONS) {
        revenue[threadIdx.x] = 0;
    }
    __syncthreads();
    uint64_t count = *matches.matchCount;
    for (uint64_t i = tpchRow(); i < count; i += uint64_t{gridDim.x} * TPCH_THREADS) {
        int64_t sale = matches.probePayloads[i];
        int64_t nation = sale & GROUP_MASK;
        if ((matches.buildPayloads[i] & GROUP_MASK) == nation) {
            atomicAdd(&revenue[nation], static_cast<unsigned long long>(sale >> GROUP_BITS));
        }
    }
    __syncthreads();
    if (threadIdx.x < TpchSales::NATIONS && revenue[threadIdx.x] != 0) {
        atomicAdd(&answer->revenue[threadIdx.x], revenue[threadIdx.x]);
    }
}

}  // namespace gpujoin::bench
