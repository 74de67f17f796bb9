// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A device of a sharded join on the host: its streams, and the events that others wait for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "shards.cuh"

namespace gpujoin::sortmerge {

// close() releases what open() created, also if open() failed midway.
struct ShardMember {
    // The exchange of one table.
    struct TableExchange {
        cudaEvent_t laidOut = nullptr;
        cudaEvent_t scattered = nullptr;
        cudaEvent_t fetched = nullptr;
        // By stage and receiver; null for this device.
        cudaEvent_t copied[EXCHANGE_STAGES][MAX_DEVICES] = {};
        // First row of each bucket and, last, of the end, in page-locked memory.
        uint32_t* begins = nullptr;
    };

    explicit ShardMember(int device) : device(device) {}

    cudaError_t open(const std::vector<int>& devices) {
        cudaError_t failure = cudaSetDevice(device);
        auto then = [&](auto step) { failure = failure == cudaSuccess ? step() : failure; };
        auto create = [&](cudaEvent_t& event) {
            then([&] { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); });
        };
        for (size_t i = 0; i < devices.size(); i++) {
            if (devices[i] == device) {
                continue;
            }
            then([&] { return enablePeerAccess(devices[i]); });
            then([&] { return cudaStreamCreateWithFlags(&copies[i], cudaStreamNonBlocking); });
            for (TableExchange& table : tables) {
                for (auto& stage : table.copied) {
                    create(stage[i]);
                }
            }
        }
        then([&] { return cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking); });
        then([&] { return cudaStreamCreateWithFlags(&fetches, cudaStreamNonBlocking); });
        create(finished);
        for (TableExchange& table : tables) {
            create(table.laidOut);
            create(table.scattered);
            create(table.fetched);
            then([&] {
                return cudaMallocHost(reinterpret_cast<void**>(&table.begins),
                                      (MAX_DIGITS + 1) * sizeof(uint32_t));
            });
        }
        return failure;
    }

    void close() {
        (void)cudaSetDevice(device);
        for (TableExchange& table : tables) {
            for (auto& stage : table.copied) {
                for (cudaEvent_t event : stage) {
                    destroy(event);
                }
            }
            for (cudaEvent_t event : {table.laidOut, table.scattered, table.fetched}) {
                destroy(event);
            }
            (void)cudaFreeHost(table.begins);
        }
        destroy(finished);
        forEachStream([](cudaStream_t stream) { return cudaStreamDestroy(stream); });
    }

    // Enqueues a copy of the laid-out buckets' first rows to the host, beside the scatter.
    cudaError_t fetchBegins(uint32_t table, const uint32_t* begins, uint32_t buckets) const {
        const TableExchange& exchange = tables[table];
        cudaError_t failure = cudaStreamWaitEvent(fetches, exchange.laidOut);
        auto then = [&](auto step) { failure = failure == cudaSuccess ? step() : failure; };
        then([&] {
            return cudaMemcpyAsync(exchange.begins, begins, (buckets + 1) * sizeof(uint32_t),
                                   cudaMemcpyDeviceToHost, fetches);
        });
        then([&] { return cudaEventRecord(exchange.fetched, fetches); });
        return failure;
    }

    cudaError_t awaitBegins(uint32_t table) const {
        return cudaEventSynchronize(tables[table].fetched);
    }

    // Enqueues a copy of scattered rows to another device.
    cudaError_t copy(uint32_t table, uint32_t stage, uint32_t receiver, void* target,
                     const void* source, size_t lengthBytes) const {
        cudaStream_t stream = copies[receiver];
        cudaError_t failure = cudaStreamWaitEvent(stream, tables[table].scattered);
        auto then = [&](auto step) { failure = failure == cudaSuccess ? step() : failure; };
        then([&] {
            return cudaMemcpyAsync(target, source, lengthBytes, cudaMemcpyDefault, stream);
        });
        then([&] { return cudaEventRecord(tables[table].copied[stage][receiver], stream); });
        return failure;
    }

    // Waits until all streams are idle.
    cudaError_t synchronize() const {
        cudaError_t failure = cudaSetDevice(device);
        forEachStream([&](cudaStream_t stream) {
            return failure = failure == cudaSuccess ? cudaStreamSynchronize(stream) : failure;
        });
        return failure;
    }

    int device;
    cudaStream_t compute = nullptr;
    // Copies to the host.
    cudaStream_t fetches = nullptr;
    // Copies to other devices, by receiver, so that several copy engines work at once.
    cudaStream_t copies[MAX_DEVICES] = {};
    TableExchange tables[2];
    cudaEvent_t finished = nullptr;

  private:
    template <typename Action>
    void forEachStream(Action action) const {
        for (cudaStream_t stream : copies) {
            if (stream != nullptr) {
                (void)action(stream);
            }
        }
        for (cudaStream_t stream : {compute, fetches}) {
            if (stream != nullptr) {
                (void)action(stream);
            }
        }
    }

    static void destroy(cudaEvent_t event) {
        if (event != nullptr) {
            (void)cudaEventDestroy(event);
        }
    }

    static cudaError_t enablePeerAccess(int peer) {
        cudaError_t failure = cudaDeviceEnablePeerAccess(peer, 0);
        if (failure != cudaErrorPeerAccessAlreadyEnabled) {
            return failure;
        }
        (void)cudaGetLastError();
        return cudaSuccess;
    }
};

}  // namespace gpujoin::sortmerge
