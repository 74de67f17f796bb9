// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// What joins share on the host, for programs that use the CUDA runtime: enqueue kernels, check
// arguments.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "join_arguments.h"
#include "resident_join.h"

namespace gpujoin::resident {

inline uint32_t blocksFor(uint64_t work, uint64_t perBlock) {
    return static_cast<uint32_t>((work + perBlock - 1) / perBlock);
}

// Enqueues kernels on one stream and retains the first error.
class Enqueuer {
  public:
    explicit Enqueuer(cudaStream_t stream) : stream(stream) {}

    template <typename... Parameters, typename... Arguments>
    void launch(void (*kernel)(Parameters...), uint32_t blocks, int threads, size_t sharedBytes,
                Arguments... arguments) {
        if (failure != cudaSuccess || blocks == 0) {
            return;
        }
        failure = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(sharedBytes));
        if (failure == cudaSuccess) {
            kernel<<<blocks, threads, sharedBytes, stream>>>(arguments...);
            failure = cudaPeekAtLastError();
        }
    }

    void record(cudaEvent_t event) {
        if (failure == cudaSuccess && event != nullptr) {
            failure = cudaEventRecord(event, stream);
        }
    }

    // Lets later work wait for the last record of the event, on whatever device.
    void await(cudaEvent_t event) {
        if (failure == cudaSuccess) {
            failure = cudaStreamWaitEvent(stream, event, 0);
        }
    }

    void check(cudaError_t error) { failure = failure == cudaSuccess ? error : failure; }
    JoinStatus status() const {
        return failure == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
    }

  private:
    cudaStream_t stream;
    cudaError_t failure = cudaSuccess;
};

}  // namespace gpujoin::resident
