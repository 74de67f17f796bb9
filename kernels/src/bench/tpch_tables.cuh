// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The columns of ORDERS and LINEITEM that TPC-H query 4 reads, in device memory: keys of 8 bytes,
// dates of 2 and priorities of 1. With scale factor 1000 they have 88.5 GB.
#pragma once

#include <cstdint>
#include <vector>

#include "tpch_lines.cuh"

namespace gpujoin::bench {

__global__ void __launch_bounds__(TPCH_THREADS)
    fillOrders(TpchRows rows, int64_t* keys, int16_t* dates, int8_t* priorities) {
    uint64_t row = tpchRow();
    if (row < rows.orders) {
        uint64_t order = rows.orderAt(row);
        keys[row] = TpchRows::orderKey(order);
        dates[row] = TpchRows::orderDate(order);
        priorities[row] = TpchRows::priority(order);
    }
}

// The columns of LINEITEM that query 4 reads.
struct LineColumns {
    int64_t* keys;
    int16_t* commitDates;
    int16_t* receiptDates;

    __device__ void operator()(uint64_t order, uint32_t number, uint64_t row) const {
        TpchLine line = TpchRows::line(order, number);
        keys[row] = TpchRows::orderKey(order);
        commitDates[row] = line.commitDate;
        receiptDates[row] = line.receiptDate;
    }
};

// Answers query 4 from the numbers of the orders.
__global__ void __launch_bounds__(TPCH_THREADS)
    answerQuery4(TpchRows rows, unsigned long long* counts) {
    __shared__ uint32_t blockCounts[TpchRows::PRIORITIES];
    if (threadIdx.x < TpchRows::PRIORITIES) {
        blockCounts[threadIdx.x] = 0;
    }
    __syncthreads();
    uint64_t order = rows.firstOrder + tpchRow();
    if (tpchRow() < rows.orders && TpchRows::isCounted(order)) {
        atomicAdd(&blockCounts[TpchRows::priority(order)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < TpchRows::PRIORITIES) {
        atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(blockCounts[threadIdx.x]));
    }
}

class TpchTables {
  public:
    explicit TpchTables(const TpchRows& rows) : TpchTables(rows, firstLines(rows)) {}

    const DeviceArray<int64_t> orderKeys;
    const DeviceArray<int16_t> orderDates;
    const DeviceArray<int8_t> priorities;
    const DeviceArray<int64_t> lineKeys;
    const DeviceArray<int16_t> commitDates;
    const DeviceArray<int16_t> receiptDates;

    size_t lengthBytes() const {
        return orderKeys.lengthBytes() + orderDates.lengthBytes() + priorities.lengthBytes() +
               lineKeys.lengthBytes() + commitDates.lengthBytes() + receiptDates.lengthBytes();
    }

    // Returns the orders of each priority that query 4 counts.
    std::vector<uint64_t> query4() const {
        DeviceArray<unsigned long long> counts(TpchRows::PRIORITIES);
        CUDA_CHECK(cudaMemset(counts.data(), 0, counts.lengthBytes()));
        answerQuery4<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(rows, counts.data());
        std::vector<unsigned long long> answer = fetchAll(counts);
        return {answer.begin(), answer.end()};
    }

  private:
    TpchTables(const TpchRows& rows, const std::vector<uint64_t>& firsts)
        : orderKeys(rows.orders),
          orderDates(rows.orders),
          priorities(rows.orders),
          lineKeys(firsts.back()),
          commitDates(firsts.back()),
          receiptDates(firsts.back()),
          rows(rows) {
        fillOrders<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(rows, orderKeys.data(),
                                                              orderDates.data(), priorities.data());
        fillLines(rows, firsts,
                  LineColumns{lineKeys.data(), commitDates.data(), receiptDates.data()});
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    const TpchRows rows;
};

}  // namespace gpujoin::bench
