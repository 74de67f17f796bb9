// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Kernels and copies that measure the limits of the machine.

#include "ceilings.h"

#include <functional>

#include "../main/cuda/engine/attributes.h"
#include "device_memory.h"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr uint64_t DEVICE_BYTES = uint64_t{8} << 30;
constexpr uint64_t HOST_BYTES = uint64_t{1} << 30;
constexpr int THREADS = 512;
constexpr int COPY_ROWS = 4;
constexpr int BUS_BLOCKS = 528;
// More outstanding reads than these blocks issue cost 1 to 5 % in both directions.
constexpr int BOTH_WAYS_BLOCKS = 66;
constexpr int ROUNDS = 5;

__global__ void copyWords(const uint4* source, uint4* target) {
    uint64_t first = uint64_t{blockIdx.x} * THREADS * COPY_ROWS + threadIdx.x;
    uint4 words[COPY_ROWS];
    GPUJOIN_UNROLL
    for (int k = 0; k < COPY_ROWS; k++) {
        words[k] = __ldcs(source + first + k * THREADS);
    }
    GPUJOIN_UNROLL
    for (int k = 0; k < COPY_ROWS; k++) {
        __stcs(target + first + k * THREADS, words[k]);
    }
}

__global__ void gatherWords(const uint4* source, uint64_t words, unsigned* target) {
    unsigned sum = 0;
    uint64_t thread = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    GPUJOIN_UNROLL
    for (int k = 0; k < 16; k++) {
        const uint4 w = __ldg(source + (mix(thread * 16 + k) & (words - 1)));
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    if (sum == 0x12345678u) {
        *target = sum;
    }
}

// Each thread has four outstanding loads, as many as in a serving block.
__global__ void readWords(const uint4* source, uint64_t words, unsigned* target) {
    uint64_t stride = uint64_t{gridDim.x} * THREADS;
    unsigned sum = 0;
    uint64_t at = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (; at + 3 * stride < words; at += 4 * stride) {
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

__global__ void writeWords(uint4* target, uint64_t words, unsigned value) {
    uint64_t stride = uint64_t{gridDim.x} * THREADS;
    for (uint64_t at = uint64_t{blockIdx.x} * THREADS + threadIdx.x; at < words; at += stride) {
        target[at] = make_uint4(value, value + 1, value + 2, static_cast<unsigned>(at));
    }
}

__global__ void copyBothWays(const uint4* source, uint4* target, uint64_t words) {
    uint64_t stride = uint64_t{gridDim.x} * THREADS;
    uint64_t at = uint64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (; at + 3 * stride < words; at += 4 * stride) {
        const uint4 a = source[at];
        const uint4 b = source[at + stride];
        const uint4 c = source[at + 2 * stride];
        const uint4 d = source[at + 3 * stride];
        target[at] = a;
        target[at + stride] = b;
        target[at + 2 * stride] = c;
        target[at + 3 * stride] = d;
    }
}

// Returns rates in 10^9 units a second of `work`, which processes `amount` units, after a warm-up.
std::vector<double> rates(double amount, const std::function<void()>& work) {
    Event start;
    Event end;
    std::vector<double> rounds;
    for (int run = 0; run <= ROUNDS; run++) {
        start.record();
        work();
        end.record();
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        if (run > 0) {
            rounds.push_back(amount / end.millisecondsSince(start) / 1e6);
        }
    }
    return rounds;
}

void measureBus(std::vector<Ceiling>& ceilings, uint4* device) {
    uint64_t words = HOST_BYTES / sizeof(uint4);
    PinnedArray<uint4> host(words);
    for (uint64_t i = 0; i < words; i++) {
        host.data()[i] = make_uint4(static_cast<unsigned>(mix(i)), 1, 2, 3);
    }
    auto copy = [&](void* to, const void* from) {
        CUDA_CHECK(cudaMemcpyAsync(to, from, HOST_BYTES, cudaMemcpyDefault));
    };
    ceilings.push_back({"h2d-copy", "GB/s", rates(HOST_BYTES, [&] { copy(device, host.data()); })});
    ceilings.push_back({"d2h-copy", "GB/s", rates(HOST_BYTES, [&] { copy(host.data(), device); })});
    ceilings.push_back({"zero-copy-read", "GB/s", rates(HOST_BYTES, [&] {
                            readWords<<<BUS_BLOCKS, THREADS>>>(host.data(), words,
                                                               reinterpret_cast<unsigned*>(device));
                        })});
    ceilings.push_back({"zero-copy-write", "GB/s", rates(HOST_BYTES, [&] {
                            writeWords<<<BUS_BLOCKS, THREADS>>>(host.data(), words, 7);
                        })});
    uint64_t half = words / 2;
    ceilings.push_back({"zero-copy-both-ways", "GB/s", rates(HOST_BYTES / 2.0, [&] {
                            copyBothWays<<<BOTH_WAYS_BLOCKS, THREADS>>>(host.data(),
                                                                        host.data() + half, half);
                        })});
}

}  // namespace

std::vector<Ceiling> measureCeilings() {
    uint64_t words = DEVICE_BYTES / sizeof(uint4);
    DeviceArray<uint4> source(words);
    DeviceArray<uint4> target(words);
    CUDA_CHECK(cudaMemset(source.data(), 0x5A, source.lengthBytes()));
    std::vector<Ceiling> ceilings;
    measureBus(ceilings, target.data());
    auto copyBlocks = static_cast<unsigned>(words / (THREADS * COPY_ROWS));
    ceilings.push_back({"device-copy", "GB/s", rates(2.0 * DEVICE_BYTES, [&] {
                            copyWords<<<copyBlocks, THREADS>>>(source.data(), target.data());
                        })});
    unsigned gatherBlocks = 1u << 15;
    ceilings.push_back({"device-gather", "G/s", rates(16.0 * gatherBlocks * THREADS, [&] {
                            gatherWords<<<gatherBlocks, THREADS>>>(
                                source.data(), words, reinterpret_cast<unsigned*>(target.data()));
                        })});
    return ceilings;
}

}  // namespace gpujoin::bench
