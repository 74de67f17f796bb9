// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA memory and events. They end the program if a CUDA call fails.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace gpujoin::bench {

// Ends the program if a CUDA call failed, because later measurements would be meaningless.
inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "A CUDA call failed: call=%s, error=%s\n", what,
                     cudaGetErrorString(error));
        std::exit(1);
    }
}
#define CUDA_CHECK(call) ::gpujoin::bench::check((call), #call)

// A device array, freed by its destructor.
template <typename T>
class DeviceArray {
  public:
    explicit DeviceArray(uint64_t count) : elementCount(count) {
        if (count != 0) {
            CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&memory), lengthBytes()));
        }
    }
    ~DeviceArray() { cudaFree(memory); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* data() const { return memory; }
    uint64_t count() const { return elementCount; }
    size_t lengthBytes() const { return elementCount * sizeof(T); }

  private:
    T* memory = nullptr;
    uint64_t elementCount;
};

// A page-locked host array, freed by its destructor. Kernels access it at the same address.
template <typename T>
class PinnedArray {
  public:
    explicit PinnedArray(uint64_t count) : elementCount(count) {
        CUDA_CHECK(
            cudaHostAlloc(reinterpret_cast<void**>(&memory), lengthBytes(), cudaHostAllocMapped));
    }
    ~PinnedArray() { cudaFreeHost(memory); }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;

    T* data() const { return memory; }
    uint64_t count() const { return elementCount; }
    size_t lengthBytes() const { return elementCount * sizeof(T); }

  private:
    T* memory = nullptr;
    uint64_t elementCount;
};

// An event with timing, destroyed by its destructor.
class Event {
  public:
    Event() { CUDA_CHECK(cudaEventCreate(&event)); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    cudaEvent_t get() const { return event; }
    void record() { CUDA_CHECK(cudaEventRecord(event)); }
    double millisecondsSince(const Event& start) const {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start.event, event));
        return ms;
    }

  private:
    cudaEvent_t event;
};

}  // namespace gpujoin::bench
