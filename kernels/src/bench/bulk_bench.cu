// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The workloads of the papers that this project follows, by all joins of tables in device memory.
//
//   bulk_bench papers LOG2 [DEVICES]   LOG2 is 29 for the sizes of the papers; each less halves them.
//                                      Without DEVICES: on 1, 2, 4 and 8, as far as there are
//
// On one device: the resident join, the sort-merge join, and the sort-merge join of CUB. On 2, 4 or 8:
// the repartitioned and the replicated hash join, and the sort-merge join. Cases that do not fit the
// memory of the devices are named and left out. Each prints a ResultLine of three runs after a
// warm-up, with the times of its phases; G tuples/s is (build rows + probe rows) / seconds / 10^9.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bulk_line.h"
#include "paper_cases.h"
#include "resident_runner.cuh"
#include "sharded_bench.h"
#include "sharded_sort_merge.h"
#include "sort_merge_runner.cuh"
#include "spread_bench.cuh"

namespace gpujoin::bench {
namespace {

constexpr int RUNS = 3;

// Memory of a device that contexts and small buffers need.
constexpr uint64_t SPARE_BYTES = uint64_t{1} << 30;

uint64_t freeBytes() {
    size_t unused = 0;
    size_t total = 0;
    CUDA_CHECK(cudaMemGetInfo(&unused, &total));
    return unused < SPARE_BYTES ? 0 : unused - SPARE_BYTES;
}

// Bytes of the tables and, if each probe row has the expected number of matches, of the result.
template <typename Word>
uint64_t tableBytes(const DataSpec& spec) {
    uint64_t matches = spec.probeRows * spec.copies * spec.hitPercent / 100;
    return sizeof(Word) * (2 * (spec.buildRows + spec.probeRows) + 3 * matches);
}

bool fits(const char* algorithm, const BulkCase& measured, uint64_t needed) {
    uint64_t available = freeBytes();
    if (needed > available) {
        std::printf("  %s %s does not fit: rows=%llu x %llu, bytes=%llu, available=%llu\n",
                    measured.source.c_str(), algorithm, (unsigned long long)measured.spec.buildRows,
                    (unsigned long long)measured.spec.probeRows, (unsigned long long)needed,
                    (unsigned long long)available);
    }
    return needed <= available;
}

template <typename Word>
bool benchResident(const Tables<Word>& tables, const BulkCase& measured, const Digest& expected,
                   const Matches<Word>& matches) {
    ResidentRunner<Word> runner(tables);
    matches.poison();
    runner.run(matches);
    std::vector<double> rounds;
    double stepMs[resident::JOIN_STEP_COUNT] = {};
    for (int run = 0; run < RUNS; run++) {
        ResidentTiming timing = runner.run(matches);
        rounds.push_back(tuplesOf(measured.spec) / timing.totalMs / 1e6);
        for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
            stepMs[i] += timing.stepMs[i] / RUNS;
        }
    }
    bool correct = matches.digest() == expected && matches.count() == expected.count;
    ResultLine line = bulkLine("resident", measured, 1, 8 * sizeof(Word));
    line.rounds("Gtuples/s", rounds)
        .checked(correct, matches.count(), matches.digest().sum)
        .with("workspace_bytes", uint64_t{runner.workspaceBytes()});
    for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
        line.with(RESIDENT_STEP_NAMES[i], stepMs[i]);
    }
    line.print();
    return correct;
}

// CUB needs a second copy of both tables.
template <typename Word>
uint64_t peerBytes(const DataSpec& spec) {
    return 2 * sizeof(Word) * (spec.buildRows + spec.probeRows) * 11 / 10;
}

template <typename Word>
bool benchOnOne(const BulkCase& measured) {
    const DataSpec& spec = measured.spec;
    uint64_t bytes = tableBytes<Word>(spec);
    uint64_t resident = resident::workspaceBytes<Word>(spec.buildRows, spec.probeRows);
    uint64_t sorted = sortmerge::workspaceBytes<Word>(spec.buildRows, spec.probeRows);
    uint64_t peer = peerBytes<Word>(spec);
    bool fitsResident = fits("resident", measured, bytes + resident);
    bool fitsSorted = fits("sort-merge", measured, bytes + sorted);
    bool fitsPeer = fits("cub-sort-merge", measured, bytes + peer);
    if (!fitsResident && !fitsSorted && !fitsPeer) {
        return true;
    }
    Tables<Word> tables(spec);
    Digest expected = tables.expected(true);
    Matches<Word> matches(expected.count, true);
    bool correct = true;
    if (fitsResident) {
        correct &= benchResident(tables, measured, expected, matches);
    }
    if (fitsSorted) {
        correct &= benchSortMerge(tables, measured, expected, matches, RUNS);
    }
    if (fitsPeer) {
        correct &= benchPeer(tables, measured, expected, matches, RUNS);
    }
    return correct;
}

template <typename Word>
bool benchHashed(const BulkCase& measured, const std::vector<int>& devices) {
    const DataSpec& spec = measured.spec;
    size_t count = devices.size();
    auto group = resident::ExchangeGroup::open(devices, ExchangeMode::PEER_STORES);
    uint64_t workspace = group == nullptr ? 0
                                          : group->workspaceBytes<Word>(
                                                partRows(spec.buildRows, count, Split::EVEN),
                                                partRows(spec.probeRows, count, Split::EVEN), 0);
    group.reset();
    // Frequent keys go to one device, whose results must fit too.
    uint64_t share = tableBytes<Word>(spec) / (spec.zipf > 0 ? 1 : count);
    if (!fits("repartitioned", measured, workspace + share * 17 / 16)) {
        return true;
    }
    SpreadTables<Word> tables(spec, devices, Split::EVEN);
    Digest expected = tables.expected();
    uint64_t matchShare = expected.count / count;
    SpreadMatches<Word> matches(
        devices, spec.zipf > 0 ? expected.count : matchShare + matchShare / 16 + 65536);
    bool correct =
        benchRepartitioned(tables, measured, matches, expected, ExchangeMode::PEER_STORES, 0, RUNS);
    CUDA_CHECK(cudaSetDevice(0));
    uint64_t replica = resident::workspaceBytes<Word>(spec.buildRows, tables.probe(0).rows) +
                       2 * sizeof(Word) * spec.buildRows;
    if (fits("replicated", measured, replica)) {
        correct &= benchReplicated(tables, measured, matches, expected, RUNS);
    }
    return correct;
}

template <typename Word>
bool benchOnSeveral(const BulkCase& measured, const std::vector<int>& devices) {
    CUDA_CHECK(cudaSetDevice(0));
    bool correct = benchHashed<Word>(measured, devices);
    CUDA_CHECK(cudaSetDevice(0));
    const DataSpec& spec = measured.spec;
    auto count = static_cast<uint32_t>(devices.size());
    uint64_t workspace =
        sortmerge::shardWorkspaceBytes<Word>({spec.buildRows, spec.probeRows}, count);
    uint64_t share = tableBytes<Word>(spec) * 3 / 2 / (spec.zipf > 0 ? 1 : count);
    if (fits("sort-merge", measured, workspace + share)) {
        correct &= benchSharded<Word>(measured, static_cast<int>(count));
    }
    return correct;
}

template <typename Word>
bool bench(const BulkCase& measured, const std::vector<int>& devices) {
    return devices.size() == 1 ? benchOnOne<Word>(measured)
                               : benchOnSeveral<Word>(measured, devices);
}

bool benchPapers(uint32_t halvings, int deviceCount) {
    std::vector<int> devices;
    for (int d = 0; d < deviceCount; d++) {
        devices.push_back(d);
    }
    bool correct = true;
    for (const PaperCase& paper : paperCases(static_cast<uint64_t>(deviceCount))) {
        BulkCase measured = paper.measured;
        measured.spec.buildRows >>= halvings;
        measured.spec.probeRows >>= halvings;
        correct &= paper.wordBits == 32 ? bench<int32_t>(measured, devices)
                                        : bench<int64_t>(measured, devices);
    }
    return correct;
}

int usage() {
    std::fprintf(
        stderr,
        "usage: bulk_bench papers LOG2 [DEVICES] (LOG2 from 20 to 29; 1, 2, 4 or 8 devices)\n");
    return 2;
}

int run(int argc, char** argv) {
    uint64_t log2 = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    uint64_t only = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    bool isPower = only >= 1 && only <= 8 && (only & (only - 1)) == 0;
    if (argc < 3 || argc > 4 || std::string(argv[1]) != "papers" || log2 < 20 || log2 > 29 ||
        !isPower) {
        return usage();
    }
    int present = 0;
    CUDA_CHECK(cudaGetDeviceCount(&present));
    bool correct = true;
    for (int devices : {1, 2, 4, 8}) {
        if (argc == 4 ? devices == static_cast<int>(only) : devices <= present) {
            correct &= benchPapers(static_cast<uint32_t>(29 - log2), devices);
        }
    }
    return correct ? 0 : 1;
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) { return gpujoin::bench::run(argc, argv); }
