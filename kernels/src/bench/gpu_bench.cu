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
#include "resident_join.h"
#include "result_line.h"
#include "sort_merge_peer.h"
#include "tables.cuh"

/*
 * gpu_bench check [max rows]                        joins of many shapes against known answers; exit code 1 on
 *                                                   a difference
 * gpu_bench ceilings                                what the machine itself does
 * gpu_bench resident LOG2 targets|all COPY          joins of tables in device memory, the largest of 2^LOG2 rows,
 *                                                   beside the sort-merge peer; all: skew, repeats, misses, too;
 *                                                   COPY is the measured device-copy ceiling in GB/s
 * gpu_bench blocking BUILD SOURCE CHUNK PROBE...    the blocking join of tables in host memory, for each number
 *                                                   of probe rows; numbers as in BlockingSpec
 *
 * Each measured case is a ResultLine of five runs after a warm-up. G tuples/s = (build rows + probe rows) /
 * seconds / 10^9.
 */
namespace gpujoin::bench {
namespace {

using resident::JoinStatus;

constexpr int kRuns = 5;
constexpr const char* kStepNames[resident::kJoinSteps] = {
    "build_pass_1_ms", "build_pass_2_ms", "probe_pass_1_ms", "probe_pass_2_ms", "join_ms"};

struct Timing {
    double totalMs = 0;
    double stepMs[resident::kJoinSteps] = {};
};

std::string nameOf(const DataSpec& s, int wordBits) {
    char text[200];
    std::snprintf(text, sizeof(text), "%d-bit %llu x %llu copies=%llu hit=%u%% zipf=%.2f %s",
                  wordBits, (unsigned long long)s.buildRows, (unsigned long long)s.probeRows,
                  (unsigned long long)s.copies, s.hitPercent, s.zipf,
                  s.domain == KeyDomain::DENSE ? "dense" : "sparse");
    return text;
}

template <class Word>
class ResidentRunner {
  public:
    explicit ResidentRunner(const Tables<Word>& tables)
        : tables_(tables),
          workspace_(
              resident::workspaceBytes<Word>(tables.spec().buildRows, tables.spec().probeRows)) {}

    Timing run(const Matches<Word>& matches) {
        Event start;
        Event ends[resident::kJoinSteps];
        resident::JoinTrace trace;
        for (int i = 0; i < resident::kJoinSteps; i++) {
            trace.stepEnds[i] = ends[i].get();
        }
        start.record();
        const JoinStatus status = resident::joinResident(
            tables_.build(), tables_.probe(), matches.columns(), workspace_.data(),
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
        std::printf(
            "  WRONG %s: count=%llu counter=%llu expected=%llu sum=%016llx expected=%016llx\n", who,
            got.count, (unsigned long long)counted, expected.count, got.sum, expected.sum);
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
    std::printf("%s %s matches=%llu\n", right ? "ok   " : "WRONG",
                nameOf(spec, 8 * sizeof(Word)).c_str(), expected.count);
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
    const bool right = matches.count() == 100000 &&
                       std::all_of(tail.begin(), tail.end(), [&](Word w) { return w == poison; });
    std::printf("%s %zu-bit result columns too short\n", right ? "ok   " : "WRONG",
                8 * sizeof(Word));
    return right;
}

std::vector<DataSpec> checkSpecs() {
    std::vector<DataSpec> specs;
    const std::uint64_t sizes[][2] = {
        {0, 0},          {0, 1000},          {1000, 0},          {1, 1},      {1, 100000},
        {7, 3},          {4096, 4097},       {6143, 6145},       {100003, 1}, {262144, 1000003},
        {300007, 99991}, {3000017, 5000011}, {9000001, 20000003}};
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
    const auto add = [&](std::uint64_t build, std::uint64_t probe, std::uint64_t copies,
                         double zipf) {
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
double boundMs(const DataSpec& s, std::uint64_t matches, double copyGBs) {
    const double tables = static_cast<double>(s.buildRows + s.probeRows) * 2 * sizeof(Word);
    const int passes =
        resident::RadixPlan::of(s.buildRows, resident::kTableShape<Word>).twoPasses() ? 2 : 1;
    const double result = static_cast<double>(matches) * 3 * sizeof(Word);
    return (tables * (2 * passes + 1) + result) / copyGBs / 1e6;
}

ResultLine lineOf(const char* name, const DataSpec& spec, int wordBits) {
    ResultLine line(name);
    line.with("word_bits", std::uint64_t(wordBits))
        .with("build_rows", spec.buildRows)
        .with("probe_rows", spec.probeRows);
    line.with("copies", spec.copies)
        .with("hit_percent", std::uint64_t{spec.hitPercent})
        .with("zipf", spec.zipf);
    line.with("keys", spec.domain == KeyDomain::DENSE ? "dense" : "sparse");
    return line;
}

double tuplesOf(const DataSpec& spec) {
    return static_cast<double>(spec.buildRows + spec.probeRows);
}

template <class Word>
bool benchResident(const Tables<Word>& tables, const Digest& expected, const Matches<Word>& matches,
                   double copyGBs) {
    const DataSpec& spec = tables.spec();
    ResidentRunner<Word> runner(tables);
    matches.poison();
    runner.run(matches);
    bool right = report("resident", matches.digest(), matches.count(), expected);
    std::vector<double> rounds;
    double stepMs[resident::kJoinSteps] = {};
    for (int run = 0; run < kRuns; run++) {
        const Timing timing = runner.run(matches);
        rounds.push_back(tuplesOf(spec) / timing.totalMs / 1e6);
        for (int i = 0; i < resident::kJoinSteps; i++) {
            stepMs[i] += timing.stepMs[i] / kRuns;
        }
    }
    right &= report("resident, last run", matches.digest(), matches.count(), expected);
    ResultLine line = lineOf("resident-join", spec, 8 * sizeof(Word));
    line.rounds("Gtuples/s", rounds).checked(right, matches.count(), matches.digest().sum);
    line.with("bound", tuplesOf(spec) / boundMs<Word>(spec, expected.count, copyGBs) / 1e6);
    line.with("bounded_by", "device-copy")
        .with("workspace_bytes", std::uint64_t{runner.workspaceBytes()});
    for (int i = 0; i < resident::kJoinSteps; i++) {
        line.with(kStepNames[i], stepMs[i]);
    }
    line.print();
    return right;
}

template <class Word>
bool benchPeer(const Tables<Word>& tables, const Digest& expected, const Matches<Word>& matches) {
    const DataSpec& spec = tables.spec();
    SortMergePeer<Word> peer(spec.buildRows, spec.probeRows,
                             spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word));
    std::vector<double> rounds;
    matches.poison();
    for (int run = 0; run <= kRuns; run++) {
        Event start;
        Event end;
        start.record();
        peer.join(tables.build(), tables.probe(), matches.columns());
        end.record();
        CUDA_CHECK(cudaDeviceSynchronize());
        if (run > 0) {
            rounds.push_back(tuplesOf(spec) / end.millisecondsSince(start) / 1e6);
        }
    }
    const bool right = report("sort-merge", matches.digest(), matches.count(), expected);
    lineOf("sort-merge-join", spec, 8 * sizeof(Word))
        .rounds("Gtuples/s", rounds)
        .checked(right, matches.count(), matches.digest().sum)
        .print();
    return right;
}

template <class Word>
bool benchCase(const DataSpec& spec, bool withPeer, double copyGBs) {
    const Tables<Word> tables(spec);
    const Digest expected = tables.expected(true);
    const Matches<Word> matches(expected.count, true);
    bool right = benchResident(tables, expected, matches, copyGBs);
    if (withPeer) {
        right &= benchPeer(tables, expected, matches);
    }
    return right;
}

int benchCeilings() {
    for (const Ceiling& ceiling : measureCeilings()) {
        const std::string name = std::string("ceiling-") + ceiling.name;
        ResultLine(name.c_str()).rounds(ceiling.unit, ceiling.rounds).print();
    }
    return 0;
}

int benchResidentAll(int log2Max, bool all, double copy) {
    const int shift = 29 - log2Max;
    const auto spec = [&](int logBuild, int logProbe) {
        DataSpec s;
        s.buildRows = std::uint64_t{1} << (logBuild - shift);
        s.probeRows = std::uint64_t{1} << (logProbe - shift);
        return s;
    };
    bool right = benchCase<std::int64_t>(spec(27, 29), true, copy);
    right &= benchCase<std::int64_t>(spec(28, 28), true, copy);
    right &= benchCase<std::int32_t>(spec(28, 28), true, copy);
    if (!all) {
        return right ? 0 : 1;
    }
    right &= benchCase<std::int32_t>(spec(27, 29), false, copy);
    right &= benchCase<std::int64_t>(spec(20, 29), false, copy);
    DataSpec sparse = spec(27, 29);
    sparse.domain = KeyDomain::SPARSE;
    right &= benchCase<std::int64_t>(sparse, true, copy);
    for (const double zipf : {0.5, 1.0, 1.5}) {
        DataSpec skewed = spec(27, 29);
        skewed.zipf = zipf;
        right &= benchCase<std::int64_t>(skewed, false, copy);
    }
    DataSpec repeated = spec(27, 28);
    repeated.copies = 4;
    right &= benchCase<std::int64_t>(repeated, false, copy);
    DataSpec rare = spec(27, 29);
    rare.hitPercent = 10;
    right &= benchCase<std::int64_t>(rare, false, copy);
    return right ? 0 : 1;
}

bool benchBlocking(BlockingJoin& join, std::uint64_t probeRows) {
    const BlockingResult result = join.measure(probeRows, kRuns);
    std::vector<double> seconds;
    BlockingTimes mean;
    for (const BlockingTimes& times : result.rounds) {
        seconds.push_back(times.totalMs() / 1e3);
        mean.copyInMs += times.copyInMs / kRuns;
        mean.joinMs += times.joinMs / kRuns;
        mean.copyBackMs += times.copyBackMs / kRuns;
    }
    ResultLine("blocking-join")
        .with("build_rows", join.spec().buildRows)
        .with("probe_rows", probeRows)
        .with("chunk_rows", join.spec().chunkRows)
        .with("device_bytes", std::uint64_t{join.deviceBytes()})
        .rounds("s", seconds)
        .checked(result.right, result.digest.count, result.digest.sum)
        .with("copy_in_ms", mean.copyInMs)
        .with("join_ms", mean.joinMs)
        .with("copy_back_ms", mean.copyBackMs)
        .print();
    return result.right;
}

int benchBlockingAll(const BlockingSpec& spec, const std::vector<std::uint64_t>& probeRows) {
    bool whole = spec.sourceRows != 0 && spec.chunkRows % spec.sourceRows == 0;
    for (const std::uint64_t rows : probeRows) {
        whole = whole && rows % spec.sourceRows == 0;
    }
    if (!whole) {
        std::fprintf(stderr, "chunks and probe sides are whole sources: source=%llu chunk=%llu\n",
                     (unsigned long long)spec.sourceRows, (unsigned long long)spec.chunkRows);
        return 2;
    }
    BlockingJoin join(spec);
    bool right = true;
    for (const std::uint64_t rows : probeRows) {
        right &= benchBlocking(join, rows);
    }
    return right ? 0 : 1;
}

int usage() {
    std::fprintf(stderr,
                 "usage: gpu_bench check [max rows] | ceilings | resident LOG2 targets|all COPY | "
                 "blocking BUILD SOURCE CHUNK PROBE... (numbers of rows; LOG2 from 20 to 30)\n");
    return 2;
}

int run(int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
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
        std::vector<std::uint64_t> probeRows;
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
