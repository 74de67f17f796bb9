#include "ceilings.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "device_memory.h"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{8} << 30;
constexpr int kThreads = 512;
constexpr int kCopyRows = 4;

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

double medianMs(const std::function<void()>& work) {
    Event start;
    Event end;
    std::vector<double> times;
    for (int run = 0; run < 6; run++) {
        start.record();
        work();
        end.record();
        CUDA_CHECK(cudaDeviceSynchronize());
        times.push_back(end.millisecondsSince(start));
    }
    std::sort(times.begin() + 1, times.end());
    return times[3];
}

}  // namespace

Ceilings measureCeilings() {
    const std::uint64_t words = kBytes / sizeof(uint4);
    DeviceArray<uint4> source(words);
    DeviceArray<uint4> target(words);
    CUDA_CHECK(cudaMemset(source.data(), 0x5A, source.lengthBytes()));
    const double copyMs = medianMs([&] {
        copyWords<<<static_cast<unsigned>(words / (kThreads * kCopyRows)), kThreads>>>(source.data(), target.data());
    });
    const unsigned gatherBlocks = 1u << 15;
    const double gatherMs = medianMs([&] {
        gatherWords<<<gatherBlocks, kThreads>>>(source.data(), words, reinterpret_cast<unsigned*>(target.data()));
    });
    return {2.0 * kBytes / copyMs / 1e6, 16.0 * gatherBlocks * kThreads / gatherMs / 1e6};
}

}  // namespace gpujoin::bench
