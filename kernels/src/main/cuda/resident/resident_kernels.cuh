// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of a resident join, for words of 32 and of 64 bits. Each has the planned call as its
// first parameter, by value since a block would wait for a call in device memory. The second one of
// most is the table: 0 for build, 1 for probe. The kernels `items` and `mark` take the table that
// builds, which may be either. The kernel that plans writes the call in device memory.
#pragma once

#include "partition.cuh"
#include "partition_join.cuh"
#include "radix_pass.cuh"
#include "resident_call.h"

namespace gpujoin::resident {

template <typename Word>
__device__ ColumnSource<Word> columnsOf(const ResidentCall<Word>& call, uint64_t table) {
    const TableView<Word>& view = call.view(table);
    return {view.keys, view.payloads, view.rows, view.runs};
}

template <typename Word>
__device__ PartitionSource<Word> partitionsOf(const ResidentCall<Word>& call, uint64_t table) {
    const PartitionedTable<Word>& result = call.tables[table];
    return {call.intermediate, result.firstSlots, result.tileStarts, call.launch.firstPartitions,
            call.radix.second.count()};
}

// `table` builds, and the other one probes.
template <typename Word>
__device__ void planItemsOf(const ResidentCall<Word>& call, uint64_t table) {
    planItems<Word, SCAN_THREADS>(call.tables[table].slots, call.tables[1 - table].slots,
                                  call.items, call.matches.matchCount);
}

template <typename Word, typename Output>
__device__ void join(const ResidentCall<Word>& call, uint64_t table, const ItemRange& range,
                     const Output& output) {
    const PartitionedTable<Word>& build = call.tables[table];
    const PartitionedTable<Word>& probe = call.tables[1 - table];
    joinPartitions<Word, JOIN_THREADS, PROBE_BATCH_ROWS<Word>>(
        build.rows, build.slots, probe.rows, probe.slots, call.items, range, output);
}

template <typename Word>
__device__ ExactWords exactWordsOf(const ResidentCall<Word>&, uint64_t) {
    return {};
}

// `table` builds. Both tables have runs.
inline __device__ HashedWords hashedWordsOf(const ResidentCall<int64_t>& call, uint64_t table) {
    return {{call.view(table).runs}, {call.view(1 - table).runs}};
}

}  // namespace gpujoin::resident

// A kernel with a parameter `table` whose body may use the names of this namespace.
#define GPUJOIN_TABLE_KERNEL(name, Word, Bits, bounds, body)                                  \
    extern "C" __global__ void bounds gpujoin_resident_##name##_##Bits(                       \
        const __grid_constant__ gpujoin::resident::ResidentCall<Word> call, uint64_t table) { \
        using namespace gpujoin::resident;                                                    \
        body;                                                                                 \
    }

// The kernels that count and lay out slots for an attempt of a pass.
#define GPUJOIN_COUNTING_KERNELS(order, source, pass, attempt, ATTEMPT, Word, Bits)      \
    GPUJOIN_TABLE_KERNEL(clear_##order##_##attempt, Word, Bits, ,                        \
                         clear<Attempt::ATTEMPT>(call.pass(table)))                      \
    GPUJOIN_TABLE_KERNEL(count_##order##_##attempt, Word, Bits,                          \
                         __launch_bounds__(gpujoin::resident::PassShape<Word>::THREADS), \
                         count<Attempt::ATTEMPT>(source(call, table), call.pass(table))) \
    GPUJOIN_TABLE_KERNEL(lay_out_##order##_##attempt, Word, Bits,                        \
                         __launch_bounds__(gpujoin::resident::SCAN_THREADS),             \
                         layOut<Attempt::ATTEMPT>(call.pass(table)))

#define GPUJOIN_SCATTERING_KERNEL(order, source, pass, attempt, ATTEMPT, Word, Bits)        \
    GPUJOIN_TABLE_KERNEL(scatter_##order##_##attempt, Word, Bits,                           \
                         __launch_bounds__(gpujoin::resident::PassShape<Word>::THREADS, 2), \
                         scatter<Attempt::ATTEMPT>(source(call, table), call.pass(table)))

// The kernels of a pass, which is firstPass or secondPass.
#define GPUJOIN_PASS_KERNELS(order, source, pass, Word, Bits)                    \
    GPUJOIN_TABLE_KERNEL(guess_##order, Word, Bits, , guess(call.pass(table)))   \
    GPUJOIN_SCATTERING_KERNEL(order, source, pass, guessed, GUESSED, Word, Bits) \
    GPUJOIN_COUNTING_KERNELS(order, source, pass, sampled, SAMPLED, Word, Bits)  \
    GPUJOIN_SCATTERING_KERNEL(order, source, pass, sampled, SAMPLED, Word, Bits) \
    GPUJOIN_COUNTING_KERNELS(order, source, pass, counted, COUNTED, Word, Bits)  \
    GPUJOIN_SCATTERING_KERNEL(order, source, pass, counted, COUNTED, Word, Bits)

#define GPUJOIN_RESIDENT_KERNELS(Word, Bits)                                                    \
    extern "C" __global__ void gpujoin_resident_plan_##Bits(                                    \
        gpujoin::resident::ResidentCall<Word>* call) {                                          \
        call->plan();                                                                           \
    }                                                                                           \
    GPUJOIN_PASS_KERNELS(first, columnsOf, firstPass, Word, Bits)                               \
    GPUJOIN_PASS_KERNELS(second, partitionsOf, secondPass, Word, Bits)                          \
    GPUJOIN_TABLE_KERNEL(                                                                       \
        map_tiles, Word, Bits, __launch_bounds__(gpujoin::resident::SCAN_THREADS),              \
        mapTiles<SCAN_THREADS>(call.tables[table].firstSlots, call.launch.firstPartitions,      \
                               PassShape<Word>::ROWS, call.tables[table].tileStarts))           \
    GPUJOIN_TABLE_KERNEL(items, Word, Bits, __launch_bounds__(gpujoin::resident::SCAN_THREADS), \
                         planItemsOf(call, table))

// The kernels that find pairs and mark rows, of exact words or of hashes.
#define GPUJOIN_MATCHING_KERNELS(suffix, Keys, keysOf, Word, Bits)                              \
    extern "C" __global__ void __launch_bounds__(gpujoin::resident::JOIN_THREADS,               \
                                                 gpujoin::resident::JOIN_BLOCKS_PER_SM)         \
        gpujoin_resident_join##suffix##_##Bits(                                                 \
            const __grid_constant__ gpujoin::resident::ResidentCall<Word> call,                 \
            const __grid_constant__ gpujoin::resident::ItemRange range) {                       \
        using namespace gpujoin::resident;                                                      \
        join(call, 0, range,                                                                    \
             PairOutput<Word, Keys>{MatchWriter<Word>{call.matches}, keysOf(call, 0)});         \
    }                                                                                           \
    extern "C" __global__ void __launch_bounds__(gpujoin::resident::JOIN_THREADS,               \
                                                 gpujoin::resident::JOIN_BLOCKS_PER_SM)         \
        gpujoin_resident_mark##suffix##_##Bits(                                                 \
            const __grid_constant__ gpujoin::resident::ResidentCall<Word> call, uint64_t table, \
            const __grid_constant__ gpujoin::resident::ItemRange range, uint8_t* marks) {       \
        using namespace gpujoin::resident;                                                      \
        join(call, table, range, MarkOutput<Word, Keys>{marks, keysOf(call, table)});           \
    }

GPUJOIN_RESIDENT_KERNELS(int32_t, 32)
GPUJOIN_RESIDENT_KERNELS(int64_t, 64)
GPUJOIN_MATCHING_KERNELS(, ExactWords, exactWordsOf, int32_t, 32)
GPUJOIN_MATCHING_KERNELS(, ExactWords, exactWordsOf, int64_t, 64)
GPUJOIN_MATCHING_KERNELS(_hashed, HashedWords, hashedWordsOf, int64_t, 64)
