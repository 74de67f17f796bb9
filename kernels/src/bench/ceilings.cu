#include "ceilings.h"

#include <functional>

#include "device_memory.h"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr std::uint64_t kDeviceBytes = std::uint64_t{8} << 30;
constexpr std::uint64_t kHostBytes = std::uint64_t{1} << 30;
constexpr int kThreads = 512;
constexpr int kCopyRows = 4;
constexpr int kBusBlocks = 528;
/** More reads under way than these blocks ask for take 1 to 5 % from both directions. */
constexpr int kBothWaysBlocks = 66;
constexpr int kRounds = 5;

__global__ void copyWords(const uint4* source, uint4* target) {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads * kCopyRows + threadIdx.x;
    uint4 words[kCopyRows];
#pragma unroll
    for (int k = 0; k < kCopyRows; k++) {
        words[k] = __ldcs(source + first + k * kThreads);
    }
#pragma unroll
    for (int k = 0; k < kCopyRows; k++) {
        __stcs(target + first + k * kThreads, words[k]);
    }
}

__global__ void gatherWords(const uint4* source, std::uint64_t words, unsigned* target) {
    unsigned sum = 0;
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const uint4 w = __ldg(source + (mix(thread * 16 + k) & (words - 1)));
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    if (sum == 0x12345678u) {
        *target = sum;
    }
}

/** Four loads a thread are under way at once, as many as a serving block has. */
__global__ void readWords(const uint4* source, std::uint64_t words, unsigned* target) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
    unsigned sum = 0;
    std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
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

__global__ void writeWords(uint4* target, std::uint64_t words, unsigned value) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
    for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < words;
         at += stride) {
        target[at] = make_uint4(value, value + 1, value + 2, static_cast<unsigned>(at));
    }
}

__global__ void copyBothWays(const uint4* source, uint4* target, std::uint64_t words) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * kThreads;
    std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
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

/** Rates of `amount` units of work, 10^9 a second, after a warm-up. */
std::vector<double> rates(double amount, const std::function<void()>& work) {
    Event start;
    Event end;
    std::vector<double> rounds;
    for (int run = 0; run <= kRounds; run++) {
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
    const std::uint64_t words = kHostBytes / sizeof(uint4);
    PinnedArray<uint4> host(words);
    for (std::uint64_t i = 0; i < words; i++) {
        host.data()[i] = make_uint4(static_cast<unsigned>(mix(i)), 1, 2, 3);
    }
    const auto copy = [&](void* to, const void* from) {
        CUDA_CHECK(cudaMemcpyAsync(to, from, kHostBytes, cudaMemcpyDefault));
    };
    ceilings.push_back({"h2d-copy", "GB/s", rates(kHostBytes, [&] { copy(device, host.data()); })});
    ceilings.push_back({"d2h-copy", "GB/s", rates(kHostBytes, [&] { copy(host.data(), device); })});
    ceilings.push_back({"zero-copy-read", "GB/s", rates(kHostBytes, [&] {
                            readWords<<<kBusBlocks, kThreads>>>(
                                host.data(), words, reinterpret_cast<unsigned*>(device));
                        })});
    ceilings.push_back({"zero-copy-write", "GB/s", rates(kHostBytes, [&] {
                            writeWords<<<kBusBlocks, kThreads>>>(host.data(), words, 7);
                        })});
    const std::uint64_t half = words / 2;
    ceilings.push_back({"zero-copy-both-ways", "GB/s", rates(kHostBytes / 2.0, [&] {
                            copyBothWays<<<kBothWaysBlocks, kThreads>>>(host.data(),
                                                                        host.data() + half, half);
                        })});
}

}  // namespace

std::vector<Ceiling> measureCeilings() {
    const std::uint64_t words = kDeviceBytes / sizeof(uint4);
    DeviceArray<uint4> source(words);
    DeviceArray<uint4> target(words);
    CUDA_CHECK(cudaMemset(source.data(), 0x5A, source.lengthBytes()));
    std::vector<Ceiling> ceilings;
    measureBus(ceilings, target.data());
    const auto copyBlocks = static_cast<unsigned>(words / (kThreads * kCopyRows));
    ceilings.push_back({"device-copy", "GB/s", rates(2.0 * kDeviceBytes, [&] {
                            copyWords<<<copyBlocks, kThreads>>>(source.data(), target.data());
                        })});
    const unsigned gatherBlocks = 1u << 15;
    ceilings.push_back({"device-gather", "G/s", rates(16.0 * gatherBlocks * kThreads, [&] {
                            gatherWords<<<gatherBlocks, kThreads>>>(
                                source.data(), words, reinterpret_cast<unsigned*>(target.data()));
                        })});
    return ceilings;
}

}  // namespace gpujoin::bench
