#pragma once

#include <cstdint>

#include "block_scan.cuh"
#include "key_bits.cuh"
#include "slots.cuh"
#include "tile_source.cuh"

/*
 * One radix pass over a table: tiles of rows go through shared memory, where they are ordered by digit, and
 * leave as one run per digit, so that writes are mostly whole memory sectors.
 *
 * Where a run goes is one atomic reservation per tile and digit on the partition's cursor. The partitions'
 * slots are guessed first: hashed keys without many repeats fill all partitions alike, and then no counting
 * pass over the table is needed. If a partition outgrows its slot, the guess is thrown away and the table is
 * counted and scattered again; both attempts are always enqueued and the second returns at once when it is
 * not needed, so that the host does not have to know.
 */
namespace gpujoin::resident {

enum class Attempt { GUESSED, COUNTED };

template <int THREADS, int ROWS_PER_THREAD, int DIGITS_PER_THREAD, int BLOCKS_PER_SM>
struct TileShape {
    static constexpr int kThreads = THREADS;
    static constexpr int kRowsPerThread = ROWS_PER_THREAD;
    static constexpr int kDigitsPerThread = DIGITS_PER_THREAD;
    static constexpr int kBlocksPerSm = BLOCKS_PER_SM;
    static constexpr std::uint32_t kRows = THREADS * ROWS_PER_THREAD;
    static constexpr std::uint32_t kMaxDigits = THREADS * DIGITS_PER_THREAD;
    static_assert(kRows < 65536, "places in a tile are 16 bits wide");

    template <class Word>
    static constexpr std::size_t sharedBytes(std::uint32_t digits) {
        return kRows * (2 * sizeof(Word) + sizeof(std::uint16_t)) +
               digits * 2 * sizeof(std::uint32_t);
    }
};

/** Shared memory of a scattering block; a multiple of 16 bytes before every member. */
template <class Word, class Shape>
struct TileMemory {
    /** The tile as its source stages it. */
    void* rows;
    /** Row of the tile by its place in digit order. */
    std::uint16_t* order;
    /** Rows of a digit; after the scan the first place of the digit in the tile. */
    std::uint32_t* places;
    /** What to add to a place in the tile to get the row in the target. */
    std::uint32_t* shifts;

    __device__ static TileMemory over(void* memory, std::uint32_t digits) {
        TileMemory m;
        m.rows = memory;
        m.order = reinterpret_cast<std::uint16_t*>(static_cast<Word*>(memory) + 2 * Shape::kRows);
        m.places = reinterpret_cast<std::uint32_t*>(m.order + Shape::kRows);
        m.shifts = m.places + digits;
        return m;
    }
};

/** Counts the digits of all tiles into the cursors; a grid of any size. */
template <class Word, class Source, class Shape>
__global__ __launch_bounds__(Shape::kThreads) void countTiles(Source source, std::uint32_t tiles,
                                                              RadixDigit digit, Slots slots) {
    extern __shared__ std::uint32_t counts[];
    if (*slots.overflow == 0) {
        return;
    }
    for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        for (std::uint32_t d = threadIdx.x; d < digit.count(); d += Shape::kThreads) {
            counts[d] = 0;
        }
        const Tile tile = source.locate(t, Shape::kRows);
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < tile.rows; i += Shape::kThreads) {
            atomicAdd(&counts[digit.of(keyHash(source.keyAt(tile.first + i)))], 1u);
        }
        __syncthreads();
        for (std::uint32_t d = threadIdx.x; d < digit.count(); d += Shape::kThreads) {
            if (counts[d] != 0) {
                atomicAdd(&slots.cursor[tile.partitionBase + d], counts[d]);
            }
        }
    }
}

/**
 * Ranks the tile's rows within their digits; counts the digits on the way. All keys are read before the first
 * counter is touched, and no rank is used before the last one is asked for: each takes its time.
 */
template <class Word, class Source, class Shape>
__device__ void rankRows(const TileMemory<Word, Shape>& memory, const Tile& tile, RadixDigit digit,
                         std::uint32_t (&digitAndRank)[Shape::kRowsPerThread]) {
    std::uint32_t ranks[Shape::kRowsPerThread];
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        const std::uint32_t row = threadIdx.x + k * Shape::kThreads;
        digitAndRank[k] =
            digit.of(keyHash(Source::template stagedKey<Shape::kRows>(memory.rows, row)));
        ranks[k] = 0;
    }
    if (tile.rows == Shape::kRows) {
#pragma unroll
        for (int k = 0; k < Shape::kRowsPerThread; k++) {
            ranks[k] = atomicAdd(&memory.places[digitAndRank[k]], 1u);
        }
    } else {
#pragma unroll
        for (int k = 0; k < Shape::kRowsPerThread; k++) {
            if (threadIdx.x + k * Shape::kThreads < tile.rows) {
                ranks[k] = atomicAdd(&memory.places[digitAndRank[k]], 1u);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        digitAndRank[k] = digitAndRank[k] << 16 | ranks[k];
    }
}

/** A thread's digits on their way from counts to runs in the target. */
template <class Shape>
struct RunReservation {
    static constexpr int kDigits = Shape::kDigitsPerThread;
    std::uint32_t counts[kDigits];
    std::uint32_t targets[kDigits];
    std::uint32_t slotEnds[kDigits];
    std::uint32_t place;

    /**
     * Turns the digits' counts into first places. Asks for the runs first, and leaves their answers alone: they
     * take long, and only finish() needs them.
     */
    template <class Word, Attempt ATTEMPT>
    __device__ void start(const TileMemory<Word, Shape>& memory, const Tile& tile,
                          std::uint32_t digits, const Slots& slots) {
        __shared__ BlockScan<Shape::kThreads> scan;
        std::uint32_t sum = 0;
#pragma unroll
        for (int e = 0; e < kDigits; e++) {
            const std::uint32_t d = threadIdx.x * kDigits + e;
            counts[e] = d < digits ? memory.places[d] : 0;
            sum += counts[e];
            if (counts[e] != 0) {
                targets[e] = atomicAdd(&slots.cursor[tile.partitionBase + d], counts[e]);
                slotEnds[e] =
                    ATTEMPT == Attempt::GUESSED ? __ldg(&slots.end[tile.partitionBase + d]) : 0;
            }
        }
        std::uint32_t total;
        place = scan.exclusiveSum(sum, total);
        std::uint32_t next = place;
#pragma unroll
        for (int e = 0; e < kDigits; e++) {
            const std::uint32_t d = threadIdx.x * kDigits + e;
            if (d < digits) {
                memory.places[d] = next;
            }
            next += counts[e];
        }
    }

    /** Stores what leads from places to target rows. Returns whether a run does not fit its slot. */
    template <class Word, Attempt ATTEMPT>
    __device__ bool finish(const TileMemory<Word, Shape>& memory) const {
        bool overflow = false;
        std::uint32_t next = place;
#pragma unroll
        for (int e = 0; e < kDigits; e++) {
            if (counts[e] != 0) {
                memory.shifts[threadIdx.x * kDigits + e] = targets[e] - next;
                overflow |= ATTEMPT == Attempt::GUESSED && targets[e] + counts[e] > slotEnds[e];
            }
            next += counts[e];
        }
        return overflow;
    }
};

/** Orders the tile's rows by digit: their places in the tile, from ranks and first places. */
template <class Word, class Shape>
__device__ void orderRows(const TileMemory<Word, Shape>& memory, const Tile& tile,
                          std::uint32_t (&digitAndRank)[Shape::kRowsPerThread]) {
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        digitAndRank[k] = memory.places[digitAndRank[k] >> 16] + (digitAndRank[k] & 0xFFFFu);
    }
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        const std::uint32_t row = threadIdx.x + k * Shape::kThreads;
        if (row < tile.rows) {
            memory.order[digitAndRank[k]] = static_cast<std::uint16_t>(row);
        }
    }
}

/** Writes the tile in digit order, neighbouring threads to neighbouring rows of a run. */
template <class Word, class Source, class Shape>
__device__ void writeRuns(const TileMemory<Word, Shape>& memory, const Tile& tile, RadixDigit digit,
                          Tuple<Word>* target) {
    std::uint32_t rows[Shape::kRowsPerThread];
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        const std::uint32_t place = threadIdx.x + k * Shape::kThreads;
        rows[k] = memory.order[place < tile.rows ? place : 0];
    }
#pragma unroll
    for (int k = 0; k < Shape::kRowsPerThread; k++) {
        const std::uint32_t place = threadIdx.x + k * Shape::kThreads;
        const Tuple<Word> tuple = Source::template stagedTuple<Shape::kRows>(memory.rows, rows[k]);
        const std::uint32_t row = memory.shifts[digit.of(keyHash(tuple.key))] + place;
        if (place < tile.rows) {
            target[row] = tuple;
        }
    }
}

/**
 * Scatters a tile; all threads of the block call it, and again only after a barrier, with the other parity.
 * Writes nothing where a guess is lost: when the tile finds that a run does not fit, it says so in the slots'
 * overflow, and when an earlier one has, it stops.
 */
template <class Word, class Source, class Shape, Attempt ATTEMPT>
__device__ void scatterTile(const Source& source, const Tile& tile, RadixDigit digit,
                            const Slots& slots, Tuple<Word>* target, void* shared,
                            TileBarrier& staged, bool parity) {
    const std::uint32_t digits = digit.count();
    const auto memory = TileMemory<Word, Shape>::over(shared, digits);
    source.template stage<Shape::kRows>(tile, memory.rows, staged);
    if (threadIdx.x == 0) {
        (void)staged.arrive();
    }
    for (std::uint32_t d = threadIdx.x; d < digits; d += Shape::kThreads) {
        memory.places[d] = 0;
    }
    const bool lost = ATTEMPT == Attempt::GUESSED && __ldcg(slots.overflow) != 0;
    staged.wait_parity(parity);
    if (__syncthreads_or(lost)) {
        return;
    }
    std::uint32_t digitAndRank[Shape::kRowsPerThread];
    rankRows<Word, Source, Shape>(memory, tile, digit, digitAndRank);
    __syncthreads();
    RunReservation<Shape> runs;
    runs.template start<Word, ATTEMPT>(memory, tile, digits, slots);
    __syncthreads();
    orderRows<Word, Shape>(memory, tile, digitAndRank);
    const bool overflow = runs.template finish<Word, ATTEMPT>(memory);
    if (overflow) {
        *slots.overflow = 1;
    }
    if (__syncthreads_or(overflow)) {
        return;
    }
    writeRuns<Word, Source, Shape>(memory, tile, digit, target);
}

/**
 * Scatters all tiles; a grid of any size. Does nothing where `condition`, a word that does not change meanwhile,
 * says so: a guess runs where it is 0, a counted attempt where it is 1.
 */
template <class Word, class Source, class Shape, Attempt ATTEMPT>
__global__ __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm) void scatterTiles(
    Source source, std::uint32_t tiles, RadixDigit digit, Slots slots, Tuple<Word>* target,
    const std::uint32_t* condition) {
    extern __shared__ __align__(16) unsigned char shared[];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ TileBarrier staged;
    if (*condition != (ATTEMPT == Attempt::COUNTED ? 1 : 0)) {
        return;
    }
    if (threadIdx.x == 0) {
        init(&staged, 1);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        cuda::device::experimental::fence_proxy_async_shared_cta();
#endif
    }
    bool parity = false;
    for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const Tile tile = source.locate(t, Shape::kRows);
        __syncthreads();
        if (tile.rows != 0) {
            scatterTile<Word, Source, Shape, ATTEMPT>(source, tile, digit, slots, target, shared,
                                                      staged, parity);
            parity = !parity;
        }
    }
}

}  // namespace gpujoin::resident
