// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the sharded sort-merge join: enqueues the kernels on all devices.

#include "../resident/join_arguments.h"
#include "shard_member.h"
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
__global__ void __launch_bounds__(LAYOUT_THREADS)
    layOutOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table) {
    layOutOwned(call, table);
}

template <typename Word>
__global__ void __launch_bounds__(SAMPLE_THREADS)
    sampleOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table,
                      uint32_t stage) {
    sampleOwned(call, table, stage);
}

template <typename Word>
__global__ void __launch_bounds__(COUNT_THREADS, 4)
    countOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table,
                     uint32_t stage) {
    countOwned(call, table, stage);
}

template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    layOutPartitionsKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table,
                           uint32_t stage) {
    layOutOwnedPartitions(call, table, stage);
}

template <typename Word>
__global__ void __launch_bounds__(ScatterShape<Word>::THREADS, ScatterShape<Word>::BLOCKS_PER_SM)
    scatterOwnedKernel(const __grid_constant__ ShardedCall<Word> call, uint64_t table,
                       uint32_t stage) {
    scatterOwned(call, table, stage);
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
    std::vector<ShardMember> all;
    cudaError_t failure = cudaSuccess;

    template <typename Action>
    void onEach(Action action) {
        for (uint32_t d = 0; failure == cudaSuccess && d < all.size(); d++) {
            failure = cudaSetDevice(all[d].device);
            if (failure == cudaSuccess) {
                failure = action(d, all[d]);
            }
        }
    }

    // Scatters the rows of each device to buckets in its memory.
    template <typename Word>
    void scatter(const std::vector<ShardedCall<Word>>& calls, const ShardTrace& trace) {
        onEach([&](uint32_t d, const ShardMember& member) {
            const ShardedCall<Word>& call = calls[d];
            Enqueuer queue(member.compute);
            // Other devices have read what the last join left here.
            for (const ShardMember& other : all) {
                queue.await(other.finished);
            }
            if (d == 0) {
                queue.record(trace.start);
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
                queue.record(member.tables[t].laidOut);
                queue.launch(scatterKernel<Word>, shapes[SCATTER_FIRST], call, t);
                queue.record(member.tables[t].scattered);
            }
            if (d == 0) {
                queue.record(trace.endOf(ShardStep::SCATTER));
            }
            return queue.error();
        });
    }

    // Copies the buckets of a table to their owners, after waiting until they are counted.
    template <typename Word>
    void exchange(const std::vector<ShardedCall<Word>>& calls, uint32_t table) {
        auto count = static_cast<uint32_t>(all.size());
        if (count == 1) {
            return;
        }
        onEach([&](uint32_t d, const ShardMember& member) {
            return member.fetchBegins(table, calls[d].parts[d][table].buckets.begins,
                                      calls[d].bucketCount());
        });
        onEach([&](uint32_t d, const ShardMember& member) {
            const ShardPart<Word>& part = calls[d].parts[d][table];
            cudaError_t error = member.awaitBegins(table);
            for (uint32_t stage = 0; stage < EXCHANGE_STAGES; stage++) {
                for (uint32_t i = 1; error == cudaSuccess && i < count; i++) {
                    // Each device begins with another one.
                    uint32_t owner = (d + i) % count;
                    const uint32_t* begins = member.tables[table].begins;
                    uint32_t first = begins[calls[d].firstOfStage(owner, stage)];
                    uint32_t rows = begins[calls[d].firstOfStage(owner, stage + 1)] - first;
                    uint64_t row = part.begin + first;
                    error = member.copy(table, stage, owner,
                                        calls[d].parts[owner][table].scattered + row,
                                        part.scattered + row, rows * sizeof(Tuple<Word>));
                }
            }
            return error;
        });
    }

    // Sorts the buckets of a table that each device owns, and merges them after the second table.
    template <typename Word>
    void joinOwned(const std::vector<ShardedCall<Word>>& calls, uint32_t t,
                   const ShardTrace& trace) {
        onEach([&](uint32_t d, const ShardMember& member) {
            const ShardedCall<Word>& call = calls[d];
            const KernelShape* shapes = call.local.tableShapes[t];
            uint64_t table = t;
            Enqueuer queue(member.compute);
            for (const ShardMember& other : all) {
                queue.await(other.tables[t].laidOut);
            }
            queue.launch(layOutOwnedKernel<Word>, KernelShape{1, 0, LAYOUT_THREADS, 0}, call,
                         table);
            for (uint32_t stage = 0; stage < EXCHANGE_STAGES; stage++) {
                for (uint32_t from = 0; from < all.size(); from++) {
                    if (from != d) {
                        queue.await(all[from].tables[t].copied[stage][d]);
                    }
                }
                KernelShape sample = shapes[SAMPLE_SECOND];
                sample.blocks = call.firstOfStage(d, stage + 1) - call.firstOfStage(d, stage);
                KernelShape layOut = shapes[LAY_OUT_SECOND];
                layOut.blocks = call.firstLaidOut(stage + 1) - call.firstLaidOut(stage);
                queue.launch(sampleOwnedKernel<Word>, sample, call, table, stage);
                queue.launch(countOwnedKernel<Word>, shapes[COUNT_SECOND], call, table, stage);
                queue.launch(layOutPartitionsKernel<Word>, layOut, call, table, stage);
                queue.launch(scatterOwnedKernel<Word>, shapes[SCATTER_SECOND], call, table, stage);
            }
            // Sorted rows overwrite those that this device sends.
            for (uint32_t to = 0; to < all.size(); to++) {
                if (to != d) {
                    queue.await(member.tables[t].copied[EXCHANGE_STAGES - 1][to]);
                }
            }
            enqueueTable(queue, call.local, table, SORT, COPY_CONSTANTS);
            if (d == 0) {
                queue.record(trace.endOf(t == 0 ? ShardStep::BUILD_SORT : ShardStep::PROBE_SORT));
            }
            if (t == 1) {
                enqueueMerge(queue, call.local);
                queue.record(member.finished);
                if (d == 0) {
                    queue.record(trace.endOf(ShardStep::MERGE));
                }
            }
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
    members->onEach([&](uint32_t d, const ShardMember&) { return members->all[d].open(devices); });
}

ShardedSortMerge::~ShardedSortMerge() {
    for (ShardMember& member : members->all) {
        member.close();
    }
}

template <typename Word>
JoinStatus ShardedSortMerge::join(const std::vector<Shard<Word>>& shards, const ShardTrace& trace) {
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
    members->scatter(calls, trace);
    for (uint32_t table : {0, 1}) {
        members->exchange(calls, table);
        members->joinOwned(calls, table, trace);
    }
    return members->failure == cudaSuccess ? JoinStatus::OK : JoinStatus::LAUNCH_FAILED;
}

cudaError_t ShardedSortMerge::await() {
    // After a failure, devices may still work on what was enqueued before it.
    for (const ShardMember& member : members->all) {
        cudaError_t error = member.synchronize();
        members->failure = members->failure == cudaSuccess ? error : members->failure;
    }
    return members->failure;
}

template size_t shardWorkspaceBytes<int32_t>(TotalRows, uint32_t);
template size_t shardWorkspaceBytes<int64_t>(TotalRows, uint32_t);
template JoinStatus ShardedSortMerge::join(const std::vector<Shard<int32_t>>&, const ShardTrace&);
template JoinStatus ShardedSortMerge::join(const std::vector<Shard<int64_t>>&, const ShardTrace&);

}  // namespace gpujoin::sortmerge
