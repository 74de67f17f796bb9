// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// TPC-H queries in device memory, and checks of the semi-join.
//
//   tpch_bench check             joins tables of many shapes and compares the results with those of
//                                the host; exits with 1 on a difference
//   tpch_bench q4 SCALE          runs query 4 by a semi-join with each key set
//   tpch_bench q4 SCALE DEVICES  runs query 4 over several devices, each of which has a range of the
//                                orders and their lines
//   tpch_bench q3 SCALE          runs query 3 or 5: scans, key sets, a join of the selected rows
//   tpch_bench q5 SCALE
//
// Also measures how fast a device reads columns. Each case prints a ResultLine of five runs after a
// warm-up. A run is the time until the host has the answer, which is compared with one that needs no
// join (TpchRows::isCounted, TpchSales::revenueOf).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "device_memory.h"
#include "result_line.h"
#include "semi_join_check.h"
#include "semi_join_runner.cuh"
#include "tpch_queries.h"
#include "tpch_rows.h"
#include "tpch_tables.cuh"

namespace gpujoin::bench {
namespace {

using semijoin::JoinKind;
using semijoin::KeySetKind;
using semijoin::SemiJoinCall;
using semijoin::Side;

constexpr int RUNS = 5;

__global__ void readColumn(const uint4* column, uint64_t words, unsigned* target) {
    constexpr uint32_t LOADS = 8;
    unsigned sum = 0;
    uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t at = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; at < words;
         at += LOADS * threads) {
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < LOADS; i++) {
            if (at + i * threads < words) {
                uint4 word = __ldcs(column + at + i * threads);
                sum += word.x ^ word.y ^ word.z ^ word.w;
            }
        }
    }
    if (sum == 0x12345678u) {
        *target = sum;
    }
}

// Measures the ceiling of a query that reads each column once, in 10^9 bytes a second.
double readingGBs() {
    constexpr uint64_t COLUMN_BYTES = uint64_t{4} << 30;
    DeviceArray<unsigned char> column(COLUMN_BYTES);
    DeviceArray<unsigned> target(1);
    CUDA_CHECK(cudaMemset(column.data(), 0, COLUMN_BYTES));
    int multiprocessors = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    std::vector<double> rates;
    for (int run = 0; run <= RUNS; run++) {
        Event start;
        Event end;
        start.record();
        readColumn<<<multiprocessors * 4, 512>>>(reinterpret_cast<const uint4*>(column.data()),
                                                 COLUMN_BYTES / sizeof(uint4), target.data());
        end.record();
        CUDA_CHECK(cudaDeviceSynchronize());
        if (run > 0) {
            rates.push_back(COLUMN_BYTES / end.millisecondsSince(start) / 1e6);
        }
    }
    ResultLine("ceiling-device-read").rounds("GB/s", rates).print();
    return *std::max_element(rates.begin(), rates.end());
}

SemiJoinCall<int64_t> query4(const TpchTables& tables, KeySetKind keySet) {
    SemiJoinCall<int64_t> call;
    call.left.keys = tables.orderKeys.data();
    call.left.rows = tables.orderKeys.count();
    // A quarter is one in 26; the planner of a database knows the range of a date column.
    call.left.expectedRows = tables.orderKeys.count() / 20 + 1000;
    call.left.condition = {tables.orderDates.data(), nullptr, TpchRows::QUARTER_FIRST_DAY,
                           TpchRows::QUARTER_LAST_DAY, sizeof(int16_t)};
    call.right.keys = tables.lineKeys.data();
    call.right.rows = tables.lineKeys.count();
    call.right.expectedRows = tables.lineKeys.count();
    call.right.condition = {tables.commitDates.data(), tables.receiptDates.data(), INT64_MIN, -1,
                            sizeof(int16_t)};
    call.result.groups = tables.priorities.data();
    call.result.groupWidthBytes = sizeof(int8_t);
    call.result.groupCount = TpchRows::PRIORITIES;
    call.requestedKeySet = keySet;
    return call;
}

// Runs the query; without a requested key set, the plan chooses one.
bool benchQuery4(const TpchTables& tables, uint64_t scale, bool isClustered, KeySetKind keySet,
                 double readGBs) {
    SemiJoinRunner<int64_t> runner(query4(tables, keySet), 0);
    std::vector<uint64_t> expected = tables.query4();
    bool correct = true;
    std::vector<double> rounds;
    SemiJoinTimes mean;
    for (int run = 0; run <= RUNS; run++) {
        SemiJoinTimes times = runner.run();
        correct &= runner.groupCounts() == expected;
        if (run > 0) {
            rounds.push_back(times.totalMs);
            mean.selectMs += times.selectMs / RUNS;
            mean.buildMs += times.buildMs / RUNS;
            mean.probeMs += times.probeMs / RUNS;
            mean.resultMs += times.resultMs / RUNS;
        }
    }
    const std::vector<uint64_t>& counts = runner.groupCounts();
    for (uint32_t i = 0; i < TpchRows::PRIORITIES; i++) {
        std::printf("  priority %u: %llu, expected %llu\n", i, (unsigned long long)counts[i],
                    (unsigned long long)expected[i]);
    }
    std::vector<double> sorted = rounds;
    std::sort(sorted.begin(), sorted.end());
    double lineBytes = 12.0 * static_cast<double>(tables.lineKeys.count());
    bool isDirect = runner.lastCall().keySet.kind == KeySetKind::DIRECT;
    ResultLine("tpch-q4")
        .with("scale_factor", scale)
        .with("key_set", isDirect ? "direct" : "hash")
        .with("chosen", keySet == KeySetKind::AUTO ? "by-plan" : "by-caller")
        .with("order_of_rows", isClustered ? "by-key" : "shuffled")
        .with("orders", tables.orderKeys.count())
        .with("lines", tables.lineKeys.count())
        .with("input_bytes", uint64_t{tables.lengthBytes()})
        .with("key_set_bytes", runner.lastCall().keySetBytes)
        .with("selection_bytes", runner.lastCall().selectionBytes)
        .rounds("ms", rounds)
        .checked(correct, std::accumulate(counts.begin(), counts.end(), uint64_t{0}), counts[0])
        .with("bound", static_cast<double>(tables.lengthBytes()) / readGBs / 1e6)
        .with("bounded_by", "device-read")
        .with("select_ms", mean.selectMs)
        .with("build_ms", mean.buildMs)
        .with("probe_ms", mean.probeMs)
        .with("groups_ms", mean.resultMs)
        .with("probe_GB/s", lineBytes / mean.probeMs / 1e6)
        .with("input_GB/s",
              static_cast<double>(tables.lengthBytes()) / sorted[sorted.size() / 2] / 1e6)
        .print();
    return correct;
}

bool benchQuery4(uint64_t scale, bool isClustered, double readGBs) {
    TpchTables tables({scale * TpchRows::ORDERS_PER_SCALE, 0, isClustered});
    bool correct = benchQuery4(tables, scale, isClustered, KeySetKind::AUTO, readGBs);
    correct &= benchQuery4(tables, scale, isClustered, KeySetKind::DIRECT, readGBs);
    return correct & benchQuery4(tables, scale, isClustered, KeySetKind::HASH, readGBs);
}

// The part of a device in query 4: a range of the orders, and their lines.
class Query4Part {
  public:
    Query4Part(int device, const TpchRows& rows) : device(device) {
        CUDA_CHECK(cudaSetDevice(device));
        tables = std::make_unique<TpchTables>(rows);
        expected = tables->query4();
        runner = std::make_unique<SemiJoinRunner<int64_t>>(query4(*tables, KeySetKind::AUTO), 0);
    }
    ~Query4Part() {
        CUDA_CHECK(cudaSetDevice(device));
        runner.reset();
        tables.reset();
    }
    Query4Part(const Query4Part&) = delete;
    Query4Part& operator=(const Query4Part&) = delete;

    void run() {
        CUDA_CHECK(cudaSetDevice(device));
        runner->run();
    }
    const std::vector<uint64_t>& counts() const { return runner->groupCounts(); }
    const std::vector<uint64_t>& expectedCounts() const { return expected; }
    uint64_t lines() const { return tables->lineKeys.count(); }
    size_t lengthBytes() const { return tables->lengthBytes(); }

  private:
    int device;
    std::unique_ptr<TpchTables> tables;
    std::vector<uint64_t> expected;
    std::unique_ptr<SemiJoinRunner<int64_t>> runner;
};

// Orders and their lines are on one device, so each device joins its part, driven by a thread.
bool benchQuery4(uint64_t scale, int devices, double readGBs) {
    uint64_t orders = scale * TpchRows::ORDERS_PER_SCALE;
    std::vector<std::unique_ptr<Query4Part>> parts;
    for (int d = 0; d < devices; d++) {
        uint64_t first = orders * d / devices;
        uint64_t end = orders * (d + 1) / devices;
        parts.push_back(std::make_unique<Query4Part>(d, TpchRows{end - first, first, true}));
    }
    std::vector<double> rounds;
    bool correct = true;
    uint64_t total = 0;
    for (int run = 0; run <= RUNS; run++) {
        auto begin = std::chrono::steady_clock::now();
        std::vector<std::thread> threads;
        for (auto& part : parts) {
            threads.emplace_back([&part] { part->run(); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        std::vector<uint64_t> counts(TpchRows::PRIORITIES);
        for (auto& part : parts) {
            for (uint32_t p = 0; p < TpchRows::PRIORITIES; p++) {
                counts[p] += part->counts()[p];
            }
        }
        std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
        for (auto& part : parts) {
            correct &= part->counts() == part->expectedCounts();
        }
        total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
        if (run > 0) {
            rounds.push_back(ms.count());
        }
    }
    uint64_t lines = 0;
    size_t bytes = 0;
    for (auto& part : parts) {
        lines += part->lines();
        bytes += part->lengthBytes();
    }
    ResultLine("tpch-q4")
        .with("scale_factor", scale)
        .with("devices", uint64_t(devices))
        .with("order_of_rows", "by-key")
        .with("orders", orders)
        .with("lines", lines)
        .with("input_bytes", uint64_t{bytes})
        .rounds("ms", rounds)
        .checked(correct, total, total)
        .with("bound", static_cast<double>(bytes) / devices / readGBs / 1e6)
        .with("bounded_by", "device-read")
        .print();
    return correct;
}

int usage() {
    std::fprintf(stderr,
                 "usage: tpch_bench check | q3 SCALE | q4 SCALE [DEVICES] | q5 SCALE (scale factor "
                 "from 1 to 1000 for query 4, to %llu for others; 1 to 8 devices)\n",
                 (unsigned long long)MAX_SALES_SCALE);
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "check" && argc == 2) {
        return checkSemiJoins() ? 0 : 1;
    }
    uint64_t scale = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    bool (*bench)(uint64_t, bool, double) = nullptr;
    if (command == "q3" && scale <= MAX_SALES_SCALE) {
        bench = benchQuery3;
    } else if (command == "q4" && scale <= 1000) {
        bench = benchQuery4;
    } else if (command == "q5" && scale <= MAX_SALES_SCALE) {
        bench = benchQuery5;
    }
    if (bench == nullptr || scale < 1) {
        return usage();
    }
    if (argc == 4 && command == "q4") {
        uint64_t devices = std::strtoull(argv[3], nullptr, 10);
        if (devices < 1 || devices > 8) {
            return usage();
        }
        return benchQuery4(scale, static_cast<int>(devices), readingGBs()) ? 0 : 1;
    }
    if (argc != 3) {
        return usage();
    }
    double readGBs = readingGBs();
    bool correct = bench(scale, true, readGBs);
    return bench(scale, false, readGBs) && correct ? 0 : 1;
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
