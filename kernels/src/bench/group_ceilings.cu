// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Limits of a host with several devices, for the performance model.
//
//   group_ceilings    measures all visible devices together; needs two or more with peer access
//
//   device-exchange   atomic exchanges at random addresses of 8 GiB of one device, 10^9 a second
//   host-read         kernels of the first N devices read mapped host memory at once, in all
//   peer-copy         each device copies to the next one at once, a device
//   peer-store        kernels store runs of 128 bytes at random places of the next device, a device
//   group-store       the same at random places of all other devices, a device
//   peer-gather       kernels load 16 bytes at random addresses of the next device, a device
//   group-gather      kernels load 16 bytes at random addresses of all devices, a device
//
// Rates are in 10^9 units a second. Each case prints a ResultLine of five runs after a warm-up.

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "device_memory.h"
#include "result_line.h"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr uint64_t DEVICE_BYTES = uint64_t{8} << 30;
constexpr uint64_t HOST_BYTES = uint64_t{2} << 30;
constexpr uint64_t WORDS = DEVICE_BYTES / sizeof(uint4);
constexpr uint64_t HOST_WORDS = HOST_BYTES / sizeof(uint4);
constexpr int MAX_DEVICES = 8;
constexpr int THREADS = 512;
constexpr int BUS_BLOCKS = 528;
constexpr unsigned BLOCKS = 1u << 15;
constexpr int PER_THREAD = 16;
constexpr double ACCESSES = double{BLOCKS} * THREADS * PER_THREAD;
constexpr int RUN_WORDS = 8;  // 128 bytes
constexpr int ROUNDS = 5;

// Where kernels find the memory of the devices that they access.
struct Targets {
    uint4* memory[MAX_DEVICES];
    unsigned count;
};

__global__ void exchangeWords(uint4* target) {
    uint64_t thread = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    unsigned long long sum = 0;
    for (int k = 0; k < PER_THREAD; k++) {
        auto* word = reinterpret_cast<unsigned long long*>(
            target + (mix(thread * PER_THREAD + k) & (WORDS - 1)));
        sum += atomicExch(word, thread);
    }
    if (sum == 0x123456789ull) {
        target->x = 1;
    }
}

__global__ void readWords(const uint4* source, unsigned* target) {
    uint64_t stride = uint64_t{gridDim.x} * THREADS;
    unsigned sum = 0;
    uint64_t at = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (; at + 3 * stride < HOST_WORDS; at += 4 * stride) {
        const uint4 a = source[at];
        const uint4 b = source[at + stride];
        const uint4 c = source[at + 2 * stride];
        const uint4 d = source[at + 3 * stride];
        sum += (a.x ^ b.y) + (c.z ^ d.w);
    }
    if (sum == 0x12345678u) {
        *target = sum;
    }
}

// Eight neighbouring threads store one run of 128 bytes.
__global__ void storeRuns(Targets targets, unsigned salt) {
    uint64_t thread = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    uint64_t lane = thread % RUN_WORDS;
    for (int k = 0; k < PER_THREAD; k++) {
        uint64_t hash = mix((thread / RUN_WORDS) * PER_THREAD + k + salt);
        uint4* memory = targets.memory[(hash >> 48) % targets.count];
        uint64_t run = hash & (WORDS / RUN_WORDS - 1);
        memory[run * RUN_WORDS + lane] = make_uint4(salt, 1, 2, 3);
    }
}

__global__ void gatherWords(Targets targets, unsigned* target) {
    uint64_t thread = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        uint64_t hash = mix(thread * PER_THREAD + k);
        const uint4* memory = targets.memory[(hash >> 48) % targets.count];
        const uint4 w = __ldg(memory + (hash & (WORDS - 1)));
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    if (sum == 0x12345678u) {
        *target = sum;
    }
}

// Memory of the device that is current when it is made, and host memory that only it reads.
class Member {
  public:
    Member() : memory(WORDS), spare(WORDS), host(HOST_WORDS) {
        // Copies in default streams of both devices would wait for one another.
        CUDA_CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
        CUDA_CHECK(cudaMemset(memory.data(), 0x5A, memory.lengthBytes()));
        for (uint64_t i = 0; i < HOST_WORDS; i++) {
            host.data()[i] = make_uint4(static_cast<unsigned>(i), 1, 2, 3);
        }
    }

    ~Member() { cudaStreamDestroy(copies); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    DeviceArray<uint4> memory;
    DeviceArray<uint4> spare;
    PinnedArray<uint4> host;
    cudaStream_t copies = nullptr;
};

class Group {
  public:
    explicit Group(int count) {
        for (int i = 0; i < count; i++) {
            CUDA_CHECK(cudaSetDevice(i));
            members.push_back(std::make_unique<Member>());
            for (int peer = 0; peer < count; peer++) {
                if (peer != i) {
                    CUDA_CHECK(cudaDeviceEnablePeerAccess(peer, 0));
                }
            }
        }
    }

    int size() const { return static_cast<int>(members.size()); }
    Member& at(int i) const { return *members[i]; }
    Member& next(int i) const { return *members[(i + 1) % size()]; }

    Targets all() const {
        Targets targets{};
        for (int i = 0; i < size(); i++) {
            targets.memory[targets.count++] = at(i).memory.data();
        }
        return targets;
    }

    Targets othersOf(int i) const {
        Targets targets{};
        for (int other = 0; other < size(); other++) {
            if (other != i) {
                targets.memory[targets.count++] = at(other).memory.data();
            }
        }
        return targets;
    }

    Targets onlyNext(int i) const { return {{next(i).memory.data()}, 1}; }

    // Runs `work` on the first devices at once. A rate is `amount` a device over the time of all.
    void measure(const char* name, const char* unit, int devices, double amount,
                 const std::function<void(int)>& work) const {
        std::vector<double> rounds;
        for (int run = 0; run <= ROUNDS; run++) {
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < devices; i++) {
                CUDA_CHECK(cudaSetDevice(i));
                work(i);
                CUDA_CHECK(cudaGetLastError());
            }
            for (int i = 0; i < devices; i++) {
                CUDA_CHECK(cudaSetDevice(i));
                CUDA_CHECK(cudaDeviceSynchronize());
            }
            std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            if (run > 0) {
                rounds.push_back(amount / seconds.count() / 1e9);
            }
        }
        ResultLine(name).with("devices", uint64_t(devices)).rounds(unit, rounds).print();
    }

  private:
    std::vector<std::unique_ptr<Member>> members;
};

unsigned* sink(Member& member) { return reinterpret_cast<unsigned*>(member.spare.data()); }

void measureAll(const Group& group) {
    int count = group.size();
    group.measure("device-exchange", "G/s", 1, ACCESSES,
                  [&](int i) { exchangeWords<<<BLOCKS, THREADS>>>(group.at(i).memory.data()); });
    for (int devices = 1; devices <= count; devices++) {
        group.measure("host-read", "GB/s", devices, double(devices) * HOST_BYTES, [&](int i) {
            readWords<<<BUS_BLOCKS, THREADS>>>(group.at(i).host.data(), sink(group.at(i)));
        });
    }
    group.measure("peer-copy", "GB/s", count, DEVICE_BYTES, [&](int i) {
        CUDA_CHECK(cudaMemcpyAsync(group.next(i).spare.data(), group.at(i).memory.data(),
                                   DEVICE_BYTES, cudaMemcpyDefault, group.at(i).copies));
    });
    group.measure("peer-store", "GB/s", count, ACCESSES * sizeof(uint4),
                  [&](int i) { storeRuns<<<BLOCKS, THREADS>>>(group.onlyNext(i), i); });
    group.measure("group-store", "GB/s", count, ACCESSES * sizeof(uint4),
                  [&](int i) { storeRuns<<<BLOCKS, THREADS>>>(group.othersOf(i), i); });
    group.measure("peer-gather", "G/s", count, ACCESSES, [&](int i) {
        gatherWords<<<BLOCKS, THREADS>>>(group.onlyNext(i), sink(group.at(i)));
    });
    group.measure("group-gather", "G/s", count, ACCESSES,
                  [&](int i) { gatherWords<<<BLOCKS, THREADS>>>(group.all(), sink(group.at(i))); });
}

int run() {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    if (count < 2 || count > MAX_DEVICES) {
        std::fprintf(stderr,
                     "Two to %d devices are needed: devices=%d. Set CUDA_VISIBLE_DEVICES.\n",
                     MAX_DEVICES, count);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        int access = 0;
        CUDA_CHECK(cudaDeviceCanAccessPeer(&access, i, (i + 1) % count));
        if (!access) {
            std::fprintf(
                stderr,
                "Device cannot access its peer: device=%d, peer=%d. Use a host with NVLink.\n", i,
                (i + 1) % count);
            return 2;
        }
    }
    measureAll(Group(count));
    return 0;
}

}  // namespace
}  // namespace gpujoin::bench

int main() { return gpujoin::bench::run(); }
