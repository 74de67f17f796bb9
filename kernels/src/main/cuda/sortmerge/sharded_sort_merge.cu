// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the sharded sort-merge join: enqueues the kernels on all devices.

#include "../resident/join_arguments.h"
#include "sharded_sort_merge.h"
#include "shards.cuh"
#include "sort_merge_launch.cuh"

namespace gpujoin::sortmerge {
namespace {

template <typename Word>
__global__ void clearKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    clearShard(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(SAMPLE_THREADS)
    sampleKernel(const __grid_constant__ ShardedCall<Word> call) {
    sampleShards(call);
}

template <typename Word>
__global__ void __launch_bounds__(COUNT_THREADS, 4)
    countKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    countShard(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    layOutKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    layOutShard(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(ScatterShape<Word>::THREADS, ScatterShape<Word>::BLOCKS_PER_SM)
    scatterKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    scatterShard(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(EXCHANGE_THREADS)
    exchangeKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    exchangeShard(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    layOutOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    layOutOwned(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(SAMPLE_THREADS)
    sampleOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    sampleOwned(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(COUNT_THREADS, 4)
    countOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    countOwned(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(ScatterShape<Word>::THREADS, ScatterShape<Word>::BLOCKS_PER_SM)
    scatterOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    scatterOwned(call, table);
}

template <typename Word>
TotalRows rowsOf(const std::vector<Shard<Word>>& shards) {
    TotalRows rows{0, 0};
    for (const Shard<Word>& shard : shards) {
        rows.build += shard.build.rows;
        rows.probe += shard.probe.rows;
    }
    return rows;
}

template <typename Word>
bool isValid(const Shard<Word>& shard) {
    return resident::isValid(shard.build) && resident::isValid(shard.probe) &&
           resident::isValid(shard.matches) &&
           resident::isAligned(shard.workspace, resident::REGION_ALIGNMENT_BYTES);
}

// A device with two streams. The one that exchanges rows has priority, so that its few blocks start
// while other kernels still have blocks to start.
class Member {
  public:
    explicit Member(int device) : device(device) {}

    cudaError_t open(const std::vector<int>& peers) {
        cudaError_t failure = cudaSetDevice(device);
        for (size_t i = 0; failure == cudaSuccess && i < peers.size(); i++) {
            if (peers[i] != device) {
                failure = cudaDeviceEnablePeerAccess(peers[i], 0);
                if (failure == cudaErrorPeerAccessAlreadyEnabled) {
                    (void)cudaGetLastError();
                    failure = cudaSuccess;
                }
            }
        }
        int lowest = 0;
        int highest = 0;
        auto then = [&](auto step) { failure = failure == cudaSuccess ? step() : failure; };
        then([&] { return cudaDeviceGetStreamPriorityRange(&lowest, &highest); });
        then([&] {
            return cudaStreamCreateWithPriority(&exchange, cudaStreamNonBlocking, highest);
        });
        then([&] { return cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, lowest); });
        for (cudaEvent_t* event :
             {&scattered[0], &scattered[1], &exchanged[0], &exchanged[1], &finished}) {
            then([&] { return cudaEventCreateWithFlags(event, cudaEventDisableTiming); });
        }
        return failure;
    }

    void close() {
        (void)cudaSetDevice(device);
        for (cudaEvent_t event :
             {scattered[0], scattered[1], exchanged[0], exchanged[1], finished}) {
            if (event != nullptr) {
                (void)cudaEventDestroy(event);
            }
        }
        for (cudaStream_t stream : {exchange, compute}) {
            if (stream != nullptr) {
                (void)cudaStreamDestroy(stream);
            }
        }
    }

    int device;
    cudaStream_t exchange = nullptr;
    cudaStream_t compute = nullptr;
    cudaEvent_t scattered[2] = {};
    cudaEvent_t exchanged[2] = {};
    cudaEvent_t finished = nullptr;
};

}  // namespace

template <typename Word>
size_t shardWorkspaceBytes(TotalRows rows, uint32_t devices) {
    ShardedCall<Word> call{};
    call.deviceCount = devices;
    call.parts[0][0].view.rows = rows.build;
    call.parts[0][1].view.rows = rows.probe;
    return call.plan(rows);
}

struct ShardedSortMerge::Members {
    std::vector<Member> all;
    cudaError_t failure = cudaSuccess;

    template <typename Action>
    void onEach(Action action) {
        for (size_t d = 0; failure == cudaSuccess && d < all.size(); d++) {
            failure = cudaSetDevice(all[d].device);
            if (failure == cudaSuccess) {
                failure = action(d, all[d]);
            }
        }
    }

    // Scatters the rows of each device to buckets in its memory.
    template <typename Word>
    void scatter(const std::vector<ShardedCall<Word>>& calls) {
        onEach([&](size_t d, const Member& member) {
            const ShardedCall<Word>& call = calls[d];
            Enqueuer queue(member.compute);
            // Other devices have read what the last join left here.
            for (const Member& other : all) {
                queue.await(other.finished);
            }
            for (uint64_t t : {0, 1}) {
                queue.launch(clearKernel<Word>, call.local.tableShapes[t][CLEAR], call, t);
            }
            KernelShape sample{1, 0, SAMPLE_THREADS, SampleSorter<Word>::SHARED_BYTES};
            queue.launch(sampleKernel<Word>, sample, call);
            KernelShape layOut{1, 0, LAYOUT_THREADS, 0};
            for (uint64_t t : {0, 1}) {
                const KernelShape* shapes = call.local.tableShapes[t];
                queue.launch(countKernel<Word>, shapes[COUNT_FIRST], call, t);
                queue.launch(layOutKernel<Word>, layOut, call, t);
                queue.launch(scatterKernel<Word>, shapes[SCATTER_FIRST], call, t);
                queue.record(member.scattered[t]);
            }
            return queue.error();
        });
    }

    // Copies buckets to their owners.
    template <typename Word>
    void exchange(const std::vector<ShardedCall<Word>>& calls) {
        onEach([&](size_t d, const Member& member) {
            Enqueuer queue(member.exchange);
            for (const Member& other : all) {
                queue.await(other.finished);
            }
            KernelShape shape{all.size() == 1 ? 0 : EXCHANGE_BLOCKS, 0, EXCHANGE_THREADS, 0};
            for (uint64_t t : {0, 1}) {
                queue.await(member.scattered[t]);
                queue.launch(exchangeKernel<Word>, shape, calls[d], t);
                queue.record(member.exchanged[t]);
            }
            return queue.error();
        });
    }

    // Sorts and merges the buckets that each device owns.
    template <typename Word>
    void joinOwned(const std::vector<ShardedCall<Word>>& calls) {
        onEach([&](size_t d, const Member& member) {
            const ShardedCall<Word>& call = calls[d];
            Enqueuer queue(member.compute);
            KernelShape layOut{1, 0, LAYOUT_THREADS, 0};
            for (uint64_t t : {0, 1}) {
                for (const Member& other : all) {
                    queue.await(other.exchanged[t]);
                }
                const KernelShape* shapes = call.local.tableShapes[t];
                KernelShape sample = shapes[SAMPLE_SECOND];
                sample.blocks = call.ownedBuckets();
                queue.launch(layOutOwnedKernel<Word>, layOut, call, t);
                queue.launch(sampleOwnedKernel<Word>, sample, call, t);
                queue.launch(countOwnedKernel<Word>, shapes[COUNT_SECOND], call, t);
                enqueueTable(queue, call.local, t, LAY_OUT_SECOND, LAY_OUT_SECOND);
                queue.launch(scatterOwnedKernel<Word>, shapes[SCATTER_SECOND], call, t);
                enqueueTable(queue, call.local, t, SORT, COPY_CONSTANTS);
            }
            enqueueMerge(queue, call.local);
            queue.record(member.finished);
            return queue.error();
        });
    }
};

ShardedSortMerge::ShardedSortMerge(const std::vector<int>& devices) : members(new Members) {
    for (int device : devices) {
        members->all.emplace_back(device);
    }
    bool isValid = !devices.empty() && devices.size() <= MAX_DEVICES;
    members->failure = isValid ? cudaSuccess : cudaErrorInvalidValue;
    members->onEach([&](size_t d, const Member&) { return members->all[d].open(devices); });
}

ShardedSortMerge::~ShardedSortMerge() {
    for (Member& member : members->all) {
        member.close();
    }
}

template <typename Word>
JoinStatus ShardedSortMerge::join(const std::vector<Shard<Word>>& shards) {
    TotalRows rows = rowsOf(shards);
    bool isInvalid = shards.size() != members->all.size() || rows.build > resident::MAX_ROWS ||
                     rows.probe > resident::MAX_ROWS;
    auto devices = static_cast<uint32_t>(shards.size());
    std::vector<ShardedCall<Word>> calls(shards.size());
    for (uint32_t d = 0; d < devices && !isInvalid; d++) {
        isInvalid = !isValid(shards[d]);
        calls[d].device = d;
        calls[d].deviceCount = devices;
        calls[d].local.tables[0] = shards[d].build;
        calls[d].local.tables[1] = shards[d].probe;
        calls[d].local.matches = shards[d].matches;
        calls[d].local.memory = shards[d].workspace;
        for (uint32_t other = 0; other < devices; other++) {
            calls[d].parts[other][0].view = shards[other].build;
            calls[d].parts[other][1].view = shards[other].probe;
        }
    }
    if (isInvalid) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    for (uint32_t d = 0; d < devices; d++) {
        if (shards[d].workspace == nullptr ||
            shards[d].workspaceLengthBytes < calls[d].plan(rows)) {
            return JoinStatus::WORKSPACE_TOO_SMALL;
        }
    }
    for (uint32_t d = 0; d < devices; d++) {
        for (uint32_t other = 0; other < devices; other++) {
            for (int t = 0; t < 2; t++) {
                calls[d].parts[other][t] = calls[other].parts[other][t];
            }
        }
    }
    members->scatter(calls);
    members->exchange(calls);
    members->joinOwned(calls);
    return members->failure == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
}

cudaError_t ShardedSortMerge::await() {
    // After a failure, devices may still work on what was enqueued before it.
    for (const Member& member : members->all) {
        cudaError_t error = cudaSetDevice(member.device);
        for (cudaStream_t stream : {member.exchange, member.compute}) {
            error = error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
        }
        members->failure = members->failure == cudaSuccess ? error : members->failure;
    }
    return members->failure;
}

template size_t shardWorkspaceBytes<int32_t>(TotalRows, uint32_t);
template size_t shardWorkspaceBytes<int64_t>(TotalRows, uint32_t);
template JoinStatus ShardedSortMerge::join(const std::vector<Shard<int32_t>>&);
template JoinStatus ShardedSortMerge::join(const std::vector<Shard<int64_t>>&);

}  // namespace gpujoin::sortmerge
