// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The streams and events of one member of an exchange, for programs that use the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "repartitioned_join.h"

namespace gpujoin::resident {

// The streams of a member that do not belong to the caller.
struct ExchangeGroup::Member {
    int device;
    uint32_t multiprocessors = 0;
    // Higher priority than the caller's stream: a late exchange delays all members.
    cudaStream_t exchange = nullptr;
    // To each receiver, if the join is staged.
    std::vector<cudaStream_t> copies;
    std::vector<cudaEvent_t> copied;
    cudaEvent_t ready = nullptr;
    // Of the last transfers with even and odd numbers.
    cudaEvent_t exchanged[2] = {};
    cudaEvent_t partitioned[2] = {};

    explicit Member(int device) : device(device) {}

    cudaError_t open(size_t receivers) {
        int least = 0;
        int greatest = 0;
        int count = 0;
        cudaError_t error = cudaSetDevice(device);
        first(error, cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
        multiprocessors = static_cast<uint32_t>(count);
        first(error, cudaDeviceGetStreamPriorityRange(&least, &greatest));
        first(error, cudaStreamCreateWithPriority(&exchange, cudaStreamNonBlocking, greatest));
        for (cudaEvent_t* event :
             {&ready, &exchanged[0], &exchanged[1], &partitioned[0], &partitioned[1]}) {
            first(error, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        }
        for (size_t m = 0; m < receivers; m++) {
            copies.push_back(nullptr);
            copied.push_back(nullptr);
            first(error, cudaStreamCreateWithFlags(&copies.back(), cudaStreamNonBlocking));
            first(error, cudaEventCreateWithFlags(&copied.back(), cudaEventDisableTiming));
        }
        return error;
    }

    ~Member() {
        cudaSetDevice(device);
        for (cudaEvent_t event :
             {ready, exchanged[0], exchanged[1], partitioned[0], partitioned[1]}) {
            cudaEventDestroy(event);
        }
        for (size_t m = 0; m < copies.size(); m++) {
            cudaEventDestroy(copied[m]);
            cudaStreamDestroy(copies[m]);
        }
        cudaStreamDestroy(exchange);
    }

  private:
    static void first(cudaError_t& error, cudaError_t next) {
        error = error == cudaSuccess ? next : error;
    }
};

}  // namespace gpujoin::resident
