// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Launches the kernels of a planned call.
#pragma once

#include "sort_merge_call.h"
#include "sort_merge_join.h"

namespace gpujoin::sortmerge {

// Enqueues kernels on one stream and retains the first error.
class Enqueuer {
  public:
    explicit Enqueuer(cudaStream_t stream) : stream(stream) {
        int device = 0;
        int count = 0;
        failure = cudaGetDevice(&device);
        if (failure == cudaSuccess) {
            failure = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
        }
        multiprocessors = static_cast<uint32_t>(count);
    }

    template <typename... Parameters, typename... Arguments>
    void launch(void (*kernel)(Parameters...), const KernelShape& shape, Arguments... arguments) {
        uint32_t blocks = shape.blocksOn(multiprocessors);
        if (failure != cudaSuccess || blocks == 0) {
            return;
        }
        failure = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shape.sharedBytes));
        if (failure == cudaSuccess) {
            kernel<<<blocks, shape.threads, shape.sharedBytes, stream>>>(arguments...);
            failure = cudaPeekAtLastError();
        }
    }

    // Delays later kernels until an event, of any device, has occurred.
    void await(cudaEvent_t event) {
        if (failure == cudaSuccess) {
            failure = cudaStreamWaitEvent(stream, event);
        }
    }

    void record(cudaEvent_t event) {
        if (failure == cudaSuccess && event != nullptr) {
            failure = cudaEventRecord(event, stream);
        }
    }

    cudaError_t error() const { return failure; }
    JoinStatus status() const {
        return failure == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
    }

  private:
    cudaStream_t stream;
    cudaError_t failure;
    uint32_t multiprocessors;
};

// Enqueues the kernels of a table from `first` to `last`.
template <typename Word>
void enqueueTable(Enqueuer& queue, const SortMergeCall<Word>& call, uint64_t table,
                  TableKernel first, TableKernel last, const JoinTrace& trace = {});

// Enqueues the kernels that follow those of both tables.
template <typename Word>
void enqueueMerge(Enqueuer& queue, const SortMergeCall<Word>& call);

}  // namespace gpujoin::sortmerge
