// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Sources of the tiles of a radix pass: the columns of a table, or the partitions of an earlier
// pass. A source also determines the layout of a staged tile, because it copies the tile to shared
// memory unchanged.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <cuda/barrier>

#include "key_bits.h"
#include "resident_join.h"
#include "slots.cuh"

namespace gpujoin::resident {

using TileBarrier = cuda::barrier<cuda::thread_scope_block>;

// Rows of a tile or of consecutive tiles, and the first of their partitions in the slots of the
// target.
struct Tile {
    uint64_t first;
    uint32_t rows;
    uint32_t partitionBase;
};

// Copies whole 16-byte units to shared memory. All threads call it before they arrive at `barrier`.
// From sm_90 on, one thread passes the copy to the bulk copy engine.
__device__ inline void stageBytes(void* target, const void* source, uint32_t lengthBytes,
                                  TileBarrier& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0 && lengthBytes != 0) {
        cuda::device::memcpy_async_tx(static_cast<unsigned char*>(target),
                                      static_cast<const unsigned char*>(source),
                                      cuda::aligned_size_t<16>(lengthBytes), barrier);
        cuda::device::barrier_expect_tx(barrier, lengthBytes);
    }
#else
    for (uint32_t i = threadIdx.x * 16; i < lengthBytes; i += blockDim.x * 16) {
        __pipeline_memcpy_async(static_cast<unsigned char*>(target) + i,
                                static_cast<const unsigned char*>(source) + i, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}

// Source of a first pass: the columns or runs of a table, in consecutive tiles. A staged tile
// consists of columns.
template <typename Word>
struct ColumnSource {
    // Whether a tile has rows of all partitions.
    static constexpr bool TILES_SPREAD = true;
    const Word* keys;
    const Word* payloads;
    uint64_t rows;
    const Word* const* runs;

    // Returns the rows of up to `tiles` tiles from `tile` on; no rows if there is no such tile.
    __device__ Tile locate(uint32_t tile, uint32_t tiles, uint32_t tileRows) const {
        uint64_t first = uint64_t{tile} * tileRows;
        if (first >= rows) {
            return {0, 0, 0};
        }
        uint64_t rest = rows - first;
        uint64_t most = uint64_t{tiles} * tileRows;
        return {first, static_cast<uint32_t>(rest < most ? rest : most), 0};
    }

    // Columns may end within a 16-byte unit; threads copy the rows of this unit separately.
    template <uint32_t TILE_ROWS>
    __device__ void stage(const Tile& tile, void* memory, TileBarrier& barrier) const {
        constexpr uint32_t UNIT_ROWS = 16 / sizeof(Word);
        uint32_t whole = tile.rows / UNIT_ROWS * UNIT_ROWS;
        Word* stagedKeys = static_cast<Word*>(memory);
        Word* stagedPayloads = stagedKeys + TILE_ROWS;
        const Word* tileKeys = keysFrom(tile.first);
        uint32_t row = whole + threadIdx.x;
        if (row < tile.rows) {
            stagedKeys[row] = tileKeys[row];
        }
        stageBytes(stagedKeys, tileKeys, whole * sizeof(Word), barrier);
        if (runs != nullptr) {
            for (uint32_t r = threadIdx.x; r < tile.rows; r += blockDim.x) {
                stagedPayloads[r] = static_cast<Word>(tile.first + r);
            }
            return;
        }
        if (row < tile.rows) {
            stagedPayloads[row] = payloads[tile.first + row];
        }
        stageBytes(stagedPayloads, payloads + tile.first, whole * sizeof(Word), barrier);
    }

    template <uint32_t TILE_ROWS>
    __device__ static Word stagedKey(const void* memory, uint32_t row) {
        return static_cast<const Word*>(memory)[row];
    }
    template <uint32_t TILE_ROWS>
    __device__ static Tuple<Word> stagedTuple(const void* memory, uint32_t row) {
        return {static_cast<const Word*>(memory)[row],
                static_cast<const Word*>(memory)[TILE_ROWS + row]};
    }

    __device__ Word keyAt(uint64_t row) const { return *keysFrom(row); }

  private:
    // Returns the key of a row, which those of the same tile follow.
    __device__ const Word* keysFrom(uint64_t row) const {
        return runs == nullptr ? keys + row : runs[row / RUN_ROWS] + row % RUN_ROWS;
    }
};

// Source of a second pass: the partitions of the first. A tile lies within one of them. A staged
// tile consists of tuples.
template <typename Word>
struct PartitionSource {
    static constexpr bool TILES_SPREAD = false;
    const Tuple<Word>* tuples;
    Slots slots;
    // First tile of each partition and, last, the number of tiles; written by mapTiles.
    const uint32_t* tileStarts;
    uint32_t partitions;
    uint32_t digits;

    // Returns the rows of up to `tiles` tiles from `tile` on that lie in one partition; no rows if
    // there is no such tile. Called by all threads of a block, which has at least as many threads as
    // there are partitions.
    __device__ Tile locate(uint32_t tile, uint32_t tiles, uint32_t tileRows) const {
        __shared__ Tile found;
        if (threadIdx.x == 0) {
            found = {0, 0, 0};
        }
        __syncthreads();
        if (threadIdx.x < partitions) {
            uint32_t start = tileStarts[threadIdx.x];
            if (start <= tile && tile < tileStarts[threadIdx.x + 1]) {
                uint32_t first = slots.begin[threadIdx.x] + (tile - start) * tileRows;
                uint32_t rest = slots.cursor[threadIdx.x] - first;
                uint64_t most = uint64_t{tiles} * tileRows;
                found = {first, rest < most ? rest : static_cast<uint32_t>(most),
                         threadIdx.x * digits};
            }
        }
        __syncthreads();
        return found;
    }

    // May read one tuple beyond the tile. Slots are aligned, so it lies within the buffer.
    template <uint32_t TILE_ROWS>
    __device__ void stage(const Tile& tile, void* memory, TileBarrier& barrier) const {
        uint32_t lengthBytes = tile.rows * static_cast<uint32_t>(sizeof(Tuple<Word>));
        stageBytes(memory, tuples + tile.first, (lengthBytes + 15u) / 16u * 16u, barrier);
    }

    template <uint32_t TILE_ROWS>
    __device__ static Word stagedKey(const void* memory, uint32_t row) {
        return static_cast<const Tuple<Word>*>(memory)[row].key;
    }
    template <uint32_t TILE_ROWS>
    __device__ static Tuple<Word> stagedTuple(const void* memory, uint32_t row) {
        return static_cast<const Tuple<Word>*>(memory)[row];
    }

    __device__ Word keyAt(uint64_t row) const { return tuples[row].key; }
};

}  // namespace gpujoin::resident
