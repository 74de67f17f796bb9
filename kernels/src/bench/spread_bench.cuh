// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Measures joins of tables that are spread over devices.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "bulk_line.h"
#include "device_memory.h"
#include "repartition_runner.cuh"
#include "repartitioned_join.h"
#include "resident_join.h"
#include "spread_tables.cuh"

namespace gpujoin::bench {

using resident::ExchangeMode;

inline uint64_t sumOf(const std::vector<uint64_t>& counts) {
    uint64_t sum = 0;
    for (uint64_t count : counts) {
        sum += count;
    }
    return sum;
}

template <typename Word>
bool isRight(const SpreadMatches<Word>& matches, const Digest& expected) {
    Digest got = matches.digest();
    uint64_t counted = sumOf(matches.counts());
    bool correct = got == expected && counted == expected.count;
    if (!correct) {
        std::printf("  WRONG: count=%llu counter=%llu expected=%llu\n", got.count,
                    (unsigned long long)counted, expected.count);
    }
    return correct;
}

template <typename Word>
bool benchRepartitioned(const SpreadTables<Word>& tables, const BulkCase& measured,
                        const SpreadMatches<Word>& matches, const Digest& expected,
                        ExchangeMode mode, uint32_t chunks, int runs) {
    const DataSpec& spec = tables.spec();
    RepartitionedRunner<Word> runner(tables, matches, mode, chunks);
    matches.poison();
    runner.run();
    bool correct = isRight(matches, expected);
    std::vector<double> rounds;
    for (int run = 0; run < runs; run++) {
        rounds.push_back(static_cast<double>(spec.buildRows + spec.probeRows) / runner.run() / 1e9);
    }
    ResultLine line =
        bulkLine("repartitioned", measured, tables.memberDevices().size(), 8 * sizeof(Word));
    line.with("exchange", nameOf(mode)).with("chunks", uint64_t{runner.plannedChunks()});
    double enqueueMs = runner.lastEnqueueMs();
    runner.addTimeline(line);
    correct &= isRight(matches, expected);
    line.rounds("Gtuples/s", rounds)
        .checked(correct, expected.count, matches.digest().sum)
        .with("enqueue_ms", enqueueMs)
        .with("workspace_bytes", runner.workspaceBytes());
    std::vector<uint64_t> counts = matches.counts();
    line.with("most_matches", *std::max_element(counts.begin(), counts.end()));
    line.print();
    return correct;
}

// The replicated join: every device copies the build parts of its peers, and joins its own probe
// rows with the whole table.
template <typename Word>
bool benchReplicated(const SpreadTables<Word>& tables, const BulkCase& measured,
                     const SpreadMatches<Word>& matches, const Digest& expected, int runs) {
    const DataSpec& spec = tables.spec();
    const std::vector<int>& devices = tables.memberDevices();
    struct Replica {
        Replica(int device, const DataSpec& spec, uint64_t probeRows, size_t members)
            : keys(spec.buildRows),
              payloads(spec.buildRows),
              workspace(resident::workspaceBytes<Word>(spec.buildRows, probeRows)),
              copied(members),
              stream(device) {
            for (size_t m = 0; m < members; m++) {
                copies.push_back(std::make_unique<MemberStream>(device));
            }
        }
        DeviceArray<Word> keys;
        DeviceArray<Word> payloads;
        DeviceArray<unsigned char> workspace;
        std::vector<Event> copied;
        std::vector<std::unique_ptr<MemberStream>> copies;
        MemberStream stream;
    };
    std::vector<std::unique_ptr<Replica>> replicas;
    for (size_t n = 0; n < devices.size(); n++) {
        CUDA_CHECK(cudaSetDevice(devices[n]));
        replicas.push_back(
            std::make_unique<Replica>(devices[n], spec, tables.probe(n).rows, devices.size()));
    }
    auto run = [&] {
        synchronize(devices);
        auto start = std::chrono::steady_clock::now();
        for (size_t n = 0; n < devices.size(); n++) {
            CUDA_CHECK(cudaSetDevice(devices[n]));
            Replica& replica = *replicas[n];
            uint64_t first = 0;
            for (size_t m = 0; m < devices.size(); m++) {
                resident::TableView<Word> part = tables.build(m);
                cudaStream_t copies = replica.copies[m]->get();
                size_t bytes = part.rows * sizeof(Word);
                CUDA_CHECK(cudaMemcpyAsync(replica.keys.data() + first, part.keys, bytes,
                                           cudaMemcpyDefault, copies));
                CUDA_CHECK(cudaMemcpyAsync(replica.payloads.data() + first, part.payloads, bytes,
                                           cudaMemcpyDefault, copies));
                CUDA_CHECK(cudaEventRecord(replica.copied[m].get(), copies));
                CUDA_CHECK(cudaStreamWaitEvent(replica.stream.get(), replica.copied[m].get(), 0));
                first += part.rows;
            }
            resident::joinResident(
                resident::TableView<Word>{replica.keys.data(), replica.payloads.data(), first},
                tables.probe(n), matches.of(n).columns(), replica.workspace.data(),
                replica.workspace.lengthBytes(), replica.stream.get());
        }
        synchronize(devices);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    matches.poison();
    run();
    bool correct = isRight(matches, expected);
    std::vector<double> rounds;
    for (int i = 0; i < runs; i++) {
        rounds.push_back(static_cast<double>(spec.buildRows + spec.probeRows) / run() / 1e9);
    }
    bulkLine("replicated", measured, devices.size(), 8 * sizeof(Word))
        .rounds("Gtuples/s", rounds)
        .checked(correct, expected.count, matches.digest().sum)
        .print();
    return correct;
}

}  // namespace gpujoin::bench
