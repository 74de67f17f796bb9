// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// One radix pass over a table. A block loads a tile of rows into shared memory, orders it by digit,
// and writes one run for each digit, so most writes fill whole memory sectors.
//
// For each digit of a tile, one atomic addition to the cursor of the partition reserves the run.
// The pass first guesses the sizes of the slots: hashed keys with few repetitions fill all
// partitions evenly, so the table need not be counted. If a partition outgrows its slot, keys are
// skewed: the pass counts a sample of the rows, which is enough to reserve more for the partitions
// of frequent keys, and scatters the rows again. If a slot is still too small, it counts all rows.
// The host enqueues the three attempts, and the later ones return at once if an earlier one
// succeeded, so no size travels to the host.
#pragma once

#include <cstdint>

#include "block_scan.cuh"
#include "key_bits.h"
#include "slots.cuh"
#include "tile_source.cuh"

namespace gpujoin::resident {

enum class Attempt { GUESSED, SAMPLED, COUNTED };

template <int ThreadCount, int ThreadRows, int ThreadDigits, int SmBlocks>
struct TileShape {
    static constexpr int THREADS = ThreadCount;
    static constexpr int ROWS_PER_THREAD = ThreadRows;
    static constexpr int DIGITS_PER_THREAD = ThreadDigits;
    static constexpr int BLOCKS_PER_SM = SmBlocks;
    static constexpr uint32_t ROWS = THREADS * ROWS_PER_THREAD;
    static constexpr uint32_t MAX_DIGITS = THREADS * DIGITS_PER_THREAD;
    static_assert(ROWS < 65536, "positions in a tile have 16 bits");

    template <typename Word>
    static GPUJOIN_INLINE constexpr size_t sharedBytes(uint32_t digits) {
        return ROWS * (2 * sizeof(Word) + sizeof(uint16_t)) + digits * 2 * sizeof(uint32_t);
    }
};

// Shared memory of a scattering block. Every member starts at a multiple of 16 bytes.
template <typename Word, typename Shape>
struct TileMemory {
    // The tile in the layout of its source.
    void* rows;
    // Row of the tile for each position in digit order.
    uint16_t* order;
    // Number of rows of each digit; after the scan, the first position of the digit in the tile.
    uint32_t* positions;
    // Difference between the row in the target and the position in the tile, for each digit.
    uint32_t* shifts;

    __device__ static TileMemory over(void* memory, uint32_t digits) {
        TileMemory tile;
        tile.rows = memory;
        tile.order = reinterpret_cast<uint16_t*>(static_cast<Word*>(memory) + 2 * Shape::ROWS);
        tile.positions = reinterpret_cast<uint32_t*>(tile.order + Shape::ROWS);
        tile.shifts = tile.positions + digits;
        return tile;
    }
};

// Returns which row the counted row number `index` of a run of tiles is.
template <Attempt ATTEMPT>
__device__ uint32_t countedRow(uint32_t index) {
    return ATTEMPT == Attempt::SAMPLED
               ? index / SAMPLE_GROUP_ROWS * (SAMPLE_GROUP_ROWS * SAMPLE_STEP) +
                     index % SAMPLE_GROUP_ROWS
               : index;
}

// Adds the digits of all rows, or of a sample of the rows, to `counts` in shared memory. To overlap
// latencies, a thread reads several keys before it counts the first.
template <typename Word, typename Source, typename Shape, Attempt ATTEMPT>
__device__ void countRows(const Source& source, const Tile& run, RadixDigit digit,
                          uint32_t* counts) {
    constexpr int BATCH_ROWS = 8;
    for (uint32_t base = threadIdx.x; countedRow<ATTEMPT>(base) < run.rows;
         base += BATCH_ROWS * Shape::THREADS) {
        Word keys[BATCH_ROWS];
        GPUJOIN_UNROLL
        for (int k = 0; k < BATCH_ROWS; k++) {
            uint32_t row = countedRow<ATTEMPT>(base + k * Shape::THREADS);
            keys[k] = row < run.rows ? source.keyAt(run.first + row) : Word{0};
        }
        GPUJOIN_UNROLL
        for (int k = 0; k < BATCH_ROWS; k++) {
            if (countedRow<ATTEMPT>(base + k * Shape::THREADS) < run.rows) {
                atomicAdd(&counts[digit.of(keyHash(keys[k]))], 1u);
            }
        }
    }
}

// Adds the counts of the digits of all tiles, or of a sample of their rows, to the cursors. The grid
// may have any size; each block counts an equal share of consecutive tiles, and adds to the cursors
// once for the tiles of a partition. Runs if the word `condition` is 1.
template <typename Word, typename Source, typename Shape, Attempt ATTEMPT>
__device__ void countTiles(const Source& source, uint32_t tiles, RadixDigit digit,
                           const Slots& slots, const uint32_t* condition) {
    extern __shared__ uint32_t counts[];
    if (*condition == 0) {
        return;
    }
    auto end = static_cast<uint32_t>(uint64_t{tiles} * (blockIdx.x + 1) / gridDim.x);
    auto t = static_cast<uint32_t>(uint64_t{tiles} * blockIdx.x / gridDim.x);
    while (t < end) {
        Tile run = source.locate(t, end - t, Shape::ROWS);
        if (run.rows == 0) {
            return;
        }
        for (uint32_t d = threadIdx.x; d < digit.count(); d += Shape::THREADS) {
            counts[d] = 0;
        }
        __syncthreads();
        countRows<Word, Source, Shape, ATTEMPT>(source, run, digit, counts);
        __syncthreads();
        for (uint32_t d = threadIdx.x; d < digit.count(); d += Shape::THREADS) {
            if (counts[d] != 0) {
                atomicAdd(&slots.cursor[run.partitionBase + d], counts[d]);
            }
        }
        t += (run.rows + Shape::ROWS - 1) / Shape::ROWS;
    }
}

// Ranks the rows of the tile within their digits, and counts the digits. To overlap latencies, it
// reads all keys before it updates the first counter, and uses no rank before the last update.
template <typename Word, typename Source, typename Shape>
__device__ void rankRows(const TileMemory<Word, Shape>& memory, const Tile& tile, RadixDigit digit,
                         uint32_t (&digitAndRank)[Shape::ROWS_PER_THREAD]) {
    uint32_t ranks[Shape::ROWS_PER_THREAD];
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t row = threadIdx.x + k * Shape::THREADS;
        digitAndRank[k] =
            digit.of(keyHash(Source::template stagedKey<Shape::ROWS>(memory.rows, row)));
        ranks[k] = 0;
    }
    if (tile.rows == Shape::ROWS) {
        GPUJOIN_UNROLL
        for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
            ranks[k] = atomicAdd(&memory.positions[digitAndRank[k]], 1u);
        }
    } else {
        GPUJOIN_UNROLL
        for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
            if (threadIdx.x + k * Shape::THREADS < tile.rows) {
                ranks[k] = atomicAdd(&memory.positions[digitAndRank[k]], 1u);
            }
        }
    }
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        digitAndRank[k] = digitAndRank[k] << 16 | ranks[k];
    }
}

// Reserves the runs of a thread's digits in the target.
template <typename Shape>
struct RunReservation {
    static constexpr int DIGITS = Shape::DIGITS_PER_THREAD;
    uint32_t counts[DIGITS];
    uint32_t targets[DIGITS];
    uint32_t slotEnds[DIGITS];
    uint32_t position;

    // Replaces the counts of the digits by first positions. Issues the reservations first and
    // leaves their results to finish(), because they take long.
    template <typename Word, Attempt ATTEMPT>
    __device__ void start(const TileMemory<Word, Shape>& memory, const Tile& tile, uint32_t digits,
                          const Slots& slots) {
        __shared__ BlockScan<Shape::THREADS> scan;
        uint32_t sum = 0;
        GPUJOIN_UNROLL
        for (int e = 0; e < DIGITS; e++) {
            uint32_t d = threadIdx.x * DIGITS + e;
            counts[e] = d < digits ? memory.positions[d] : 0;
            sum += counts[e];
            if (counts[e] != 0) {
                targets[e] = atomicAdd(&slots.cursor[tile.partitionBase + d], counts[e]);
                slotEnds[e] =
                    ATTEMPT == Attempt::COUNTED ? 0 : __ldg(&slots.end[tile.partitionBase + d]);
            }
        }
        uint32_t total;
        position = scan.exclusiveSum(sum, total);
        uint32_t next = position;
        GPUJOIN_UNROLL
        for (int e = 0; e < DIGITS; e++) {
            uint32_t d = threadIdx.x * DIGITS + e;
            if (d < digits) {
                memory.positions[d] = next;
            }
            next += counts[e];
        }
    }

    // Stores the differences from positions to target rows. Returns whether a run exceeds its slot
    // without the withheld rows.
    template <typename Word, Attempt ATTEMPT>
    __device__ bool finish(const TileMemory<Word, Shape>& memory,
                           const uint32_t& withheldRows) const {
        bool overflow = false;
        uint32_t next = position;
        GPUJOIN_UNROLL
        for (int e = 0; e < DIGITS; e++) {
            if (counts[e] != 0) {
                memory.shifts[threadIdx.x * DIGITS + e] = targets[e] - next;
                overflow |= ATTEMPT != Attempt::COUNTED &&
                            targets[e] + counts[e] > slotEnds[e] - withheldRows;
            }
            next += counts[e];
        }
        return overflow;
    }
};

// Orders the rows of the tile by digit: computes positions from ranks and first positions.
template <typename Word, typename Shape>
__device__ void orderRows(const TileMemory<Word, Shape>& memory, const Tile& tile,
                          uint32_t (&digitAndRank)[Shape::ROWS_PER_THREAD]) {
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        digitAndRank[k] = memory.positions[digitAndRank[k] >> 16] + (digitAndRank[k] & 0xFFFFu);
    }
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t row = threadIdx.x + k * Shape::THREADS;
        if (row < tile.rows) {
            memory.order[digitAndRank[k]] = static_cast<uint16_t>(row);
        }
    }
}

// Returns a row of the target of a pass that stays on the device. Other kinds of targets overload it.
template <typename Word>
__device__ Tuple<Word>& targetRow(Tuple<Word>* target, uint32_t, uint32_t row) {
    return target[row];
}

// Writes the tile in digit order; adjacent threads write adjacent rows of a run.
template <typename Word, typename Source, typename Shape, typename Target>
__device__ void writeRuns(const TileMemory<Word, Shape>& memory, const Tile& tile, RadixDigit digit,
                          const Target& target) {
    uint32_t rows[Shape::ROWS_PER_THREAD];
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t position = threadIdx.x + k * Shape::THREADS;
        rows[k] = memory.order[position < tile.rows ? position : 0];
    }
    GPUJOIN_UNROLL
    for (int k = 0; k < Shape::ROWS_PER_THREAD; k++) {
        uint32_t position = threadIdx.x + k * Shape::THREADS;
        Tuple<Word> tuple = Source::template stagedTuple<Shape::ROWS>(memory.rows, rows[k]);
        uint32_t value = digit.of(keyHash(tuple.key));
        uint32_t row = memory.shifts[value] + position;
        if (position < tile.rows) {
            targetRow<Word>(target, value, row) = tuple;
        }
    }
}

// Scatters a tile. All threads of the block call it; the next call follows a barrier and has the
// other parity. If a run exceeds its slot, the block sets the overflow word of the attempt and writes
// nothing. It also reads nothing if another block has set that word.
template <typename Word, typename Source, typename Shape, Attempt ATTEMPT, typename Target>
__device__ void scatterTile(const Source& source, const Tile& tile, RadixDigit digit,
                            const Slots& slots, const Target& target, void* shared,
                            TileBarrier& staged, bool parity, const uint32_t& withheldRows) {
    uint32_t digits = digit.count();
    auto memory = TileMemory<Word, Shape>::over(shared, digits);
    uint32_t* overflowWord = ATTEMPT == Attempt::GUESSED ? slots.overflow : slots.sampleOverflow;
    bool overflowed = ATTEMPT != Attempt::COUNTED && __ldcg(overflowWord) != 0;
    for (uint32_t d = threadIdx.x; d < digits; d += Shape::THREADS) {
        memory.positions[d] = 0;
    }
    if (__syncthreads_or(overflowed)) {
        return;
    }
    source.template stage<Shape::ROWS>(tile, memory.rows, staged);
    if (threadIdx.x == 0) {
        (void)staged.arrive();
    }
    staged.wait_parity(parity);
    __syncthreads();
    uint32_t digitAndRank[Shape::ROWS_PER_THREAD];
    rankRows<Word, Source, Shape>(memory, tile, digit, digitAndRank);
    __syncthreads();
    RunReservation<Shape> runs;
    runs.template start<Word, ATTEMPT>(memory, tile, digits, slots);
    __syncthreads();
    orderRows<Word, Shape>(memory, tile, digitAndRank);
    bool overflow = runs.template finish<Word, ATTEMPT>(memory, withheldRows);
    if (overflow) {
        *overflowWord = 1;
    }
    if (__syncthreads_or(overflow)) {
        return;
    }
    writeRuns<Word, Source, Shape>(memory, tile, digit, target);
}

// Returns the rows of a guessed slot that no tile up to number `tile` may use: the slots fill at the
// pace of the tiles unless keys are skewed, so a failed guess is found early. Tiles that run at once
// and clusters of equal keys are allowed for.
__device__ inline uint32_t withheldRows(uint32_t capacityRows, uint32_t tile, uint32_t tiles) {
    constexpr float RUNNING_TILES = 1024;
    float share =
        1.0f / 32 + 1.25f * (static_cast<float>(tile) + RUNNING_TILES) / static_cast<float>(tiles);
    return share >= 1 ? 0 : static_cast<uint32_t>((1 - share) * static_cast<float>(capacityRows));
}

// Scatters all tiles. The grid may have any size. `condition` is a word that does not change
// meanwhile: a guessed attempt runs if it is 0 or null, another one if it is 1.
template <typename Word, typename Source, typename Shape, Attempt ATTEMPT, typename Target>
__device__ void scatterTiles(const Source& source, uint32_t tiles, RadixDigit digit,
                             const Slots& slots, const Target& target, const uint32_t* condition) {
    extern __shared__ __align__(16) unsigned char shared[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ TileBarrier staged;
    uint32_t overflowed = condition == nullptr ? 0 : *condition;
    if (overflowed != (ATTEMPT == Attempt::GUESSED ? 0 : 1)) {
        return;
    }
    if (threadIdx.x == 0) {
        init(&staged, 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        cuda::device::experimental::fence_proxy_async_shared_cta();
#endif
    }
    // In shared memory, since registers limit the blocks that run at once.
    __shared__ uint32_t withheld;
    bool parity = false;
    for (uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        Tile tile = source.locate(t, 1, Shape::ROWS);
        if (threadIdx.x == 0) {
            withheld = ATTEMPT == Attempt::GUESSED && Source::TILES_SPREAD
                           ? withheldRows(*slots.end - *slots.begin, t, tiles)
                           : 0;
        }
        __syncthreads();
        if (tile.rows == 0) {
            return;
        }
        scatterTile<Word, Source, Shape, ATTEMPT>(source, tile, digit, slots, target, shared,
                                                  staged, parity, withheld);
        parity = !parity;
    }
}

}  // namespace gpujoin::resident
