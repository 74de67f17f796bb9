// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Divides the rows of runs by partition, and appends them to runs of each partition. One kernel
// counts, so that the host can assign enough runs to each partition; a second one copies the rows,
// tile by tile, one column after the other.
#pragma once

#include <cstdint>

#include "../engine/hash.h"
#include "../resident/key_bits.h"
#include "../resident/resident_join.h"

namespace gpujoin::bulk {

constexpr uint32_t DIVISION_THREADS = 512;
constexpr uint32_t DIVISION_THREAD_ROWS = 8;
constexpr uint32_t DIVISION_TILE_ROWS = DIVISION_THREADS * DIVISION_THREAD_ROWS;
static_assert(resident::RUN_ROWS % DIVISION_TILE_ROWS == 0, "a tile lies within one run");

// The same number as in RunDivision.java.
constexpr uint32_t MAX_PARTITIONS = 1u << resident::DIVISION_BITS;

// Rows of runs of which all but the last are full.
struct RunRows {
    const uint64_t* runs;
    uint64_t rows;
    uint64_t partitions;
    // Lowest of the DIVISION_BITS bits of the hash that choose the partition.
    uint64_t shift;

    __device__ uint32_t partitionOf(int64_t word) const {
        return resident::divisionPart(keyHash(word), static_cast<uint32_t>(shift),
                                      static_cast<uint32_t>(partitions));
    }
    __device__ const unsigned char* run(uint64_t tile) const {
        return reinterpret_cast<const unsigned char*>(
            runs[tile * DIVISION_TILE_ROWS / resident::RUN_ROWS]);
    }
    // Returns the position in its run of the first row of a tile.
    __device__ static uint32_t firstRow(uint64_t tile) {
        return static_cast<uint32_t>(tile * DIVISION_TILE_ROWS % resident::RUN_ROWS);
    }
    __device__ uint32_t tileRows(uint64_t tile) const {
        uint64_t rest = rows - tile * DIVISION_TILE_ROWS;
        return static_cast<uint32_t>(rest < DIVISION_TILE_ROWS ? rest : DIVISION_TILE_ROWS);
    }
    __device__ uint64_t tiles() const {
        return (rows + DIVISION_TILE_ROWS - 1) / DIVISION_TILE_ROWS;
    }
};

// Runs to which rows are appended.
struct PartitionRuns {
    // Next row of each partition, counted from the start of its first run.
    uint32_t* nextRows;
    // Index of the first run of each partition.
    const uint32_t* firstRuns;
    const uint64_t* runs;
};

// A column of both the source and the target.
struct RunColumnShape {
    uint32_t offset;
    uint32_t widthBytes;
};

template <typename Value>
__device__ void copyColumn(const unsigned char* source, uint32_t firstRow, uint32_t offset,
                           unsigned char* const (&targets)[DIVISION_THREAD_ROWS],
                           const uint32_t (&targetRows)[DIVISION_THREAD_ROWS]) {
    const Value* values = reinterpret_cast<const Value*>(source + offset) + firstRow + threadIdx.x;
    Value copied[DIVISION_THREAD_ROWS];
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < DIVISION_THREAD_ROWS; k++) {
        if (targets[k] != nullptr) {
            copied[k] = values[k * DIVISION_THREADS];
        }
    }
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < DIVISION_THREAD_ROWS; k++) {
        if (targets[k] != nullptr) {
            reinterpret_cast<Value*>(targets[k] + offset)[targetRows[k]] = copied[k];
        }
    }
}

template <typename Word>
__device__ void countPartitions(const RunRows& rows, uint32_t* counts) {
    __shared__ uint32_t local[MAX_PARTITIONS];
    for (uint32_t p = threadIdx.x; p < rows.partitions; p += blockDim.x) {
        local[p] = 0;
    }
    __syncthreads();
    for (uint64_t tile = blockIdx.x; tile < rows.tiles(); tile += gridDim.x) {
        const Word* words = reinterpret_cast<const Word*>(rows.run(tile)) + rows.firstRow(tile);
        for (uint32_t row = threadIdx.x; row < rows.tileRows(tile); row += blockDim.x) {
            atomicAdd(&local[rows.partitionOf(words[row])], 1u);
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < rows.partitions; p += blockDim.x) {
        if (local[p] != 0) {
            atomicAdd(&counts[p], local[p]);
        }
    }
}

template <typename Word>
__device__ void divideTile(const RunRows& rows, uint64_t tile, const PartitionRuns& target,
                           const RunColumnShape* columns, uint64_t columnCount) {
    using resident::RUN_ROWS;
    __shared__ uint32_t local[MAX_PARTITIONS];
    for (uint32_t p = threadIdx.x; p < rows.partitions; p += DIVISION_THREADS) {
        local[p] = 0;
    }
    __syncthreads();
    const unsigned char* run = rows.run(tile);
    uint32_t first = rows.firstRow(tile);
    uint32_t count = rows.tileRows(tile);
    const Word* words = reinterpret_cast<const Word*>(run) + first;
    uint32_t partitions[DIVISION_THREAD_ROWS];
    uint32_t targetRows[DIVISION_THREAD_ROWS];
    unsigned char* targets[DIVISION_THREAD_ROWS];
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < DIVISION_THREAD_ROWS; k++) {
        uint32_t row = threadIdx.x + k * DIVISION_THREADS;
        partitions[k] = row < count ? rows.partitionOf(words[row]) : 0;
    }
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < DIVISION_THREAD_ROWS; k++) {
        bool isRow = threadIdx.x + k * DIVISION_THREADS < count;
        targetRows[k] = isRow ? atomicAdd(&local[partitions[k]], 1u) : 0;
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < rows.partitions; p += DIVISION_THREADS) {
        local[p] = local[p] == 0 ? 0 : atomicAdd(&target.nextRows[p], local[p]);
    }
    __syncthreads();
    GPUJOIN_UNROLL
    for (uint32_t k = 0; k < DIVISION_THREAD_ROWS; k++) {
        bool isRow = threadIdx.x + k * DIVISION_THREADS < count;
        uint32_t at = local[partitions[k]] + targetRows[k];
        targets[k] = isRow ? reinterpret_cast<unsigned char*>(
                                 target.runs[target.firstRuns[partitions[k]] + at / RUN_ROWS])
                           : nullptr;
        targetRows[k] = at % static_cast<uint32_t>(RUN_ROWS);
    }
    for (uint64_t c = 0; c < columnCount; c++) {
        uint32_t offset = columns[c].offset;
        switch (columns[c].widthBytes) {
            case 1:
                copyColumn<uint8_t>(run, first, offset, targets, targetRows);
                break;
            case 2:
                copyColumn<uint16_t>(run, first, offset, targets, targetRows);
                break;
            case 4:
                copyColumn<uint32_t>(run, first, offset, targets, targetRows);
                break;
            default:
                copyColumn<uint64_t>(run, first, offset, targets, targetRows);
                break;
        }
    }
    // the next tile clears `local`
    __syncthreads();
}

}  // namespace gpujoin::bulk

// `counts` has a number for each partition, to which the kernel adds. `divide` has DIVISION_THREADS
// threads in a block.
#define GPUJOIN_DIVISION_KERNELS(Word, Bits)                                                    \
    extern "C" __global__ void gpujoin_bulk_count_##Bits(                                       \
        const __grid_constant__ gpujoin::bulk::RunRows rows, uint32_t* counts) {                \
        gpujoin::bulk::countPartitions<Word>(rows, counts);                                     \
    }                                                                                           \
    extern "C" __global__ void __launch_bounds__(gpujoin::bulk::DIVISION_THREADS)               \
        gpujoin_bulk_divide_##Bits(const __grid_constant__ gpujoin::bulk::RunRows rows,         \
                                   const __grid_constant__ gpujoin::bulk::PartitionRuns target, \
                                   const gpujoin::bulk::RunColumnShape* columns,                \
                                   uint64_t columnCount) {                                      \
        for (uint64_t tile = blockIdx.x; tile < rows.tiles(); tile += gridDim.x) {              \
            gpujoin::bulk::divideTile<Word>(rows, tile, target, columns, columnCount);          \
        }                                                                                       \
    }
