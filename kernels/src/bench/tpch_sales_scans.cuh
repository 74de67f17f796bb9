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
};

// The rows that a warp has selected, in shared memory. It appends many at once: blocks need no
// barrier, and the device performs only 0.4 * 10^9 additions a second to the count of the list.
struct WarpRows {
    static constexpr uint32_t APPENDED_ROWS = 96;
    static constexpr uint32_t CAPACITY_ROWS = APPENDED_ROWS - 1 + 32 * BATCH_ROWS;

    int64_t keys[CAPACITY_ROWS];
    int64_t payloads[CAPACITY_ROWS];

    // All lanes call it.
    __device__ void appendTo(const RowList& list, uint32_t rows) const {
        uint32_t lane = threadIdx.x % 32;
        unsigned long long first = 0;
        if (lane == 0) {
            first = semijoin::reserve(list.count, rows);
        }
        first = __shfl_sync(0xFFFFFFFFu, first, 0);
        for (uint32_t i = lane; i < rows && first + i < list.capacityRows; i += 32) {
            list.keys[first + i] = keys[i];
            list.payloads[first + i] = payloads[i];
        }
    }
};

// Appends the rows of a scanned side for which `select` returns a bit. It receives a batch and sets
// the groups of its rows; `numberOf` returns the number of a selected row.
template <typename Select, typename NumberOf>
__device__ void appendRows(const SideView<int64_t>& side, const RowList& list, Select select,
                           NumberOf numberOf) {
    __shared__ WarpRows ofWarps[SCAN_THREADS / 32];
    WarpRows& found = ofWarps[threadIdx.x / 32];
    // The same for all lanes.
    uint32_t rows = 0;
    semijoin::scanRows(side, [&](const RowBatch<int64_t>& batch) {
        int8_t groups[BATCH_ROWS] = {};
        uint32_t selected = select(batch, groups);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            bool isSelected = (selected >> i & 1u) != 0;
            uint32_t lanes = __ballot_sync(0xFFFFFFFFu, isSelected);
            if (isSelected) {
                uint32_t place = rows + __popc(lanes & ((1u << threadIdx.x % 32) - 1u));
                found.keys[place] = batch.keys[i];
                found.payloads[place] = numberOf(batch.row(i)) << GROUP_BITS | groups[i];
            }
            rows += __popc(lanes);
        }
        if (rows >= WarpRows::APPENDED_ROWS) {
            __syncwarp();
            found.appendTo(list, rows);
            __syncwarp();
            rows = 0;
        }
    });
    __syncwarp();
    if (rows != 0) {
        found.appendTo(list, rows);
    }
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
