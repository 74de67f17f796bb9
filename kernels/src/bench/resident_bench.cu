#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ceilings.h"
#include "device_memory.h"
#include "join_plan.h"
#include "resident_join.h"
#include "sort_merge_peer.h"
#include "tables.cuh"

/*
 * resident_bench check [max rows]  joins of many shapes against known answers; exit code 1 on a difference
 * resident_bench quick [log2]      ceilings and the three joins with targets; the largest table has 2^log2 rows
 * resident_bench bench [log2]      the same with the sort-merge peer, and skew, repeats, misses, sparse keys
 *
 * G tuples/s = (build rows + probe rows) / seconds / 10^9, of the median of five runs after a warm-up.
 */
namespace gpujoin::bench {
namespace {

using resident::JoinStatus;

constexpr int kRuns = 5;

struct Timing {
    double totalMs = 0;
    double stepMs[resident::kJoinSteps] = {};
};

std::string nameOf(const DataSpec& s, int wordBits) {
    char text[200];
    std::snprintf(text, sizeof(text), "%d-bit %llu x %llu copies=%llu hit=%u%% zipf=%.2f %s", wordBits,
                  (unsigned long long)s.buildRows, (unsigned long long)s.probeRows, (unsigned long long)s.copies,
                  s.hitPercent, s.zipf, s.domain == KeyDomain::DENSE ? "dense" : "sparse");
    return text;
}

template <class Word>
class ResidentRunner {
public:
    explicit ResidentRunner(const Tables<Word>& tables)
        : tables_(tables),
          workspace_(resident::workspaceBytes<Word>(tables.spec().buildRows, tables.spec().probeRows)) {}

    Timing run(const Matches<Word>& matches) {
        Event start;
        Event ends[resident::kJoinSteps];
        resident::JoinTrace trace;
        for (int i = 0; i < resident::kJoinSteps; i++) {
            trace.stepEnds[i] = ends[i].get();
        }
        start.record();
        const JoinStatus status =
                resident::joinResident(tables_.build(), tables_.probe(), matches.columns(), workspace_.data(),
                                       workspace_.lengthBytes(), cudaStream_t{}, trace);
        if (status != JoinStatus::OK) {
            std::fprintf(stderr, "the join was refused: status=%s\n", resident::describe(status));
            std::exit(1);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        Timing timing;
        timing.totalMs = ends[resident::kJoinSteps - 1].millisecondsSince(start);
        for (int i = 0; i < resident::kJoinSteps; i++) {
            timing.stepMs[i] = ends[i].millisecondsSince(i == 0 ? start : ends[i - 1]);
        }
        return timing;
    }

    std::size_t workspaceBytes() const { return workspace_.lengthBytes(); }

private:
    const Tables<Word>& tables_;
    DeviceArray<unsigned char> workspace_;
};

bool report(const char* who, const Digest& got, std::uint64_t counted, const Digest& expected) {
    const bool right = got == expected && counted == expected.count;
    if (!right) {
        std::printf("  WRONG %s: count=%llu counter=%llu expected=%llu sum=%016llx expected=%016llx\n", who, got.count,
                    (unsigned long long)counted, expected.count, got.sum, expected.sum);
    }
    return right;
}

template <class Word>
bool checkCase(const DataSpec& spec) {
    const Tables<Word> tables(spec);
    const Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    ResidentRunner<Word> runner(tables);
    bool right = true;
    for (int run = 0; run < 2; run++) {
        matches.poison();
        runner.run(matches);
        right &= report("resident", matches.digest(), matches.count(), expected);
    }
    SortMergePeer<Word> peer(spec.buildRows, spec.probeRows,
                             spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word));
    matches.poison();
    peer.join(tables.build(), tables.probe(), matches.columns());
    right &= report("sort-merge", matches.digest(), matches.count(), expected);
    std::printf("%s %s matches=%llu\n", right ? "ok   " : "WRONG", nameOf(spec, 8 * sizeof(Word)).c_str(),
                expected.count);
    std::fflush(stdout);
    return right;
}

/** A result that does not fit: the count must be exact and no byte after the columns may change. */
template <class Word>
bool checkShortColumns() {
    DataSpec spec;
    spec.buildRows = 10000;
    spec.probeRows = 100000;
    const Tables<Word> tables(spec);
    Matches<Word> matches(100000, true);
    matches.poison();
    auto columns = matches.columns();
    columns.capacityRows = 50000;
    DeviceArray<unsigned char> workspace(resident::workspaceBytes<Word>(spec.buildRows, spec.probeRows));
    resident::joinResident(tables.build(), tables.probe(), columns, workspace.data(), workspace.lengthBytes(),
                           cudaStream_t{});
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<Word> tail(50000);
    CUDA_CHECK(cudaMemcpy(tail.data(), columns.probePayloads + 50000, tail.size() * sizeof(Word),
                          cudaMemcpyDeviceToHost));
    Word poison;
    std::memset(&poison, 0xA5, sizeof(poison));
    const bool right = matches.count() == 100000 &&
                       std::all_of(tail.begin(), tail.end(), [&](Word w) { return w == poison; });
    std::printf("%s %zu-bit result columns too short\n", right ? "ok   " : "WRONG", 8 * sizeof(Word));
    return right;
}

std::vector<DataSpec> checkSpecs() {
    std::vector<DataSpec> specs;
    const std::uint64_t sizes[][2] = {{0, 0},       {0, 1000},         {1000, 0},       {1, 1},
                                      {1, 100000},  {7, 3},            {4096, 4097},    {6143, 6145},
                                      {100003, 1},  {262144, 1000003}, {300007, 99991}, {3000017, 5000011},
                                      {9000001, 20000003}};
    for (const auto& size : sizes) {
        for (const std::uint64_t copies : {1, 3}) {
            for (const unsigned hit : {100u, 30u}) {
                for (const KeyDomain domain : {KeyDomain::DENSE, KeyDomain::SPARSE}) {
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
    const auto add = [&](std::uint64_t build, std::uint64_t probe, std::uint64_t copies, double zipf) {
        DataSpec s;
        s.buildRows = build;
        s.probeRows = probe;
        s.copies = copies;
        s.zipf = zipf;
        s.seed = specs.size() + 1;
        specs.push_back(s);
    };
    add(20000, 300, 20000, 0);        // one build key, more rows than a table holds
    add(3000000, 200, 1000000, 0);    // three build keys in a two-pass join
    add(1000000, 30000000, 1, 1.0);   // heavy probe keys, one pass
    add(5000000, 30000000, 1, 1.0);   // heavy probe keys, two passes
    add(5000000, 30000000, 1, 1.5);
    add(5000000, 10000000, 2, 1.2);
    return specs;
}

/** Checks all tables of at most `maxRows`: a checking tool that runs the device slowly wants small ones. */
int checkAll(std::uint64_t maxRows) {
    int wrong = 0;
    for (const DataSpec& spec : checkSpecs()) {
        if (std::max(spec.buildRows, spec.probeRows) > maxRows) {
            continue;
        }
        wrong += !checkCase<std::int64_t>(spec);
        wrong += !checkCase<std::int32_t>(spec);
    }
    wrong += !checkShortColumns<std::int64_t>();
    wrong += !checkShortColumns<std::int32_t>();
    std::printf("CHECK wrong=%d\n", wrong);
    return wrong == 0 ? 0 : 1;
}

/** Fewest bytes that the passes of the plan move, against the measured copy. */
template <class Word>
double boundMs(const DataSpec& s, std::uint64_t matches, bool withKeys, double copyGBs) {
    const double tables = static_cast<double>(s.buildRows + s.probeRows) * 2 * sizeof(Word);
    const int passes = resident::RadixPlan::of(s.buildRows, resident::kTableShape<Word>).twoPasses() ? 2 : 1;
    const double result = static_cast<double>(matches) * (withKeys ? 3 : 2) * sizeof(Word);
    return (tables * (2 * passes + 1) + result) / copyGBs / 1e6;
}

template <class Word>
bool benchCase(const DataSpec& spec, bool withKeys, bool withPeer, double copyGBs) {
    const Tables<Word> tables(spec);
    const Digest expected = tables.expected(withKeys);
    Matches<Word> matches(expected.count, withKeys);
    const double tuples = static_cast<double>(spec.buildRows + spec.probeRows);
    bool right = true;
    {
        ResidentRunner<Word> runner(tables);
        matches.poison();
        runner.run(matches);
        right &= report("resident", matches.digest(), matches.count(), expected);
        std::vector<Timing> timings;
        for (int run = 0; run < kRuns; run++) {
            timings.push_back(runner.run(matches));
        }
        right &= report("resident, last run", matches.digest(), matches.count(), expected);
        std::sort(timings.begin(), timings.end(),
                  [](const Timing& a, const Timing& b) { return a.totalMs < b.totalMs; });
        const Timing& t = timings[kRuns / 2];
        const double bound = boundMs<Word>(spec, expected.count, withKeys, copyGBs);
        std::printf("RESULT resident %s key=%d check=%s ms=%.3f gtuples=%.2f bound_ms=%.2f share=%.2f "
                    "steps_ms=%.3f,%.3f,%.3f,%.3f,%.3f min=%.3f max=%.3f workspace_gb=%.2f\n",
                    nameOf(spec, 8 * sizeof(Word)).c_str(), withKeys, right ? "ok" : "WRONG", t.totalMs,
                    tuples / t.totalMs / 1e6, bound, bound / t.totalMs, t.stepMs[0], t.stepMs[1], t.stepMs[2],
                    t.stepMs[3], t.stepMs[4], timings.front().totalMs, timings.back().totalMs,
                    runner.workspaceBytes() / 1e9);
    }
    if (withPeer) {
        SortMergePeer<Word> peer(spec.buildRows, spec.probeRows,
                                 spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word));
        std::vector<double> times;
        matches.poison();
        for (int run = 0; run < 4; run++) {
            Event start;
            Event end;
            start.record();
            peer.join(tables.build(), tables.probe(), matches.columns());
            end.record();
            CUDA_CHECK(cudaDeviceSynchronize());
            times.push_back(end.millisecondsSince(start));
        }
        const bool peerRight = report("sort-merge", matches.digest(), matches.count(), expected);
        right &= peerRight;
        std::sort(times.begin() + 1, times.end());
        std::printf("RESULT sort-merge %s key=%d check=%s ms=%.3f gtuples=%.2f\n",
                    nameOf(spec, 8 * sizeof(Word)).c_str(), withKeys, peerRight ? "ok" : "WRONG", times[2],
                    tuples / times[2] / 1e6);
    }
    std::fflush(stdout);
    return right;
}

int benchAll(int log2Max, bool quick) {
    const Ceilings ceilings = measureCeilings();
    std::printf("RESULT ceilings copy_gbs=%.0f gather16_gs=%.1f\n", ceilings.copyGBs, ceilings.gatherGs);
    const int shift = 29 - log2Max;
    const auto spec = [&](int logBuild, int logProbe) {
        DataSpec s;
        s.buildRows = std::uint64_t{1} << (logBuild - shift);
        s.probeRows = std::uint64_t{1} << (logProbe - shift);
        return s;
    };
    const double copy = ceilings.copyGBs;
    bool right = true;
    right &= benchCase<std::int64_t>(spec(27, 29), true, !quick, copy);
    right &= benchCase<std::int64_t>(spec(28, 28), true, !quick, copy);
    right &= benchCase<std::int32_t>(spec(28, 28), true, !quick, copy);
    if (quick) {
        return right ? 0 : 1;
    }
    right &= benchCase<std::int64_t>(spec(27, 29), false, false, copy);
    right &= benchCase<std::int64_t>(spec(28, 28), false, false, copy);
    right &= benchCase<std::int32_t>(spec(28, 28), false, false, copy);
    right &= benchCase<std::int32_t>(spec(27, 29), true, false, copy);
    right &= benchCase<std::int64_t>(spec(20, 29), true, false, copy);
    DataSpec sparse = spec(27, 29);
    sparse.domain = KeyDomain::SPARSE;
    right &= benchCase<std::int64_t>(sparse, true, true, copy);
    for (const double zipf : {0.5, 1.0, 1.5}) {
        DataSpec skewed = spec(27, 29);
        skewed.zipf = zipf;
        right &= benchCase<std::int64_t>(skewed, true, false, copy);
    }
    DataSpec repeated = spec(27, 28);
    repeated.copies = 4;
    right &= benchCase<std::int64_t>(repeated, true, false, copy);
    DataSpec rare = spec(27, 29);
    rare.hitPercent = 10;
    right &= benchCase<std::int64_t>(rare, true, false, copy);
    return right ? 0 : 1;
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "check") {
        return gpujoin::bench::checkAll(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : ~0ull);
    }
    const int log2Max = argc > 2 ? std::atoi(argv[2]) : 29;
    if ((command == "bench" || command == "quick") && log2Max >= 20 && log2Max <= 30) {
        return gpujoin::bench::benchAll(log2Max, command == "quick");
    }
    std::fprintf(stderr, "usage: resident_bench check [max rows] | quick [log2 rows, 20 to 30] | bench [log2 rows]\n");
    return 2;
}
