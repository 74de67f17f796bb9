// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Benchmarks of the resident join and of its peers.
//
//   gpu_bench check [MAX_ROWS]                joins tables of many shapes and compares the results
//                                             with the known answers; exits with 1 on a difference
//   gpu_bench ceilings                        measures the limits of the machine
//   gpu_bench resident LOG2 targets|all COPY  joins tables in device memory, the largest of 2^LOG2
//                                             rows, and measures the sort-merge peer; all: also
//                                             skew, repeated keys and misses; COPY is the measured
//                                             device-copy ceiling in GB/s
//   gpu_bench blocking BUILD SOURCE CHUNK PROBE...
//                                             the blocking join of tables in host memory, for each
//                                             number of probe rows; arguments as in BlockingSpec
//
// Each case prints a ResultLine of five runs after a warm-up. G tuples/s is (build rows + probe
// rows) / seconds / 10^9.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "blocking_join.h"
#include "ceilings.h"
#include "device_memory.h"
#include "join_plan.h"
#include "peer_rounds.cuh"
#include "resident_join.h"
#include "resident_runner.cuh"
#include "result_line.h"
#include "sort_merge_peer.h"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr int RUNS = 5;
std::string nameOf(const DataSpec& s, int wordBits) {
    char text[200];
    std::snprintf(text, sizeof(text), "%d-bit %llu x %llu copies=%llu hit=%u%% zipf=%.2f %s",
                  wordBits, (unsigned long long)s.buildRows, (unsigned long long)s.probeRows,
                  (unsigned long long)s.copies, s.hitPercent, s.zipf,
                  s.domain == KeyDomain::DENSE ? "dense" : "sparse");
    return text;
}

bool report(const char* who, const Digest& got, uint64_t counted, const Digest& expected) {
    bool correct = got == expected && counted == expected.count;
    if (!correct) {
        std::printf(
            "  WRONG %s: count=%llu counter=%llu expected=%llu sum=%016llx expected=%016llx\n", who,
            got.count, (unsigned long long)counted, expected.count, got.sum, expected.sum);
    }
    return correct;
}

template <typename Word>
bool checkCase(const DataSpec& spec) {
    Tables<Word> tables(spec);
    Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    ResidentRunner<Word> runner(tables);
    bool correct = true;
    for (int run = 0; run < 2; run++) {
        matches.poison();
        runner.run(matches);
        correct &= report("resident", matches.digest(), matches.count(), expected);
    }
    SortMergePeer<Word> peer(spec.buildRows, spec.probeRows,
                             spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word));
    matches.poison();
    peer.join(tables.build(), tables.probe(), matches.columns());
    correct &= report("sort-merge", matches.digest(), matches.count(), expected);
    std::printf("%s %s matches=%llu\n", correct ? "ok   " : "WRONG",
                nameOf(spec, 8 * sizeof(Word)).c_str(), expected.count);
    std::fflush(stdout);
    return correct;
}

// Joins with result columns that are too short: the count must be exact, and no byte after the
// columns may change.
template <typename Word>
bool checkShortColumns() {
    DataSpec spec;
    spec.buildRows = 10000;
    spec.probeRows = 100000;
    Tables<Word> tables(spec);
    Matches<Word> matches(100000, true);
    matches.poison();
    auto columns = matches.columns();
    columns.capacityRows = 50000;
    DeviceArray<unsigned char> workspace(
        resident::workspaceBytes<Word>(spec.buildRows, spec.probeRows));
    resident::joinResident(tables.build(), tables.probe(), columns, workspace.data(),
                           workspace.lengthBytes(), cudaStream_t{});
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<Word> tail(50000);
    CUDA_CHECK(cudaMemcpy(tail.data(), columns.probePayloads + 50000, tail.size() * sizeof(Word),
                          cudaMemcpyDeviceToHost));
    Word poison;
    std::memset(&poison, 0xA5, sizeof(poison));
    bool correct = matches.count() == 100000 &&
                   std::all_of(tail.begin(), tail.end(), [&](Word w) { return w == poison; });
    std::printf("%s %zu-bit result columns too short\n", correct ? "ok   " : "WRONG",
                8 * sizeof(Word));
    return correct;
}

std::vector<DataSpec> checkSpecs() {
    std::vector<DataSpec> specs;
    const uint64_t sizes[][2] = {
        {0, 0},          {0, 1000},          {1000, 0},          {1, 1},      {1, 100000},
        {7, 3},          {4096, 4097},       {6143, 6145},       {100003, 1}, {262144, 1000003},
        {300007, 99991}, {3000017, 5000011}, {9000001, 20000003}};
    for (const auto& size : sizes) {
        for (uint64_t copies : {1, 3}) {
            for (unsigned hit : {100u, 30u}) {
                for (KeyDomain domain : {KeyDomain::DENSE, KeyDomain::SPARSE}) {
                    DataSpec s;
                    s.buildRows = size[0];
                    s.probeRows = size[1];
                    s.copies = copies;
                    s.hitPercent = hit;
                    s.domain = domain;
                    s.seed = specs.size() + 1;
                    specs.push_back(s);
                }
            }
        }
    }
    auto add = [&](uint64_t build, uint64_t probe, uint64_t copies, double zipf) {
        DataSpec s;
        s.buildRows = build;
        s.probeRows = probe;
        s.copies = copies;
        s.zipf = zipf;
        s.seed = specs.size() + 1;
        specs.push_back(s);
    };
    add(20000, 300, 20000, 0);       // one build key, more rows than a table holds
    add(3000000, 200, 1000000, 0);   // three build keys in a two-pass join
    add(1000000, 30000000, 1, 1.0);  // heavy probe keys, one pass
    add(5000000, 30000000, 1, 1.0);  // heavy probe keys, two passes
    add(5000000, 30000000, 1, 1.5);
    add(5000000, 10000000, 2, 1.2);
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
    wrong += !checkShortColumns<int64_t>();
    wrong += !checkShortColumns<int32_t>();
    std::printf("CHECK wrong=%d\n", wrong);
    return wrong == 0 ? 0 : 1;
}

// Returns the time in which the measured copy moves the minimum of bytes that the passes of the
// plan move.
template <typename Word>
double boundMs(const DataSpec& s, uint64_t matches, double copyGBs) {
    double tables = static_cast<double>(s.buildRows + s.probeRows) * 2 * sizeof(Word);
    int passes =
        resident::RadixPlan::of(s.buildRows, resident::TABLE_SHAPE<Word>).hasTwoPasses() ? 2 : 1;
    double result = static_cast<double>(matches) * 3 * sizeof(Word);
    return (tables * (2 * passes + 1) + result) / copyGBs / 1e6;
}

ResultLine lineOf(const char* name, const DataSpec& spec, int wordBits) {
    ResultLine line(name);
    line.with("word_bits", uint64_t(wordBits))
        .with("build_rows", spec.buildRows)
        .with("probe_rows", spec.probeRows);
    line.with("copies", spec.copies)
        .with("hit_percent", uint64_t{spec.hitPercent})
        .with("zipf", spec.zipf);
    line.with("keys", spec.domain == KeyDomain::DENSE ? "dense" : "sparse");
    return line;
}

template <typename Word>
bool benchResident(const Tables<Word>& tables, const Digest& expected, const Matches<Word>& matches,
                   double copyGBs) {
    const DataSpec& spec = tables.spec();
    ResidentRunner<Word> runner(tables);
    matches.poison();
    runner.run(matches);
    bool correct = report("resident", matches.digest(), matches.count(), expected);
    std::vector<double> rounds;
    double stepMs[resident::JOIN_STEP_COUNT] = {};
    for (int run = 0; run < RUNS; run++) {
        ResidentTiming timing = runner.run(matches);
        rounds.push_back(tuplesOf(spec) / timing.totalMs / 1e6);
        for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
            stepMs[i] += timing.stepMs[i] / RUNS;
        }
    }
    correct &= report("resident, last run", matches.digest(), matches.count(), expected);
    ResultLine line = lineOf("resident-join", spec, 8 * sizeof(Word));
    line.rounds("Gtuples/s", rounds).checked(correct, matches.count(), matches.digest().sum);
    line.with("bound", tuplesOf(spec) / boundMs<Word>(spec, expected.count, copyGBs) / 1e6);
    line.with("bounded_by", "device-copy")
        .with("workspace_bytes", uint64_t{runner.workspaceBytes()});
    for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
        line.with(RESIDENT_STEP_NAMES[i], stepMs[i]);
    }
    line.print();
    return correct;
}

template <typename Word>
bool benchPeer(const Tables<Word>& tables, const Digest& expected, const Matches<Word>& matches) {
    const DataSpec& spec = tables.spec();
    std::vector<double> rounds = peerRounds(tables, matches, RUNS);
    bool correct = report("sort-merge", matches.digest(), matches.count(), expected);
    lineOf("sort-merge-join", spec, 8 * sizeof(Word))
        .rounds("Gtuples/s", rounds)
        .checked(correct, matches.count(), matches.digest().sum)
        .print();
    return correct;
}

template <typename Word>
bool benchCase(const DataSpec& spec, bool withPeer, double copyGBs) {
    Tables<Word> tables(spec);
    Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    bool correct = benchResident(tables, expected, matches, copyGBs);
    if (withPeer) {
        correct &= benchPeer(tables, expected, matches);
    }
    return correct;
}

int benchCeilings() {
    for (const Ceiling& ceiling : measureCeilings()) {
        const std::string name = std::string("ceiling-") + ceiling.name;
        ResultLine(name.c_str()).rounds(ceiling.unit, ceiling.rounds).print();
    }
    return 0;
}

int benchResidentAll(int log2Max, bool all, double copy) {
    int shift = 29 - log2Max;
    auto spec = [&](int logBuild, int logProbe) {
        DataSpec s;
        s.buildRows = uint64_t{1} << (logBuild - shift);
        s.probeRows = uint64_t{1} << (logProbe - shift);
        return s;
    };
    bool correct = benchCase<int64_t>(spec(27, 29), true, copy);
    correct &= benchCase<int64_t>(spec(28, 28), true, copy);
    correct &= benchCase<int32_t>(spec(28, 28), true, copy);
    if (!all) {
        return correct ? 0 : 1;
    }
    correct &= benchCase<int32_t>(spec(27, 29), false, copy);
    correct &= benchCase<int64_t>(spec(20, 29), false, copy);
    DataSpec sparse = spec(27, 29);
    sparse.domain = KeyDomain::SPARSE;
    correct &= benchCase<int64_t>(sparse, true, copy);
    for (double zipf : {0.5, 1.0, 1.5}) {
        DataSpec skewed = spec(27, 29);
        skewed.zipf = zipf;
        correct &= benchCase<int64_t>(skewed, false, copy);
    }
    DataSpec repeated = spec(27, 28);
    repeated.copies = 4;
    correct &= benchCase<int64_t>(repeated, false, copy);
    DataSpec rare = spec(27, 29);
    rare.hitPercent = 10;
    correct &= benchCase<int64_t>(rare, false, copy);
    return correct ? 0 : 1;
}

bool benchBlocking(BlockingJoin& join, uint64_t probeRows) {
    BlockingResult result = join.measure(probeRows, RUNS);
    std::vector<double> seconds;
    BlockingTimes mean;
    for (const BlockingTimes& times : result.rounds) {
        seconds.push_back(times.totalMs() / 1e3);
        mean.copyInMs += times.copyInMs / RUNS;
        mean.joinMs += times.joinMs / RUNS;
        mean.copyBackMs += times.copyBackMs / RUNS;
    }
    ResultLine("blocking-join")
        .with("build_rows", join.spec().buildRows)
        .with("probe_rows", probeRows)
        .with("chunk_rows", join.spec().chunkRows)
        .with("device_bytes", uint64_t{BlockingJoin::deviceBytes(join.spec())})
        .rounds("s", seconds)
        .checked(result.correct, result.digest.count, result.digest.sum)
        .with("copy_in_ms", mean.copyInMs)
        .with("join_ms", mean.joinMs)
        .with("copy_back_ms", mean.copyBackMs)
        .print();
    return result.correct;
}

int benchBlockingAll(BlockingSpec spec, const std::vector<uint64_t>& probeRows) {
    bool whole = spec.sourceRows != 0 && spec.chunkRows % spec.sourceRows == 0;
    for (uint64_t rows : probeRows) {
        whole = whole && rows % spec.sourceRows == 0;
    }
    if (!whole) {
        std::fprintf(stderr,
                     "CHUNK or PROBE is not a multiple of SOURCE: source=%llu, chunk=%llu\n",
                     (unsigned long long)spec.sourceRows, (unsigned long long)spec.chunkRows);
        return 2;
    }
    if (!spec.fitToDevice()) {
        std::printf("blocking-join is left out: %llu build rows do not fit the device\n",
                    (unsigned long long)spec.buildRows);
        return 0;
    }
    BlockingJoin join(spec);
    bool correct = true;
    for (uint64_t rows : probeRows) {
        correct &= benchBlocking(join, rows);
    }
    return correct ? 0 : 1;
}

int usage() {
    std::fprintf(stderr,
                 "usage: gpu_bench check [max rows] | ceilings | resident LOG2 targets|all COPY | "
                 "blocking BUILD SOURCE CHUNK PROBE... (numbers of rows; LOG2 from 20 to 30)\n");
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    if (command == "check" && argc <= 3) {
        return checkAll(argc > 2 ? number(2) : ~0ull);
    }
    if (command == "ceilings" && argc == 2) {
        return benchCeilings();
    }
    if (command == "resident" && argc == 5 && number(2) >= 20 && number(2) <= 30) {
        return benchResidentAll(static_cast<int>(number(2)), std::string(argv[3]) == "all",
                                std::strtod(argv[4], nullptr));
    }
    if (command == "blocking" && argc >= 6) {
        std::vector<uint64_t> probeRows;
        for (int i = 5; i < argc; i++) {
            probeRows.push_back(number(i));
        }
        return benchBlockingAll({number(2), number(3), number(4)}, probeRows);
    }
    return usage();
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
