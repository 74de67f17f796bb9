// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Benchmarks of the sort-merge join, beside CUB and the resident join.
//
//   sort_merge_bench check [MAX_ROWS]     joins tables of many shapes and compares the results with
//                                         the known answers; exits with 1 on a difference
//   sort_merge_bench join LOG2 [targets]  joins tables of up to 2^LOG2 rows; targets: only the cases
//                                         with a target
//   sort_merge_bench check-devices N      as check, over N devices
//   sort_merge_bench join-devices LOG2 N  joins tables of 2^LOG2 rows over 1 and over N devices
//
// Each case prints a ResultLine of five runs after a warm-up. G tuples/s is (build rows + probe
// rows) / seconds / 10^9.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device_memory.h"
#include "sharded_bench.h"
#include "sort_merge_runner.cuh"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr int RUNS = 5;
std::string nameOf(const DataSpec& s, int wordBits) {
    char text[200];
    std::snprintf(text, sizeof(text), "%d-bit %llu x %llu copies=%llu hit=%u%% zipf=%.2f %s",
                  wordBits, (unsigned long long)s.buildRows, (unsigned long long)s.probeRows,
                  (unsigned long long)s.copies, s.hitPercent, s.zipf, nameOf(s.domain));
    return text;
}

template <typename Word>
bool checkCase(const DataSpec& spec) {
    Tables<Word> tables(spec);
    Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    SortMergeRunner<Word> runner(tables);
    bool correct = true;
    for (int run = 0; run < 2; run++) {
        matches.poison();
        runner.run(matches.columns());
        correct &= isCorrect(matches, expected);
    }
    std::printf("%s %s matches=%llu\n", correct ? "ok   " : "WRONG",
                nameOf(spec, 8 * sizeof(Word)).c_str(), expected.count);
    std::fflush(stdout);
    return correct;
}

// Joins tables of one key with more matches than the columns hold: the count must be exact, and no
// byte after the columns may change.
template <typename Word>
bool checkShortColumns(uint64_t buildRows, uint64_t probeRows, uint64_t capacityRows) {
    DataSpec spec;
    spec.buildRows = buildRows;
    spec.probeRows = probeRows;
    spec.copies = buildRows;
    Tables<Word> tables(spec);
    constexpr uint64_t TAIL_ROWS = 50000;
    Matches<Word> matches(capacityRows + TAIL_ROWS, true);
    matches.poison();
    auto columns = matches.columns();
    columns.capacityRows = capacityRows;
    SortMergeRunner<Word>(tables).run(columns);
    std::vector<Word> tail(TAIL_ROWS);
    CUDA_CHECK(cudaMemcpy(tail.data(), columns.probePayloads + capacityRows,
                          tail.size() * sizeof(Word), cudaMemcpyDeviceToHost));
    Word poison;
    std::memset(&poison, 0xA5, sizeof(poison));
    bool correct = matches.count() == buildRows * probeRows &&
                   std::all_of(tail.begin(), tail.end(), [&](Word w) { return w == poison; });
    std::printf("%s %zu-bit %llu x %llu rows of one key, result columns too short: count=%llu\n",
                correct ? "ok   " : "WRONG", 8 * sizeof(Word), (unsigned long long)buildRows,
                (unsigned long long)probeRows, (unsigned long long)matches.count());
    return correct;
}

DataSpec specOf(uint64_t buildRows, uint64_t probeRows, KeyDomain domain = KeyDomain::DENSE) {
    DataSpec spec;
    spec.buildRows = buildRows;
    spec.probeRows = probeRows;
    spec.domain = domain;
    return spec;
}

std::vector<DataSpec> checkSpecs() {
    std::vector<DataSpec> specs;
    const uint64_t sizes[][2] = {
        {0, 0},          {0, 1000},          {1000, 0},          {1, 1},      {1, 100000},
        {7, 3},          {2048, 2049},       {4095, 4097},       {100003, 1}, {262144, 1000003},
        {300007, 99991}, {3000017, 5000011}, {9000001, 20000003}};
    for (const auto& size : sizes) {
        for (uint64_t copies : {1, 3}) {
            for (unsigned hit : {100u, 30u}) {
                for (KeyDomain domain : {KeyDomain::DENSE, KeyDomain::SPARSE, KeyDomain::ORDERED}) {
                    DataSpec s = specOf(size[0], size[1], domain);
                    s.copies = copies;
                    s.hitPercent = hit;
                    s.seed = specs.size() + 1;
                    specs.push_back(s);
                }
            }
        }
    }
    auto add = [&](uint64_t build, uint64_t probe, uint64_t copies, double zipf, KeyDomain domain) {
        DataSpec s = specOf(build, probe, domain);
        s.copies = copies;
        s.zipf = zipf;
        s.seed = specs.size() + 1;
        specs.push_back(s);
    };
    for (KeyDomain domain : {KeyDomain::DENSE, KeyDomain::SPARSE}) {
        add(20000, 300, 20000, 0, domain);       // one build key
        add(20000, 20000, 20000, 0, domain);     // one key in both tables: 400 million matches
        add(3000000, 200, 1000000, 0, domain);   // three build keys
        add(1000000, 30000000, 1, 1.0, domain);  // heavy probe keys
        add(5000000, 30000000, 1, 1.5, domain);
        add(5000000, 10000000, 2, 1.2, domain);
        add(5000000, 2000000, 100, 0, domain);  // 100 matches a probe row
    }
    add(4000000, 1000000, 100, 0, KeyDomain::ORDERED);
    return specs;
}

// Checks all tables of at most `maxRows` rows. Tools that slow the device down need small tables.
int checkAll(uint64_t maxRows) {
    int wrong = 0;
    for (const DataSpec& spec : checkSpecs()) {
        if (std::max(spec.buildRows, spec.probeRows) > maxRows) {
            continue;
        }
        wrong += !checkCase<int64_t>(spec);
        wrong += !checkCase<int32_t>(spec);
    }
    wrong += !checkShortColumns<int64_t>(300, 1000, 50000);
    wrong += !checkShortColumns<int32_t>(300, 1000, 50000);
    if (maxRows > 1000000) {
        wrong += !checkShortColumns<int64_t>(1 << 20, 1 << 20, 1000000000);
        wrong += !checkShortColumns<int32_t>(1 << 20, 1 << 20, 1000000000);
    }
    std::printf("CHECK wrong=%d\n", wrong);
    return wrong == 0 ? 0 : 1;
}

template <typename Word>
bool benchCase(const DataSpec& spec, bool withPeer = false) {
    Tables<Word> tables(spec);
    Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    BulkCase measured{spec, ""};
    bool correct = benchSortMerge(tables, measured, expected, matches, RUNS);
    if (withPeer) {
        correct &= benchPeer(tables, measured, expected, matches, RUNS);
    }
    return correct;
}

int benchAll(int log2Max, bool targetsOnly) {
    uint64_t rows = uint64_t{1} << log2Max;
    bool correct = benchCase<int32_t>(specOf(rows, rows), true);
    correct &= benchCase<int32_t>(specOf(rows, rows, KeyDomain::ORDERED));
    correct &= benchCase<int64_t>(specOf(rows, rows), true);
    correct &= benchCase<int64_t>(specOf(rows, rows, KeyDomain::ORDERED));
    if (targetsOnly) {
        return correct ? 0 : 1;
    }
    // The workloads of Maltenberger et al.: A with a tenth of build rows, B with as many.
    correct &= benchCase<int32_t>(specOf(rows / 10, rows, KeyDomain::SPARSE), true);
    correct &= benchCase<int64_t>(specOf(rows, rows, KeyDomain::SPARSE), true);
    for (unsigned hit : {10u, 25u, 50u, 75u}) {
        DataSpec spec = specOf(rows, rows);
        spec.hitPercent = hit;
        correct &= benchCase<int32_t>(spec);
    }
    for (double zipf : {0.25, 0.5, 0.75, 1.0}) {
        DataSpec spec = specOf(rows, rows);
        spec.zipf = zipf;
        correct &= benchCase<int32_t>(spec, zipf == 1.0);
    }
    DataSpec repeated = specOf(rows / 2, rows / 2);
    repeated.copies = 4;
    correct &= benchCase<int32_t>(repeated, true);
    return correct ? 0 : 1;
}

int usage() {
    std::fprintf(
        stderr,
        "usage: sort_merge_bench check [max rows] | join LOG2 [targets] | check-devices N | "
        "join-devices LOG2 N (LOG2 from 10 to 30)\n");
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    if (command == "check" && argc <= 3) {
        return checkAll(argc > 2 ? number(2) : ~0ull);
    }
    if (command == "join" && (argc == 3 || argc == 4) && number(2) >= 10 && number(2) <= 30) {
        return benchAll(static_cast<int>(number(2)), argc == 4);
    }
    if (command == "check-devices" && argc == 3) {
        int wrong = checkSharded(static_cast<int>(number(2)));
        std::printf("CHECK wrong=%d\n", wrong);
        return wrong == 0 ? 0 : 1;
    }
    if (command == "join-devices" && argc == 4 && number(2) >= 10 && number(2) <= 30) {
        uint64_t rows = uint64_t{1} << number(2);
        BulkCase measured{specOf(rows, rows), ""};
        bool correct = true;
        for (int devices : {1, static_cast<int>(number(3))}) {
            correct &= benchSharded<int32_t>(measured, devices);
            correct &= benchSharded<int64_t>(measured, devices);
        }
        return correct ? 0 : 1;
    }
    return usage();
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
