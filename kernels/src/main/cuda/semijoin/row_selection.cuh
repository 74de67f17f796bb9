// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Selects the rows of a side that satisfy its condition. Keys of other rows are not read.
#pragma once

#include <climits>
#include <cstdint>

#include "row_appender.cuh"
#include "row_scan.cuh"

namespace gpujoin::semijoin {

// Rows of a thread and of a block whose condition is evaluated before their keys are read.
constexpr uint32_t SELECTION_ROWS = 16;
constexpr uint32_t SELECTION_TILE_ROWS = SCAN_THREADS * SELECTION_ROWS;

// The smallest and the largest key of a thread's rows.
struct KeyRange {
    long long smallest = LLONG_MAX;
    long long largest = LLONG_MIN;

    __device__ void add(long long key) {
        smallest = min(smallest, key);
        largest = max(largest, key);
    }

    // All threads of a warp call it.
    __device__ void addTo(KeyStatistics& statistics) {
        for (int distance = 16; distance > 0; distance /= 2) {
            smallest = min(smallest, __shfl_xor_sync(0xFFFFFFFFu, smallest, distance));
            largest = max(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, distance));
        }
        if (threadIdx.x % 32 == 0 && smallest <= largest) {
            atomicMin(reinterpret_cast<long long*>(&statistics.smallest), smallest);
            atomicMax(reinterpret_cast<long long*>(&statistics.largest), largest);
        }
    }
};

// The selected rows of a tile, in shared memory.
struct SelectionTile {
    uint32_t found[2];
    unsigned long long firstPlace;
    uint16_t offsets[SELECTION_TILE_ROWS];
};

// Adds the rows of a tile that satisfy the condition to its offsets.
template <typename T, bool isWhole>
__device__ void selectTile(const RowCondition& condition, uint64_t first, uint64_t rows,
                           uint32_t* found, uint16_t* offsets) {
    // A pack of values is one load. More packs at once would need too many registers.
    constexpr uint32_t PACK_ROWS = 16 / sizeof(T);
    constexpr uint32_t PACKS = sizeof(T) == 1 ? 1 : 2;
    constexpr uint32_t STRIDE = SCAN_THREADS * PACK_ROWS;
    uint32_t threadOffset = threadIdx.x * PACK_ROWS;
    uint32_t selected = 0;
#pragma unroll 1
    for (uint32_t row = 0; row < SELECTION_ROWS; row += PACKS * PACK_ROWS) {
        selected |= evaluate<T, PACKS, PACK_ROWS, isWhole>(
                        condition, first + threadOffset + row / PACK_ROWS * STRIDE, STRIDE, rows)
                    << row;
    }
    auto offsetOf = [&](uint32_t i) {
        return threadOffset + i / PACK_ROWS * STRIDE + i % PACK_ROWS;
    };
    if (!isWhole) {
        for (uint32_t i = 0; i < SELECTION_ROWS; i++) {
            selected &= first + offsetOf(i) < rows ? ~0u : ~(1u << i);
        }
    }
    uint32_t place = placeInBlock(found, __popc(selected));
    for (; selected != 0; selected &= selected - 1u) {
        offsets[place++] = static_cast<uint16_t>(offsetOf(__ffs(selected) - 1));
    }
}

// Writes keys and numbers of the build side's rows that satisfy its condition, as far as there is
// room, and their statistics.
template <typename Word>
__device__ void selectRows(const SemiJoinCall<Word>& call) {
    __shared__ SelectionTile tile;
    if (threadIdx.x == 0) {
        tile.found[0] = 0;
    }
    __syncthreads();
    const SideView<Word>& build = call.buildView();
    const Selection<Word> selection = call.selection();
    const uint64_t capacityRows = call.selectionCapacityRows();
    KeyRange range;
    uint32_t round = 0;
    for (uint64_t first = uint64_t{blockIdx.x} * SELECTION_TILE_ROWS; first < build.rows;
         first += uint64_t{gridDim.x} * SELECTION_TILE_ROWS) {
        withColumnType(build.condition, [&](auto* type) {
            using T = std::remove_pointer_t<decltype(type)>;
            if (first + SELECTION_TILE_ROWS <= build.rows) {
                selectTile<T, true>(build.condition, first, build.rows, &tile.found[round],
                                    tile.offsets);
            } else {
                selectTile<T, false>(build.condition, first, build.rows, &tile.found[round],
                                     tile.offsets);
            }
        });
        __syncthreads();
        uint32_t found = tile.found[round];
        if (threadIdx.x == 0) {
            tile.firstPlace = found == 0 ? 0 : reserve(&call.report->selected.rows, found);
            tile.found[round ^ 1u] = 0;
        }
        __syncthreads();
#pragma unroll 4
        for (uint32_t number = threadIdx.x; number < found; number += SCAN_THREADS) {
            uint64_t row = first + tile.offsets[number];
            uint64_t place = tile.firstPlace + number;
            Word key = __ldcs(build.keys + row);
            range.add(key);
            if (place < capacityRows) {
                selection.keys[place] = key;
                selection.rows[place] = static_cast<uint32_t>(row);
            }
        }
        round ^= 1u;
        __syncthreads();
    }
    range.addTo(call.report->selected);
}

// Writes the statistics of a build side without a condition, all of whose rows are selected.
template <typename Word>
__device__ void measureKeys(const SemiJoinCall<Word>& call) {
    const SideView<Word>& build = call.buildView();
    KeyRange range;
    scanRows(build, [&](const RowBatch<Word>& batch) {
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            if (batch.isSelected(i)) {
                range.add(batch.keys[i]);
            }
        }
    });
    range.addTo(call.report->selected);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        call.report->selected.rows = build.rows;
    }
}

}  // namespace gpujoin::semijoin
