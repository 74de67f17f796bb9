// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs sort-merge joins of generated tables on one device, and measures their steps.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bulk_line.h"
#include "device_memory.h"
#include "peer_rounds.cuh"
#include "sort_merge_join.h"
#include "tables.cuh"

namespace gpujoin::bench {

constexpr const char* SORT_STEP_NAMES[sortmerge::TABLE_STEPS] = {
    "check", "sample_1", "count_1", "pass_1", "sample_2", "count_2", "pass_2", "sort"};

// Returns the key of a step's duration.
inline std::string nameOfStep(int step) {
    if (step == sortmerge::MERGE_STEP) {
        return "merge_ms";
    }
    const char* table = step < sortmerge::TABLE_STEPS ? "build_" : "probe_";
    return std::string(table) + SORT_STEP_NAMES[step % sortmerge::TABLE_STEPS] + "_ms";
}

struct SortMergeTiming {
    double totalMs = 0;
    double stepMs[sortmerge::JOIN_STEP_COUNT] = {};
};

// Counts the result rows whose key is less than that of the row before.
template <typename Word>
__global__ void countInversions(resident::MatchColumns<Word> matches, unsigned long long* result) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    uint64_t rows =
        *matches.matchCount < matches.capacityRows ? *matches.matchCount : matches.capacityRows;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i + 1 < rows; i += stride) {
        if (matches.keys[i] > matches.keys[i + 1]) {
            atomicAdd(result, 1ull);
        }
    }
}

template <typename Word>
unsigned long long inversionsOf(const resident::MatchColumns<Word>& matches) {
    DeviceArray<unsigned long long> count(1);
    CUDA_CHECK(cudaMemset(count.data(), 0, count.lengthBytes()));
    countInversions<<<FILL_BLOCKS, FILL_THREADS>>>(matches, count.data());
    unsigned long long result;
    CUDA_CHECK(cudaMemcpy(&result, count.data(), sizeof(result), cudaMemcpyDeviceToHost));
    return result;
}

template <typename Word>
class SortMergeRunner {
  public:
    explicit SortMergeRunner(const Tables<Word>& tables)
        : tables(tables),
          workspace(
              sortmerge::workspaceBytes<Word>(tables.spec().buildRows, tables.spec().probeRows)) {}

    SortMergeTiming run(const resident::MatchColumns<Word>& columns) {
        Event start;
        Event ends[sortmerge::JOIN_STEP_COUNT];
        sortmerge::JoinTrace trace;
        for (int i = 0; i < sortmerge::JOIN_STEP_COUNT; i++) {
            trace.stepEnds[i] = ends[i].get();
        }
        start.record();
        sortmerge::JoinStatus status =
            sortmerge::joinSorted(tables.build(), tables.probe(), columns, workspace.data(),
                                  workspace.lengthBytes(), cudaStream_t{}, trace);
        if (status != sortmerge::JoinStatus::OK) {
            std::fprintf(stderr, "The join failed: %s.\n", resident::describe(status));
            std::exit(1);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        SortMergeTiming timing;
        timing.totalMs = ends[sortmerge::JOIN_STEP_COUNT - 1].millisecondsSince(start);
        for (int i = 0; i < sortmerge::JOIN_STEP_COUNT; i++) {
            timing.stepMs[i] = ends[i].millisecondsSince(i == 0 ? start : ends[i - 1]);
        }
        return timing;
    }

    size_t workspaceBytes() const { return workspace.lengthBytes(); }

  private:
    const Tables<Word>& tables;
    DeviceArray<unsigned char> workspace;
};

template <typename Word>
bool isCorrect(const Matches<Word>& matches, const Digest& expected) {
    Digest got = matches.digest();
    unsigned long long inversions = inversionsOf(matches.columns());
    bool correct = got == expected && matches.count() == expected.count && inversions == 0;
    if (!correct) {
        std::printf(
            "  WRONG rows=%llu counter=%llu expected=%llu sum=%016llx expected=%016llx "
            "inversions=%llu\n",
            got.count, (unsigned long long)matches.count(), expected.count, got.sum, expected.sum,
            inversions);
    }
    return correct;
}

template <typename Word>
bool benchSortMerge(const Tables<Word>& tables, const BulkCase& measured, const Digest& expected,
                    const Matches<Word>& matches, int runs) {
    SortMergeRunner<Word> runner(tables);
    matches.poison();
    runner.run(matches.columns());
    std::vector<double> rounds;
    double stepMs[sortmerge::JOIN_STEP_COUNT] = {};
    for (int run = 0; run < runs; run++) {
        SortMergeTiming timing = runner.run(matches.columns());
        rounds.push_back(tuplesOf(measured.spec) / timing.totalMs / 1e6);
        for (int i = 0; i < sortmerge::JOIN_STEP_COUNT; i++) {
            stepMs[i] += timing.stepMs[i] / runs;
        }
    }
    bool correct = isCorrect(matches, expected);
    ResultLine line = bulkLine("sort-merge", measured, 1, 8 * sizeof(Word));
    line.rounds("Gtuples/s", rounds)
        .checked(correct, matches.count(), matches.digest().sum)
        .with("workspace_bytes", uint64_t{runner.workspaceBytes()});
    for (int i = 0; i < sortmerge::JOIN_STEP_COUNT; i++) {
        line.with(nameOfStep(i).c_str(), stepMs[i]);
    }
    line.print();
    return correct;
}

template <typename Word>
bool benchPeer(const Tables<Word>& tables, const BulkCase& measured, const Digest& expected,
               const Matches<Word>& matches, int runs) {
    std::vector<double> rounds = peerRounds(tables, matches, runs);
    bool correct = matches.digest() == expected && matches.count() == expected.count;
    bulkLine("cub-sort-merge", measured, 1, 8 * sizeof(Word))
        .rounds("Gtuples/s", rounds)
        .checked(correct, matches.count(), matches.digest().sum)
        .print();
    return correct;
}

}  // namespace gpujoin::bench
