#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace gpujoin::bench {

/** Ends the program with the failing call's text: a measurement after a failed call means nothing. */
inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "a CUDA call failed: call=%s, error=%s\n", what,
                     cudaGetErrorString(error));
        std::exit(1);
    }
}
#define CUDA_CHECK(call) ::gpujoin::bench::check((call), #call)

/** Owned device array. */
template <class T>
class DeviceArray {
  public:
    explicit DeviceArray(std::uint64_t count) : count_(count) {
        if (count != 0) {
            CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), lengthBytes()));
        }
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* data() const { return data_; }
    std::uint64_t count() const { return count_; }
    std::size_t lengthBytes() const { return count_ * sizeof(T); }

  private:
    T* data_ = nullptr;
    std::uint64_t count_;
};

/** Owned page-locked host array, which kernels reach by the same address. */
template <class T>
class PinnedArray {
  public:
    explicit PinnedArray(std::uint64_t count) : count_(count) {
        CUDA_CHECK(
            cudaHostAlloc(reinterpret_cast<void**>(&data_), lengthBytes(), cudaHostAllocMapped));
    }
    ~PinnedArray() { cudaFreeHost(data_); }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;

    T* data() const { return data_; }
    std::uint64_t count() const { return count_; }
    std::size_t lengthBytes() const { return count_ * sizeof(T); }

  private:
    T* data_ = nullptr;
    std::uint64_t count_;
};

/** Owned event with timing. */
class Event {
  public:
    Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    cudaEvent_t get() const { return event_; }
    void record() { CUDA_CHECK(cudaEventRecord(event_)); }
    double millisecondsSince(const Event& start) const {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
        return ms;
    }

  private:
    cudaEvent_t event_;
};

}  // namespace gpujoin::bench
