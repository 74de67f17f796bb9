// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Writes the lines of generated orders to columns in device memory.
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

// Each block counts the lines of its orders.
static __global__ void __launch_bounds__(TPCH_THREADS) countLines(TpchRows rows, uint32_t* counts) {
    uint64_t row = tpchRow();
    uint32_t lines = row < rows.orders ? TpchRows::lineCount(rows.orderAt(row)) : 0;
    uint32_t warpLines = __reduce_add_sync(0xFFFFFFFFu, lines);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&counts[blockIdx.x], warpLines);
    }
}

// Calls `write` with order, number and row of each line. `firsts` has the first line of each block.
template <typename Write>
__global__ void __launch_bounds__(TPCH_THREADS)
    writeLines(TpchRows rows, const uint64_t* firsts, Write write) {
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
        write(order, number, first + number);
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

template <typename Write>
void fillLines(const TpchRows& rows, const std::vector<uint64_t>& firsts, const Write& write) {
    DeviceArray<uint64_t> deviceFirsts(firsts.size());
    CUDA_CHECK(cudaMemcpy(deviceFirsts.data(), firsts.data(), deviceFirsts.lengthBytes(),
                          cudaMemcpyHostToDevice));
    writeLines<<<tpchBlocks(rows.orders), TPCH_THREADS>>>(rows, deviceFirsts.data(), write);
    CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace gpujoin::bench
