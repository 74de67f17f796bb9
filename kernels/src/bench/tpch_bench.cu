// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// TPC-H query 4 in the memory of one device, by a semi-join, and checks of the semi-join.
//
//   tpch_bench check     joins tables of many shapes and compares the results with those of the
//                        host; exits with 1 on a difference
//   tpch_bench q4 SCALE  runs query 4 with each key set, and measures how fast the device reads
//                        the columns
//
// Each case prints a ResultLine of five runs after a warm-up. A run is the time until the host has
// the answer, which is compared with one that needs no join (TpchRows::isCounted).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "device_memory.h"
#include "result_line.h"
#include "semi_join_check.h"
#include "semi_join_runner.cuh"
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
double readingGBs(const TpchTables& tables) {
    DeviceArray<unsigned> target(1);
    std::vector<double> rates;
    for (int run = 0; run <= RUNS; run++) {
        Event start;
        Event end;
        start.record();
        size_t bytes = 0;
        auto read = [&](const auto& column) {
            uint64_t words = column.lengthBytes() / sizeof(uint4);
            bytes += words * sizeof(uint4);
            readColumn<<<132 * 4, 512>>>(reinterpret_cast<const uint4*>(column.data()), words,
                                         target.data());
        };
        read(tables.lineKeys);
        read(tables.commitDates);
        read(tables.receiptDates);
        end.record();
        CUDA_CHECK(cudaDeviceSynchronize());
        if (run > 0) {
            rates.push_back(static_cast<double>(bytes) / end.millisecondsSince(start) / 1e6);
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

bool benchQuery4(uint64_t scale, bool isClustered) {
    TpchTables tables({scale * TpchRows::ORDERS_PER_SCALE, isClustered});
    double readGBs = readingGBs(tables);
    bool correct = benchQuery4(tables, scale, isClustered, KeySetKind::AUTO, readGBs);
    correct &= benchQuery4(tables, scale, isClustered, KeySetKind::DIRECT, readGBs);
    return correct & benchQuery4(tables, scale, isClustered, KeySetKind::HASH, readGBs);
}

int usage() {
    std::fprintf(stderr, "usage: tpch_bench check | q4 SCALE (scale factor from 1 to 1000)\n");
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "check" && argc == 2) {
        return checkSemiJoins() ? 0 : 1;
    }
    uint64_t scale = command == "q4" && argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
    if (scale < 1 || scale > 1000) {
        return usage();
    }
    bool correct = benchQuery4(scale, true);
    return benchQuery4(scale, false) && correct ? 0 : 1;
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
