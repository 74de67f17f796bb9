// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Reads columns in order, with vector loads, and evaluates the condition of their side.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "semi_join_call.h"

namespace gpujoin::semijoin {

// Rows of a thread whose keys are read at once.
constexpr uint32_t BATCH_ROWS = 4;
constexpr uint32_t TILE_ROWS = SCAN_THREADS * BATCH_ROWS;

template <size_t BYTES>
using VectorOf = std::conditional_t<
    BYTES == 1, uint8_t,
    std::conditional_t<
        BYTES == 2, uint16_t,
        std::conditional_t<BYTES == 4, uint32_t, std::conditional_t<BYTES == 8, uint2, uint4>>>>;

// Loads N adjacent values from `row` on, which is a multiple of N. Values after the last of `rows`
// are 0, unless `isWhole` says that there are none. The values are read once, so they must not
// displace the key set from the caches.
template <uint32_t N, bool isWhole, typename T>
__device__ void loadPack(const T* column, uint64_t row, uint64_t rows, T* values) {
    if constexpr (!isWhole) {
        if (row + N > rows) {
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < N; i++) {
                values[i] = row + i < rows ? column[row + i] : T{};
            }
            return;
        }
    }
    constexpr size_t BYTES = sizeof(T) * N < 16 ? sizeof(T) * N : 16;
    constexpr uint32_t LOADS = sizeof(T) * N / BYTES;
    GPUJOIN_UNROLL
    for (uint32_t i = 0; i < LOADS; i++) {
        auto vector = __ldcs(reinterpret_cast<const VectorOf<BYTES>*>(column + row) + i);
        memcpy(values + i * (N / LOADS), &vector, BYTES);
    }
}

// Calls `body` with a null pointer to the type of the condition's columns.
template <typename Body>
__device__ void withColumnType(const RowCondition& condition, const Body& body) {
    switch (condition.widthBytes) {
        case 8:
            return body(static_cast<int64_t*>(nullptr));
        case 4:
            return body(static_cast<int32_t*>(nullptr));
        case 2:
            return body(static_cast<int16_t*>(nullptr));
        default:
            return body(static_cast<int8_t*>(nullptr));
    }
}

// Returns a bit for each row of PACKS packs that satisfies the condition. Pack number p starts at
// row + p * stride. Rows after the last have the value 0.
template <typename T, uint32_t PACKS, uint32_t PACK_ROWS, bool isWhole>
__device__ uint32_t evaluate(const RowCondition& condition, uint64_t row, uint32_t stride,
                             uint64_t rows) {
    T minuends[PACKS][PACK_ROWS];
    T subtrahends[PACKS][PACK_ROWS] = {};
    GPUJOIN_UNROLL
    for (uint32_t p = 0; p < PACKS; p++) {
        loadPack<PACK_ROWS, isWhole>(static_cast<const T*>(condition.minuend), row + p * stride,
                                     rows, minuends[p]);
    }
    if constexpr (sizeof(T) < sizeof(int64_t)) {
        if (condition.subtrahend != nullptr) {
            GPUJOIN_UNROLL
            for (uint32_t p = 0; p < PACKS; p++) {
                loadPack<PACK_ROWS, isWhole>(static_cast<const T*>(condition.subtrahend),
                                             row + p * stride, rows, subtrahends[p]);
            }
        }
    }
    uint32_t selected = 0;
    GPUJOIN_UNROLL
    for (uint32_t p = 0; p < PACKS; p++) {
        GPUJOIN_UNROLL
        for (uint32_t i = 0; i < PACK_ROWS; i++) {
            bool holds = condition.holds(int64_t{minuends[p][i]} - int64_t{subtrahends[p][i]});
            selected |= static_cast<uint32_t>(holds) << (p * PACK_ROWS + i);
        }
    }
    return selected;
}

// Rows of a thread. Adjacent threads have adjacent packs, each of which is one load of keys.
template <typename Word>
struct RowBatch {
    static constexpr uint32_t PACK_ROWS = 16 / sizeof(Word);
    static constexpr uint32_t PACKS = BATCH_ROWS / PACK_ROWS;
    static constexpr uint32_t STRIDE = SCAN_THREADS * PACK_ROWS;

    uint64_t firstRow;
    // A bit for each row that satisfies the condition.
    uint32_t selected;
    Word keys[BATCH_ROWS];

    __device__ bool isSelected(uint32_t i) const { return (selected >> i & 1u) != 0; }
    __device__ uint64_t row(uint32_t i) const {
        return firstRow + i / PACK_ROWS * STRIDE + i % PACK_ROWS;
    }

    // Reads keys and columns of the condition at the same time: unless few rows satisfy the
    // condition, nearly each sector of the keys has one that does.
    template <bool isWhole>
    __device__ void load(const SideView<Word>& side) {
        GPUJOIN_UNROLL
        for (uint32_t p = 0; p < PACKS; p++) {
            loadPack<PACK_ROWS, isWhole>(side.keys, row(p * PACK_ROWS), side.rows,
                                         &keys[p * PACK_ROWS]);
        }
        selected = (1u << BATCH_ROWS) - 1u;
        if (side.condition.isPresent()) {
            withColumnType(side.condition, [&](auto* type) {
                using T = std::remove_pointer_t<decltype(type)>;
                selected = evaluate<T, PACKS, PACK_ROWS, isWhole>(side.condition, firstRow, STRIDE,
                                                                  side.rows);
            });
        }
        if (!isWhole) {
            GPUJOIN_UNROLL
            for (uint32_t i = 0; i < BATCH_ROWS; i++) {
                selected &= row(i) < side.rows ? ~0u : ~(1u << i);
            }
        }
    }
};

// Calls `body` with batches of a side's rows. All threads of a block call it equally often, also
// those without rows. Concurrent blocks read adjacent tiles, so that rows in the order of their keys
// access nearby words of a key set.
template <typename Word, typename Body>
__device__ void scanRows(const SideView<Word>& side, const Body& body) {
    for (uint64_t first = uint64_t{blockIdx.x} * TILE_ROWS; first < side.rows;
         first += uint64_t{gridDim.x} * TILE_ROWS) {
        RowBatch<Word> batch;
        batch.firstRow = first + threadIdx.x * RowBatch<Word>::PACK_ROWS;
        if (first + TILE_ROWS <= side.rows) {
            batch.template load<true>(side);
        } else {
            batch.template load<false>(side);
        }
        body(batch);
    }
}

}  // namespace gpujoin::semijoin
