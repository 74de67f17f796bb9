// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Measures the sort-merge peer.
#pragma once

#include <vector>

#include "device_memory.h"
#include "sort_merge_peer.h"
#include "tables.cuh"

namespace gpujoin::bench {

inline double tuplesOf(const DataSpec& spec) {
    return static_cast<double>(spec.buildRows + spec.probeRows);
}

// Returns the rates of `runs` joins after a warm-up, in 10^9 tuples a second. The results of the
// last one are in `matches`.
template <typename Word>
std::vector<double> peerRounds(const Tables<Word>& tables, const Matches<Word>& matches, int runs) {
    const DataSpec& spec = tables.spec();
    SortMergePeer<Word> peer(spec.buildRows, spec.probeRows,
                             spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word));
    std::vector<double> rounds;
    matches.poison();
    for (int run = 0; run <= runs; run++) {
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
    return rounds;
}

}  // namespace gpujoin::bench
