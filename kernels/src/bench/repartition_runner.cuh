// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Runs repartitioned joins of generated tables, and measures when their steps end.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device_memory.h"
#include "repartitioned_join.h"
#include "result_line.h"
#include "spread_tables.cuh"

namespace gpujoin::bench {

inline const char* nameOf(resident::ExchangeMode mode) {
    return mode == resident::ExchangeMode::PEER_STORES ? "stores" : "copies";
}

inline void synchronize(const std::vector<int>& devices) {
    for (int device : devices) {
        CUDA_CHECK(cudaSetDevice(device));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
}

// Streams and events that belong to members of a group, by device.
class MemberStream {
  public:
    explicit MemberStream(int device) : device(device) {
        CUDA_CHECK(cudaSetDevice(device));
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    ~MemberStream() {
        cudaSetDevice(device);
        cudaStreamDestroy(stream);
    }
    MemberStream(const MemberStream&) = delete;
    MemberStream& operator=(const MemberStream&) = delete;

    cudaStream_t get() const { return stream; }

  private:
    int device;
    cudaStream_t stream = nullptr;
};

// Events at the ends of the steps of the first member.
class Timeline {
  public:
    explicit Timeline(uint32_t transfers) : events(3 * transfers) {
        for (uint32_t t = 0; t < transfers; t++) {
            trace.exchangeEnds.push_back(events[3 * t].get());
            trace.secondPassEnds.push_back(events[3 * t + 1].get());
            trace.joinEnds.push_back(events[3 * t + 2].get());
        }
    }

    const resident::TransferTrace& traced() const { return trace; }

    // Returns when the exchange, second pass or join (0, 1, 2) of each transfer ended.
    std::string ends(const Event& start, size_t step) const {
        std::string list;
        for (size_t t = 0; 3 * t < events.size(); t++) {
            char text[32];
            std::snprintf(text, sizeof(text), "%s%.2f", t == 0 ? "" : ",",
                          events[3 * t + step].millisecondsSince(start));
            list += text;
        }
        return list;
    }

  private:
    std::vector<Event> events;
    resident::TransferTrace trace;
};

template <typename Word>
class RepartitionedRunner {
  public:
    RepartitionedRunner(const SpreadTables<Word>& tables, const SpreadMatches<Word>& matches,
                        resident::ExchangeMode mode, uint32_t chunks)
        : devices(tables.memberDevices()),
          group(resident::ExchangeGroup::open(devices, mode)),
          chunks(chunks) {
        if (group == nullptr) {
            std::fprintf(stderr, "The devices cannot exchange rows: members=%zu, mode=%s\n",
                         devices.size(), nameOf(mode));
            std::exit(1);
        }
        for (size_t n = 0; n < devices.size(); n++) {
            CUDA_CHECK(cudaSetDevice(devices[n]));
            workspaces.push_back(
                std::make_unique<DeviceArray<unsigned char>>(group->workspaceBytes<Word>(
                    tables.buildParts(), tables.probeParts(), n, chunks, &planned)));
            streams.push_back(std::make_unique<MemberStream>(devices[n]));
            members.push_back({devices[n], tables.build(n), tables.probe(n),
                               matches.of(n).columns(), workspaces[n]->data(),
                               workspaces[n]->lengthBytes(), streams[n]->get()});
        }
    }

    // Returns the seconds that all devices took.
    double run(const std::vector<resident::TransferTrace>& traces = {}) {
        synchronize(devices);
        auto start = std::chrono::steady_clock::now();
        resident::JoinStatus status = group->join(members, chunks, traces);
        if (status != resident::JoinStatus::OK) {
            std::fprintf(stderr, "The join failed: %s, error=%s\n", resident::describe(status),
                         cudaGetErrorString(cudaPeekAtLastError()));
            std::exit(1);
        }
        double enqueued =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        synchronize(devices);
        enqueueMs = enqueued * 1e3;
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    // Runs once more and adds when the steps of the first member ended.
    void addTimeline(ResultLine& line) {
        CUDA_CHECK(cudaSetDevice(devices[0]));
        Timeline timeline(planned + 1);
        Event start;
        synchronize(devices);
        CUDA_CHECK(cudaSetDevice(devices[0]));
        CUDA_CHECK(cudaEventRecord(start.get(), streams[0]->get()));
        run({timeline.traced()});
        line.with("exchange_ends_ms", timeline.ends(start, 0))
            .with("second_pass_ends_ms", timeline.ends(start, 1))
            .with("join_ends_ms", timeline.ends(start, 2));
    }

    uint32_t plannedChunks() const { return planned; }
    double lastEnqueueMs() const { return enqueueMs; }
    uint64_t workspaceBytes() const { return workspaces[0]->lengthBytes(); }

  private:
    std::vector<int> devices;
    std::unique_ptr<resident::ExchangeGroup> group;
    uint32_t chunks;
    uint32_t planned = 0;
    double enqueueMs = 0;
    std::vector<std::unique_ptr<DeviceArray<unsigned char>>> workspaces;
    std::vector<std::unique_ptr<MemberStream>> streams;
    std::vector<resident::JoinMember<Word>> members;
};

}  // namespace gpujoin::bench
