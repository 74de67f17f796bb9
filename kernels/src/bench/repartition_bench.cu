// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Joins of tables that are spread over the devices of a host.
//
//   repartition_bench check [MAX_ROWS]   joins tables of many shapes, also with several members on
//                                        one device, and compares the results with the known
//                                        answers; exits with 1 on a difference
//   repartition_bench targets LOG2       joins on all devices, the larger table of 2^LOG2 rows: by
//                                        stores to peers, by copies, and with a replicated table
//   repartition_bench join BUILD PROBE CHUNKS...
//                                        joins by stores to peers, for each number of chunks
//
// Each case prints a ResultLine of five runs after a warm-up. G tuples/s is (build rows + probe
// rows of all devices) / seconds / 10^9, from the call until all devices have ended.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device_memory.h"
#include "spread_bench.cuh"

namespace gpujoin::bench {
namespace {

constexpr int RUNS = 5;

std::vector<int> allDevices() {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    std::vector<int> devices(1, 0);
    while (static_cast<int>(2 * devices.size()) <= count) {
        for (size_t n = devices.size(), end = 2 * n; n < end; n++) {
            devices.push_back(static_cast<int>(n));
        }
    }
    return devices;
}

struct CheckedShape {
    std::vector<int> devices;
    Split split;
    ExchangeMode mode;
    uint32_t chunks;
};

template <typename Word>
bool checkCase(const DataSpec& spec, const CheckedShape& shape) {
    SpreadTables<Word> tables(spec, shape.devices, shape.split);
    Digest expected = tables.expected();
    SpreadMatches<Word> matches(shape.devices, expected.count);
    RepartitionedRunner<Word> runner(tables, matches, shape.mode, shape.chunks);
    bool correct = true;
    for (int run = 0; run < 2; run++) {
        matches.poison();
        runner.run();
        correct &= isRight(matches, expected);
    }
    if (!correct) {
        std::printf(
            "WRONG %zu-bit %llu x %llu copies=%llu hit=%u zipf=%.1f members=%zu last_device=%d "
            "split=%d mode=%s chunks=%u matches=%llu\n",
            8 * sizeof(Word), (unsigned long long)spec.buildRows,
            (unsigned long long)spec.probeRows, (unsigned long long)spec.copies, spec.hitPercent,
            spec.zipf, shape.devices.size(), shape.devices.back(), static_cast<int>(shape.split),
            nameOf(shape.mode), shape.chunks, expected.count);
        std::fflush(stdout);
    }
    return correct;
}

// Joins with result columns that are too short: the count must be exact.
template <typename Word>
bool checkShortColumns(const std::vector<int>& devices) {
    DataSpec spec;
    spec.buildRows = 10000;
    spec.probeRows = 100000;
    SpreadTables<Word> tables(spec, devices, Split::EVEN);
    SpreadMatches<Word> matches(devices, 1000);
    RepartitionedRunner<Word> runner(tables, matches, ExchangeMode::PEER_STORES, 3);
    matches.poison();
    runner.run();
    bool correct = sumOf(matches.counts()) == 100000;
    std::printf("%s %zu-bit result columns too short\n", correct ? "ok   " : "WRONG",
                8 * sizeof(Word));
    return correct;
}

std::vector<DataSpec> checkSpecs() {
    std::vector<DataSpec> specs;
    auto add = [&](uint64_t build, uint64_t probe, uint64_t copies, double zipf, unsigned hit) {
        DataSpec s;
        s.buildRows = build;
        s.probeRows = probe;
        s.copies = copies;
        s.zipf = zipf;
        s.hitPercent = hit;
        s.domain = specs.size() % 2 == 0 ? KeyDomain::DENSE : KeyDomain::SPARSE;
        s.seed = specs.size() + 1;
        specs.push_back(s);
    };
    const uint64_t sizes[][2] = {
        {0, 0},          {0, 1000},         {1000, 0},    {1, 1},      {1, 100000},
        {7, 3},          {4096, 4097},      {6143, 6145}, {100003, 1}, {262144, 1000003},
        {300007, 99991}, {3000017, 5000011}};
    for (const auto& size : sizes) {
        for (uint64_t copies : {1, 3}) {
            for (unsigned hit : {100u, 30u}) {
                add(size[0], size[1], copies, 0, hit);
            }
        }
    }
    add(9000001, 20000003, 1, 0, 100);
    add(20000, 300, 20000, 0, 100);     // one build key, more rows than a table holds
    add(3000000, 20, 1000000, 0, 100);  // three build keys
    add(1000000, 10000000, 1, 1.0, 100);
    add(5000000, 10000000, 1, 1.0, 100);
    add(5000000, 10000000, 1, 1.5, 100);
    add(5000000, 10000000, 2, 1.2, 100);
    return specs;
}

// Members that share a device exchange rows like those of several devices.
std::vector<std::vector<int>> checkedGroups() {
    std::vector<std::vector<int>> groups{{0}, {0, 0}, {0, 0, 0, 0}, std::vector<int>(8, 0)};
    std::vector<int> all = allDevices();
    if (all.size() > 1) {
        groups.push_back(all);
        if (2 * all.size() <= resident::MAX_MEMBERS) {
            std::vector<int> twice = all;
            twice.insert(twice.end(), all.begin(), all.end());
            groups.push_back(twice);
        }
    }
    return groups;
}

int checkAll(uint64_t maxRows) {
    int wrong = 0;
    int count = 0;
    for (const std::vector<int>& devices : checkedGroups()) {
        int before = wrong;
        for (const DataSpec& spec : checkSpecs()) {
            if (std::max(spec.buildRows, spec.probeRows) > maxRows) {
                continue;
            }
            count++;
            CheckedShape shape{
                devices, static_cast<Split>(count % 3),
                count % 4 == 0 ? ExchangeMode::STAGED_COPIES : ExchangeMode::PEER_STORES,
                static_cast<uint32_t>(count % (resident::MAX_CHUNKS + 1))};
            wrong += !checkCase<int64_t>(spec, shape);
            wrong += !checkCase<int32_t>(spec, shape);
        }
        wrong += !checkShortColumns<int64_t>(devices);
        wrong += !checkShortColumns<int32_t>(devices);
        std::printf("members=%zu last_device=%d joins=%zu wrong=%d\n", devices.size(),
                    devices.back(), 2 * checkSpecs().size() + 2, wrong - before);
        std::fflush(stdout);
    }
    std::printf("CHECK wrong=%d\n", wrong);
    return wrong == 0 ? 0 : 1;
}

// What to measure with one pair of tables.
struct Measured {
    std::vector<uint32_t> chunks;
    bool withCopies = false;
    bool withReplicas = false;
};

template <typename Word>
bool benchCase(const DataSpec& spec, const Measured& measured) {
    std::vector<int> devices = allDevices();
    SpreadTables<Word> tables(spec, devices, Split::EVEN);
    Digest expected = tables.expected();
    // Frequent keys go to one device, whose results must fit too.
    uint64_t share = expected.count / devices.size();
    SpreadMatches<Word> matches(devices,
                                spec.zipf > 0 ? expected.count : share + share / 16 + 65536);
    BulkCase kind{spec, ""};
    bool correct = true;
    for (uint32_t chunks : measured.chunks) {
        correct &= benchRepartitioned(tables, kind, matches, expected, ExchangeMode::PEER_STORES,
                                      chunks, RUNS);
    }
    if (measured.withCopies) {
        correct &= benchRepartitioned(tables, kind, matches, expected, ExchangeMode::STAGED_COPIES,
                                      0, RUNS);
    }
    if (measured.withReplicas) {
        correct &= benchReplicated(tables, kind, matches, expected, RUNS);
    }
    return correct;
}

DataSpec specOf(uint64_t build, uint64_t probe) {
    DataSpec spec;
    spec.buildRows = build;
    spec.probeRows = probe;
    return spec;
}

int benchTargets(int log2) {
    uint64_t probe = uint64_t{1} << log2;
    bool correct = benchCase<int64_t>(specOf(probe / 4, probe), {{0}, true, true});
    correct &= benchCase<int32_t>(specOf(probe / 4, probe), {{0}, true, true});
    correct &= benchCase<int64_t>(specOf(probe / 2, probe / 2), {{0}, false, true});
    for (double zipf : {0.5, 1.0, 1.5}) {
        DataSpec skewed = specOf(probe / 4, probe);
        skewed.zipf = zipf;
        correct &= benchCase<int64_t>(skewed, {{0}, false, true});
    }
    DataSpec repeated = specOf(probe / 4, probe / 2);
    repeated.copies = 4;
    correct &= benchCase<int64_t>(repeated, {{0}, false, false});
    return correct ? 0 : 1;
}

int usage() {
    std::fprintf(
        stderr,
        "usage: repartition_bench check [max rows] | targets LOG2 | "
        "join BUILD PROBE CHUNKS... (numbers of rows and of chunks; LOG2 from 20 to 31)\n");
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    if (command == "check" && argc <= 3) {
        return checkAll(argc > 2 ? number(2) : ~0ull);
    }
    if (command == "targets" && argc == 3 && number(2) >= 20 && number(2) <= 31) {
        return benchTargets(static_cast<int>(number(2)));
    }
    if (command == "join" && argc >= 5) {
        Measured measured;
        for (int i = 4; i < argc; i++) {
            measured.chunks.push_back(static_cast<uint32_t>(number(i)));
        }
        return benchCase<int64_t>(specOf(number(2), number(3)), measured) ? 0 : 1;
    }
    return usage();
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
