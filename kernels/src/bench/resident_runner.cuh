// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs resident joins of generated tables, and measures their steps.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "device_memory.h"
#include "resident_join.h"
#include "tables.cuh"

namespace gpujoin::bench {

constexpr const char* RESIDENT_STEP_NAMES[resident::JOIN_STEP_COUNT] = {
    "build_pass_1_ms", "build_pass_2_ms", "probe_pass_1_ms", "probe_pass_2_ms", "join_ms"};

struct ResidentTiming {
    double totalMs = 0;
    double stepMs[resident::JOIN_STEP_COUNT] = {};
};

template <typename Word>
class ResidentRunner {
  public:
    explicit ResidentRunner(const Tables<Word>& tables)
        : tables(tables),
          workspace(
              resident::workspaceBytes<Word>(tables.spec().buildRows, tables.spec().probeRows)) {}

    ResidentTiming run(const Matches<Word>& matches) {
        Event start;
        Event ends[resident::JOIN_STEP_COUNT];
        resident::JoinTrace trace;
        for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
            trace.stepEnds[i] = ends[i].get();
        }
        start.record();
        resident::JoinStatus status = resident::joinResident(
            tables.build(), tables.probe(), matches.columns(), workspace.data(),
            workspace.lengthBytes(), cudaStream_t{}, trace);
        if (status != resident::JoinStatus::OK) {
            std::fprintf(stderr, "The join failed: %s.\n", resident::describe(status));
            std::exit(1);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        ResidentTiming timing;
        timing.totalMs = ends[resident::JOIN_STEP_COUNT - 1].millisecondsSince(start);
        for (int i = 0; i < resident::JOIN_STEP_COUNT; i++) {
            timing.stepMs[i] = ends[i].millisecondsSince(i == 0 ? start : ends[i - 1]);
        }
        return timing;
    }

    size_t workspaceBytes() const { return workspace.lengthBytes(); }

  private:
    const Tables<Word>& tables;
    DeviceArray<unsigned char> workspace;
};

}  // namespace gpujoin::bench
