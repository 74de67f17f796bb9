#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <cuda/barrier>

#include "key_bits.cuh"
#include "slots.cuh"

/*
 * Where a radix pass's tiles come from: the columns of a table, or the partitions of an earlier pass. A source
 * also decides how a staged tile lies in shared memory, because it is copied there as it is.
 */
namespace gpujoin::resident {

using TileBarrier = cuda::barrier<cuda::thread_scope_block>;

/** Rows of one tile and the first of its partitions in the target's slots. */
struct Tile {
    std::uint64_t first;
    std::uint32_t rows;
    std::uint32_t partitionBase;
};

/**
 * Copies whole 16-byte units to shared memory; all threads call it before they arrive at `barrier`. From sm_90
 * on, one thread hands the copy to the bulk engine.
 */
__device__ inline void stageBytes(void* target, const void* source, std::uint32_t lengthBytes,
                                  TileBarrier& barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0 && lengthBytes != 0) {
        cuda::device::memcpy_async_tx(static_cast<unsigned char*>(target),
                                      static_cast<const unsigned char*>(source),
                                      cuda::aligned_size_t<16>(lengthBytes), barrier);
        cuda::device::barrier_expect_tx(barrier, lengthBytes);
    }
#else
    for (std::uint32_t i = threadIdx.x * 16; i < lengthBytes; i += blockDim.x * 16) {
        __pipeline_memcpy_async(static_cast<unsigned char*>(target) + i,
                                static_cast<const unsigned char*>(source) + i, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}

/** Source of a first pass: a table's columns, one tile after the other; staged as columns. */
template <class Word>
struct ColumnSource {
    const Word* keys;
    const Word* payloads;
    std::uint64_t rows;

    __device__ Tile locate(std::uint32_t tile, std::uint32_t tileRows) const {
        const std::uint64_t first = std::uint64_t{tile} * tileRows;
        if (first >= rows) {
            return {0, 0, 0};
        }
        const std::uint64_t rest = rows - first;
        return {first, static_cast<std::uint32_t>(rest < tileRows ? rest : tileRows), 0};
    }

    /** Columns may end within a 16-byte unit; the rows of the last one are copied by themselves. */
    template <std::uint32_t TILE_ROWS>
    __device__ void stage(const Tile& tile, void* memory, TileBarrier& barrier) const {
        constexpr std::uint32_t kUnitRows = 16 / sizeof(Word);
        const std::uint32_t whole = tile.rows / kUnitRows * kUnitRows;
        Word* stagedKeys = static_cast<Word*>(memory);
        Word* stagedPayloads = stagedKeys + TILE_ROWS;
        const std::uint32_t row = whole + threadIdx.x;
        if (row < tile.rows) {
            stagedKeys[row] = keys[tile.first + row];
            stagedPayloads[row] = payloads[tile.first + row];
        }
        stageBytes(stagedKeys, keys + tile.first, whole * sizeof(Word), barrier);
        stageBytes(stagedPayloads, payloads + tile.first, whole * sizeof(Word), barrier);
    }

    template <std::uint32_t TILE_ROWS>
    __device__ static Word stagedKey(const void* memory, std::uint32_t row) {
        return static_cast<const Word*>(memory)[row];
    }
    template <std::uint32_t TILE_ROWS>
    __device__ static Tuple<Word> stagedTuple(const void* memory, std::uint32_t row) {
        return {static_cast<const Word*>(memory)[row],
                static_cast<const Word*>(memory)[TILE_ROWS + row]};
    }

    __device__ Word keyAt(std::uint64_t row) const { return keys[row]; }
};

/** Source of a second pass: the first pass's partitions; a tile lies within one of them. Staged as tuples. */
template <class Word>
struct PartitionSource {
    const Tuple<Word>* tuples;
    Slots slots;
    /** First tile of each partition and, last, the number of tiles; from mapTiles. */
    const std::uint32_t* tileStarts;
    std::uint32_t partitions;
    std::uint32_t digits;

    /** Called by all threads of a block, which has at least as many as there are partitions. */
    __device__ Tile locate(std::uint32_t tile, std::uint32_t tileRows) const {
        __shared__ Tile found;
        if (threadIdx.x == 0) {
            found = {0, 0, 0};
        }
        __syncthreads();
        if (threadIdx.x < partitions) {
            const std::uint32_t start = tileStarts[threadIdx.x];
            if (start <= tile && tile < tileStarts[threadIdx.x + 1]) {
                const std::uint32_t first = slots.begin[threadIdx.x] + (tile - start) * tileRows;
                const std::uint32_t rest = slots.cursor[threadIdx.x] - first;
                found = {first, rest < tileRows ? rest : tileRows, threadIdx.x * digits};
            }
        }
        __syncthreads();
        return found;
    }

    /** May read up to one tuple more than the tile has; slots are aligned, so that it is inside the buffer. */
    template <std::uint32_t TILE_ROWS>
    __device__ void stage(const Tile& tile, void* memory, TileBarrier& barrier) const {
        const std::uint32_t lengthBytes =
            tile.rows * static_cast<std::uint32_t>(sizeof(Tuple<Word>));
        stageBytes(memory, tuples + tile.first, (lengthBytes + 15u) / 16u * 16u, barrier);
    }

    template <std::uint32_t TILE_ROWS>
    __device__ static Word stagedKey(const void* memory, std::uint32_t row) {
        return static_cast<const Tuple<Word>*>(memory)[row].key;
    }
    template <std::uint32_t TILE_ROWS>
    __device__ static Tuple<Word> stagedTuple(const void* memory, std::uint32_t row) {
        return static_cast<const Tuple<Word>*>(memory)[row];
    }

    __device__ Word keyAt(std::uint64_t row) const { return tuples[row].key; }
};

}  // namespace gpujoin::resident
