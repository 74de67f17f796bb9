// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The columns of ORDERS and LINEITEM that TPC-H query 4 reads, in device memory: keys of 8 bytes,
// dates of 2 and priorities of 1. With scale factor 1000 they have 88.5 GB.
#pragma once

#include <cstdint>
#include <vector>

#include "device_memory.h"
#include "tpch_rows.h"

namespace gpujoin::bench {

constexpr uint32_t TPCH_THREADS = 512;

inline uint32_t tpchBlocks(uint64_t orders) {
    return static_cast<uint32_t>((orders + TPCH_THREADS - 1) / TPCH_THREADS);
}

__device__ inline uint64_t tpchRow() { return uint64_t{blockIdx.x} * TPCH_THREADS + threadIdx.x; }

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

// Each block counts the lines of its orders.
__global__ void __launch_bounds__(TPCH_THREADS) countLines(TpchRows rows, uint32_t* counts) {
    uint64_t row = tpchRow();
    uint32_t lines = row < rows.orders ? TpchRows::lineCount(rows.orderAt(row)) : 0;
    uint32_t warpLines = __reduce_add_sync(0xFFFFFFFFu, lines);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&counts[blockIdx.x], warpLines);
    }
}

// `firsts` has the first line of each block.
__global__ void __launch_bounds__(TPCH_THREADS)
    fillLines(TpchRows rows, const uint64_t* firsts, int64_t* keys, int16_t* commitDates,
              int16_t* receiptDates) {
    __shared__ uint32_t ends[TPCH_THREADS];
    uint64_t row = tpchRow();
    uint64_t order = row < rows.orders ? rows.orderAt(row) : 0;
    uint32_t lines = row < rows.orders ? TpchRows::lineCount(order) : 0;
    ends[threadIdx.x] = lines;
    for (uint32_t distance = 1; distance < TPCH_THREADS; distance *= 2) {
        __syncthreads();
        uint32_t before = threadIdx.x >= distance ? ends[threadIdx.x - distance] : 0;
        __syncthreads();
        ends[threadIdx.x] += before;
    }
    uint64_t first = firsts[blockIdx.x] + ends[threadIdx.x] - lines;
    for (uint32_t number = 0; number < lines; number++) {
        TpchLine line = TpchRows::line(order, number);
        keys[first + number] = TpchRows::orderKey(order);
        commitDates[first + number] = line.commitDate;
        receiptDates[first + number] = line.receiptDate;
    }
}

// Answers query 4 from the numbers of the orders.
__global__ void __launch_bounds__(TPCH_THREADS)
    answerQuery4(TpchRows rows, unsigned long long* counts) {
    __shared__ uint32_t blockCounts[TpchRows::PRIORITIES];
    if (threadIdx.x < TpchRows::PRIORITIES) {
        blockCounts[threadIdx.x] = 0;
    }
    __syncthreads();
    uint64_t order = tpchRow();
    if (order < rows.orders && TpchRows::isCounted(order)) {
        atomicAdd(&blockCounts[TpchRows::priority(order)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < TpchRows::PRIORITIES) {
        atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(blockCounts[threadIdx.x]));
    }
}

template <typename T>
std::vector<T> fetchAll(const DeviceArray<T>& array) {
    std::vector<T> values(array.count());
    CUDA_CHECK(
        cudaMemcpy(values.data(), array.data(), array.lengthBytes(), cudaMemcpyDeviceToHost));
    return values;
}

// The first line of each block, and behind them the number of all lines.
inline std::vector<uint64_t> firstLines(const TpchRows& rows) {
    DeviceArray<uint32_t> counts(tpchBlocks(rows.orders));
    CUDA_CHECK(cudaMemset(counts.data(), 0, counts.lengthBytes()));
    countLines<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(rows, counts.data());
    std::vector<uint64_t> firsts{0};
    for (uint32_t count : fetchAll(counts)) {
        firsts.push_back(firsts.back() + count);
    }
    return firsts;
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
        DeviceArray<uint64_t> deviceFirsts(firsts.size());
        CUDA_CHECK(cudaMemcpy(deviceFirsts.data(), firsts.data(), deviceFirsts.lengthBytes(),
                              cudaMemcpyHostToDevice));
        fillOrders<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(rows, orderKeys.data(),
                                                              orderDates.data(), priorities.data());
        fillLines<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(
            rows, deviceFirsts.data(), lineKeys.data(), commitDates.data(), receiptDates.data());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    const TpchRows rows;
};

}  // namespace gpujoin::bench
