// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs semi-joins and owns their workspace.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "device_memory.h"
#include "semi_join.h"

namespace gpujoin::bench {

// The phases of a run, between their events, and the whole run as the host sees it: from its start
// until the host has the counts.
struct SemiJoinTimes {
    double selectMs = 0;
    double buildMs = 0;
    double probeMs = 0;
    double resultMs = 0;
    double totalMs = 0;
};

template <typename Word>
class SemiJoinRunner {
  public:
    // The caller sets sides, kind and key set, and of the result only the groups and their number.
    // `capacityRows` is the number of result rows to list.
    SemiJoinRunner(const semijoin::SemiJoinCall<Word>& described, uint64_t capacityRows)
        : call(described), counts(described.result.groupCount), rows(capacityRows), report(1) {
        CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
        call.report = report.data();
        call.result.counts = counts.data();
        call.result.rows = rows.data();
        call.result.capacityRows = capacityRows;
    }

    // The first run allocates the workspace, so its total is no measurement.
    SemiJoinTimes run() {
        auto begin = std::chrono::steady_clock::now();
        call.planKeySet(select());
        if (keySet == nullptr || keySet->count() < call.keySetBytes) {
            keySet = std::make_unique<DeviceArray<unsigned char>>(call.keySetBytes);
        }
        call.keySetMemory = keySet->data();
        events[2].record();
        semijoin::enqueueBuild(call, multiprocessors, nullptr);
        events[3].record();
        semijoin::enqueueProbe(call, multiprocessors, nullptr);
        events[4].record();
        semijoin::enqueueResult(call, multiprocessors, nullptr);
        events[5].record();
        CUDA_CHECK(cudaPeekAtLastError());
        hostCounts.resize(counts.count());
        CUDA_CHECK(cudaMemcpy(hostCounts.data(), counts.data(), counts.lengthBytes(),
                              cudaMemcpyDeviceToHost));
        std::chrono::duration<double, std::milli> total = std::chrono::steady_clock::now() - begin;
        return {events[1].millisecondsSince(events[0]), events[3].millisecondsSince(events[2]),
                events[4].millisecondsSince(events[3]), events[5].millisecondsSince(events[4]),
                total.count()};
    }

    // Of the last run.
    const std::vector<uint64_t>& groupCounts() const { return hostCounts; }
    const semijoin::SemiJoinCall<Word>& lastCall() const { return call; }
    semijoin::SemiJoinReport fetchReport() const {
        semijoin::SemiJoinReport result;
        CUDA_CHECK(cudaMemcpy(&result, report.data(), sizeof(result), cudaMemcpyDeviceToHost));
        return result;
    }
    // The numbers of the listed result rows.
    std::vector<uint32_t> resultRows() const {
        std::vector<uint32_t> numbers(fetchReport().resultRows);
        CUDA_CHECK(cudaMemcpy(numbers.data(), rows.data(), numbers.size() * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost));
        return numbers;
    }

  private:
    // Repeats the selection if more rows than expected satisfy the condition. Changed expectations
    // may also exchange the sides.
    semijoin::KeyStatistics select() {
        for (;;) {
            call.planSelection();
            if (selection == nullptr || selection->count() < call.selectionBytes) {
                selection = std::make_unique<DeviceArray<unsigned char>>(call.selectionBytes);
            }
            call.selectionMemory = selection->data();
            events[0].record();
            semijoin::enqueueSelection(call, multiprocessors, nullptr);
            events[1].record();
            semijoin::KeyStatistics selected = fetchReport().selected;
            if (selected.rows <= call.selectionCapacityRows()) {
                return selected;
            }
            (call.buildSide == semijoin::Side::LEFT ? call.left : call.right).expectedRows =
                selected.rows;
        }
    }

    semijoin::SemiJoinCall<Word> call;
    DeviceArray<uint64_t> counts;
    DeviceArray<uint32_t> rows;
    DeviceArray<semijoin::SemiJoinReport> report;
    std::unique_ptr<DeviceArray<unsigned char>> selection;
    std::unique_ptr<DeviceArray<unsigned char>> keySet;
    std::vector<uint64_t> hostCounts;
    Event events[6];
    int multiprocessors = 0;
};

}  // namespace gpujoin::bench
