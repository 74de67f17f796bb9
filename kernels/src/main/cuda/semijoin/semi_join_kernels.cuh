// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of a semi-join, for keys of 32 and of 64 bits. Each has the call as its parameter, by
// value; those that plan write the call in device memory.
#pragma once

#include <cstdint>

#include "../engine/integers.h"
#include "row_appender.cuh"
#include "row_scan.cuh"
#include "row_selection.cuh"
#include "semi_join_call.h"

namespace gpujoin::semijoin {

__device__ inline uint64_t threadNumber() {
    return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t threadCount() { return uint64_t{gridDim.x} * blockDim.x; }

// Clears the report and the groups.
__device__ inline void prepare(SemiJoinReport* report, const SemiJoinResult& result) {
    if (threadNumber() == 0) {
        *report = {{0, INT64_MAX, INT64_MIN}, 0, 0};
    }
    for (uint64_t group = threadNumber(); group < result.groupCount; group += threadCount()) {
        result.counts[group] = 0;
    }
}

// Empties the key set: slots are free, bits are 0.
template <typename Word>
__device__ void clearKeySet(const SemiJoinCall<Word>& call) {
    for (uint64_t i = threadNumber(); i < call.keySet.slotCount; i += threadCount()) {
        call.slots()[i] = HashKeySet<Word>::FREE;
    }
    uint64_t words = call.keySet.liveWords + call.keySet.filterWords;
    for (uint64_t i = threadNumber(); i < words; i += threadCount()) {
        call.bits()[i] = 0;
    }
}

template <typename Word, typename KeySet>
__device__ void insertKeys(const SemiJoinCall<Word>& call, const KeySet& keys) {
    scanRows(call.selectionView(), [&](const RowBatch<Word>& batch) {
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if (batch.isSelected(i)) {
                keys.insert(batch.keys[i]);
            }
        }
    });
}

// Returns a bit for each row whose key may be live.
template <typename Word, typename KeySet>
__device__ uint32_t mayBeLive(const RowBatch<Word>& batch, const KeySet& keys) {
    uint32_t words[BATCH_ROWS];
    GPUJOIN_UNROLL
    for (uint32_t i = 0; i < BATCH_ROWS; i++) {
        words[i] = loadCached(batch.isSelected(i) ? keys.wordOf(batch.keys[i]) : keys.firstWord());
    }
    uint32_t candidates = 0;
    GPUJOIN_UNROLL
    for (uint32_t i = 0; i < BATCH_ROWS; i++) {
        candidates |= static_cast<uint32_t>(keys.mayBeLive(batch.keys[i], words[i])) << i;
    }
    candidates &= batch.selected;
    return candidates;
}

// Removes the keys of the right side, if the left side built.
template <typename Word, typename KeySet>
__device__ void removeKeys(const SemiJoinCall<Word>& call, const KeySet& keys) {
    scanRows(call.probeView(), [&](const RowBatch<Word>& batch) {
        uint32_t candidates = mayBeLive(batch, keys);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            // Adjacent rows often have the same key.
            bool isRepeated =
                i != 0 && (candidates >> (i - 1) & 1u) != 0 && batch.keys[i] == batch.keys[i - 1];
            if ((candidates >> i & 1u) != 0 && !isRepeated) {
                keys.remove(batch.keys[i]);
            }
        }
    });
}

// Counts rows by group in shared memory.
struct GroupCounter {
    uint32_t counts[MAX_GROUPS];

    __device__ void clear(uint32_t groupCount) {
        for (uint32_t group = threadIdx.x; group < groupCount; group += blockDim.x) {
            counts[group] = 0;
        }
    }

    __device__ void add(const SemiJoinResult& result, uint64_t row, SemiJoinReport* report) {
        int64_t group = 0;
        if (result.groups != nullptr) {
            const auto* at = static_cast<const unsigned char*>(result.groups);
            group = loadInteger(at + row * result.groupWidthBytes, result.groupWidthBytes);
        }
        if (static_cast<uint64_t>(group) < result.groupCount) {
            atomicAdd(&counts[group], 1u);
        } else {
            atomicAdd(reinterpret_cast<unsigned long long*>(&report->ungroupedRows), 1ull);
        }
    }

    __device__ void addTo(const SemiJoinResult& result) {
        for (uint32_t group = threadIdx.x; group < result.groupCount; group += blockDim.x) {
            if (counts[group] != 0) {
                atomicAdd(reinterpret_cast<unsigned long long*>(&result.counts[group]),
                          static_cast<unsigned long long>(counts[group]));
            }
        }
    }
};

// Returns the left rows of the result: those that were selected, if the left side built, and those
// that satisfy its condition, if it probes.
template <typename Word, typename KeySet>
__device__ void emitRows(const SemiJoinCall<Word>& call, const KeySet& keys) {
    __shared__ RowAppender appender;
    __shared__ GroupCounter groups;
    if (threadIdx.x == 0) {
        appender.clear();
    }
    groups.clear(call.result.groupCount);
    __syncthreads();
    const bool leftBuilt = call.buildSide == Side::LEFT;
    const SideView<Word> source = leftBuilt ? call.selectionView() : call.left;
    const uint32_t* numbers = leftBuilt ? call.selection().rows : nullptr;
    const bool returnsLive = call.returnsLive();
    uint32_t round = 0;
    scanRows(source, [&](const RowBatch<Word>& batch) {
        uint32_t live = mayBeLive(batch, keys);
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if ((live >> i & 1u) != 0 && !keys.isLive(batch.keys[i])) {
                live &= ~(1u << i);
            }
        }
        uint32_t returned = batch.selected & (returnsLive ? live : ~live);
        uint64_t place = appender.place(round, __popc(returned), &call.report->resultRows);
        round ^= 1u;
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if ((returned >> i & 1u) == 0) {
                continue;
            }
            uint64_t row = numbers == nullptr ? batch.row(i) : numbers[batch.row(i)];
            groups.add(call.result, row, call.report);
            if (call.result.rows != nullptr && place < call.result.capacityRows) {
                call.result.rows[place] = static_cast<uint32_t>(row);
            }
            place++;
        }
    });
    __syncthreads();
    groups.addTo(call.result);
}

}  // namespace gpujoin::semijoin

#define GPUJOIN_SEMI_JOIN_KERNEL(name, Word, Bits, body)                                \
    extern "C" __global__ void __launch_bounds__(gpujoin::semijoin::SCAN_THREADS,       \
                                                 gpujoin::semijoin::SCAN_BLOCKS_PER_SM) \
        gpujoin_semi_join_##name##_##Bits(                                              \
            const __grid_constant__ gpujoin::semijoin::SemiJoinCall<Word> call) {       \
        using namespace gpujoin::semijoin;                                              \
        body;                                                                           \
    }

#define GPUJOIN_SEMI_JOIN_KERNELS(Word, Bits)                                                  \
    extern "C" __global__ void gpujoin_semi_join_plan_selection_##Bits(                        \
        gpujoin::semijoin::SemiJoinCall<Word>* call) {                                         \
        call->planSelection();                                                                 \
    }                                                                                          \
    extern "C" __global__ void gpujoin_semi_join_plan_key_set_##Bits(                          \
        gpujoin::semijoin::SemiJoinCall<Word>* call) {                                         \
        call->planKeySet(call->report->selected);                                              \
    }                                                                                          \
    GPUJOIN_SEMI_JOIN_KERNEL(prepare, Word, Bits, prepare(call.report, call.result))           \
    GPUJOIN_SEMI_JOIN_KERNEL(select, Word, Bits, selectRows(call))                             \
    GPUJOIN_SEMI_JOIN_KERNEL(measure, Word, Bits, measureKeys(call))                           \
    GPUJOIN_SEMI_JOIN_KERNEL(clear, Word, Bits, clearKeySet(call))                             \
    GPUJOIN_SEMI_JOIN_KERNEL(insert_direct, Word, Bits, insertKeys(call, call.directKeySet())) \
    GPUJOIN_SEMI_JOIN_KERNEL(insert_hash, Word, Bits, insertKeys(call, call.hashKeySet()))     \
    GPUJOIN_SEMI_JOIN_KERNEL(remove_direct, Word, Bits, removeKeys(call, call.directKeySet())) \
    GPUJOIN_SEMI_JOIN_KERNEL(remove_hash, Word, Bits, removeKeys(call, call.hashKeySet()))     \
    GPUJOIN_SEMI_JOIN_KERNEL(emit_direct, Word, Bits, emitRows(call, call.directKeySet()))     \
    GPUJOIN_SEMI_JOIN_KERNEL(emit_hash, Word, Bits, emitRows(call, call.hashKeySet()))

GPUJOIN_SEMI_JOIN_KERNELS(int32_t, 32)
GPUJOIN_SEMI_JOIN_KERNELS(int64_t, 64)
