// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Joins the tables partition by partition. A work item is a part of a partition's build rows that
// fits into shared memory, and a slice of its probe rows: nearly always the whole partition. A
// partition with repeated keys can have more items. Blocks claim them like all others, so one heavy
// hitter does not keep a single block busy.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "block_scan.cuh"
#include "chain_table.h"
#include "join_item.h"
#include "join_plan.h"
#include "key_record.h"
#include "match_writer.cuh"
#include "slots.cuh"

namespace gpujoin::resident {

// Numbers the items, and resets the counters of the join. Runs as one block.
template <typename Word, int THREADS>
__device__ void planItems(const Slots& build, const Slots& probe, const JoinItems& items,
                          uint64_t* matchCount) {
    __shared__ BlockScan<THREADS, uint64_t> scan;
    uint64_t before = 0;
    for (uint32_t base = 0; base < items.partitions; base += THREADS) {
        uint32_t p = base + threadIdx.x;
        uint64_t extra = 0;
        if (p < items.partitions) {
            uint64_t count =
                JoinItem::count(build.cursor[p] - build.begin[p], probe.cursor[p] - probe.begin[p],
                                TABLE_SHAPE<Word>.rows);
            extra = count == 0 ? 0 : count - 1;
        }
        uint64_t total;
        uint64_t start = before + scan.exclusiveSum(extra, total);
        if (p < items.partitions) {
            items.extraStarts[p] = start;
        }
        before += total;
    }
    if (threadIdx.x == 0) {
        items.extraStarts[items.partitions] = before;
        *items.claimed = 0;
        *matchCount = 0;
    }
}

template <typename Word>
__device__ Tuple<Word> loadOnce(const Tuple<Word>* tuple) {
    using Packed = typename std::conditional<sizeof(Word) == 8, longlong2, int2>::type;
    Packed packed = __ldcg(reinterpret_cast<const Packed*>(tuple));
    return {packed.x, packed.y};
}

// A lane's probe rows of a batch of the warp, with the first match of each.
template <typename Word, int ROWS>
struct ProbeBatch {
    Tuple<Word> tuples[ROWS];
    uint32_t firsts[ROWS];
    uint32_t matches;

    __device__ void load(const Tuple<Word>* rows, uint32_t first, uint32_t end) {
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            uint32_t row = first + k * 32 + threadIdx.x % 32;
            if (row < end) {
                tuples[k] = loadOnce(rows + row);
            }
        }
    }

    // Follows the chains of all rows of the lane in lockstep, so that their reads of shared memory
    // overlap.
    __device__ void find(const ChainTable<Word>& table, uint32_t first, uint32_t end) {
        uint32_t links[ROWS];
        uint32_t alive = 0;
        matches = 0;
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            uint32_t head = table.chain(tuples[k].key);
            links[k] = first + k * 32 + threadIdx.x % 32 < end ? head : ChainTable<Word>::NONE;
            firsts[k] = ChainTable<Word>::NONE;
            alive |= links[k];
        }
        while (alive != 0) {
            alive = 0;
            GPUJOIN_UNROLL
            for (int k = 0; k < ROWS; k++) {
                bool hit = table.matches(links[k], tuples[k].key);
                matches += hit ? 1 : 0;
                firsts[k] = hit ? links[k] : firsts[k];
                links[k] = table.after(links[k]);
                alive |= links[k];
            }
        }
    }

    // Finds a match of each row that has one, without following its chain further.
    __device__ void findAny(const ChainTable<Word>& table, uint32_t first, uint32_t end) {
        uint32_t links[ROWS];
        uint32_t alive = 0;
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            uint32_t head = table.chain(tuples[k].key);
            links[k] = first + k * 32 + threadIdx.x % 32 < end ? head : ChainTable<Word>::NONE;
            firsts[k] = ChainTable<Word>::NONE;
            alive |= links[k];
        }
        while (alive != 0) {
            alive = 0;
            GPUJOIN_UNROLL
            for (int k = 0; k < ROWS; k++) {
                bool hit = table.matches(links[k], tuples[k].key);
                firsts[k] = hit ? links[k] : firsts[k];
                links[k] = hit ? ChainTable<Word>::NONE : table.after(links[k]);
                alive |= links[k];
            }
        }
    }

    // Drops what find() found if only hashes are equal. All lanes compare the keys of a row at once:
    // within find(), each step of a chain would wait for memory.
    template <typename Keys>
    __device__ void verify(const ChainTable<Word>& table, const Keys& keys) {
        if constexpr (!Keys::ARE_EXACT) {
            bool repeats = __any_sync(FULL_WARP, matches > rowsWithMatch());
            matches = 0;
            GPUJOIN_UNROLL
            for (int k = 0; k < ROWS; k++) {
                bool isFound = firsts[k] != ChainTable<Word>::NONE;
                uint32_t link = isFound && repeats ? table.chain(tuples[k].key) : firsts[k];
                firsts[k] = ChainTable<Word>::NONE;
                while (link != ChainTable<Word>::NONE) {
                    bool hit = keys.match(table, link, tuples[k]);
                    matches += hit ? 1 : 0;
                    firsts[k] = hit ? link : firsts[k];
                    link = repeats ? table.after(link) : ChainTable<Word>::NONE;
                }
            }
        }
    }

    // Continues what findAny() found while only hashes are equal.
    template <typename Keys>
    __device__ void verifyAny(const ChainTable<Word>& table, const Keys& keys) {
        if constexpr (!Keys::ARE_EXACT) {
            GPUJOIN_UNROLL
            for (int k = 0; k < ROWS; k++) {
                while (firsts[k] != ChainTable<Word>::NONE &&
                       !keys.match(table, firsts[k], tuples[k])) {
                    firsts[k] = table.after(firsts[k]);
                }
            }
        }
    }

    // Writes all matches starting at `row`, which the warp has reserved.
    template <typename Keys>
    __device__ void write(const ChainTable<Word>& table, const Keys& keys,
                          const MatchWriter<Word>& writer, uint64_t row) const {
        if (row == MatchWriter<Word>::NO_ROOM) {
            return;
        }
        if (__any_sync(FULL_WARP, matches > rowsWithMatch())) {
            writeAll(table, keys, writer, row);
            return;
        }
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            row = writer.write(row, firsts[k] != ChainTable<Word>::NONE, tuples[k].key,
                               table.payloadAt(firsts[k]), tuples[k].payload);
        }
    }

  private:
    __device__ uint32_t rowsWithMatch() const {
        uint32_t rows = 0;
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            rows += firsts[k] != ChainTable<Word>::NONE;
        }
        return rows;
    }

    // Follows the chains again and writes every match. Needed if build keys repeat.
    template <typename Keys>
    __device__ void writeAll(const ChainTable<Word>& table, const Keys& keys,
                             const MatchWriter<Word>& writer, uint64_t row) const {
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            uint32_t link =
                firsts[k] == ChainTable<Word>::NONE ? firsts[k] : table.chain(tuples[k].key);
            while (__any_sync(FULL_WARP, link != ChainTable<Word>::NONE)) {
                row = writer.write(row, keys.match(table, link, tuples[k]), tuples[k].key,
                                   table.payloadAt(link), tuples[k].payload);
                link = table.after(link);
            }
        }
    }
};

// The first build rows of the next item, which a block loads while it still joins the current one.
template <typename Word, int THREADS>
struct BuildPrefetch {
    static constexpr uint32_t ROWS = 3;
    Tuple<Word> tuples[ROWS];

    __device__ void load(const Tuple<Word>* rows, const JoinItem& item, uint32_t from) {
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < ROWS; k++) {
            uint32_t row = from + k * THREADS + threadIdx.x;
            if (row < item.buildRows) {
                tuples[k] = loadOnce(rows + item.buildFirst + row);
            }
        }
    }

    __device__ void insert(const ChainTable<Word>& table, const JoinItem& item,
                           uint32_t from) const {
        GPUJOIN_UNROLL
        for (uint32_t k = 0; k < ROWS; k++) {
            uint32_t row = from + k * THREADS + threadIdx.x;
            if (row < item.buildRows) {
                table.insert(row, tuples[k]);
            }
        }
    }
};

// Writes a result for each match. `Keys` is ExactWords or HashedWords.
template <typename Word, typename Keys = ExactWords>
struct PairOutput {
    // Whether all threads of the block meet while they take a batch.
    static constexpr bool HAS_BARRIER = true;
    MatchWriter<Word> writer;
    Keys keys = {};

    template <int ROWS>
    __device__ void take(ProbeBatch<Word, ROWS>& batch, const ChainTable<Word>& table,
                         uint32_t first, uint32_t end, BlockReservation& reservation,
                         uint32_t round) const {
        batch.find(table, first, end);
        batch.verify(table, keys);
        batch.write(table, keys, writer, writer.reserve(reservation, round, batch.matches));
    }
};

// Marks each probe row that has a match. Its payload is its number, and it has a byte.
template <typename Word, typename Keys = ExactWords>
struct MarkOutput {
    static constexpr bool HAS_BARRIER = false;
    uint8_t* marks;
    Keys keys = {};

    template <int ROWS>
    __device__ void take(ProbeBatch<Word, ROWS>& batch, const ChainTable<Word>& table,
                         uint32_t first, uint32_t end, BlockReservation&, uint32_t) const {
        batch.findAny(table, first, end);
        batch.verifyAny(table, keys);
        GPUJOIN_UNROLL
        for (int k = 0; k < ROWS; k++) {
            if (batch.firsts[k] != ChainTable<Word>::NONE) {
                using Unsigned = typename std::make_unsigned<Word>::type;
                marks[static_cast<Unsigned>(batch.tuples[k].payload)] = 1;
            }
        }
    }
};

// Inserts the build rows of the item; `prefetched` holds the first of them. Starts and ends with a
// barrier.
template <typename Word, int THREADS>
__device__ void buildTable(const ChainTable<Word>& table, const Tuple<Word>* rows,
                           const JoinItem& item, BuildPrefetch<Word, THREADS>& prefetched) {
    constexpr uint32_t STEP = BuildPrefetch<Word, THREADS>::ROWS * THREADS;
    table.clear(threadIdx.x, THREADS);
    __syncthreads();
    prefetched.insert(table, item, 0);
    for (uint32_t from = STEP; from < item.buildRows; from += STEP) {
        prefetched.load(rows, item, from);
        prefetched.insert(table, item, from);
    }
    __syncthreads();
}

// Probes the table with the probe rows of the item. All threads of the block call it.
template <typename Word, int THREADS, int BATCH_ROWS, typename Output>
__device__ void probeTable(const ChainTable<Word>& table, const Tuple<Word>* rows,
                           const JoinItem& item, const Output& output,
                           BlockReservation& reservation) {
    uint32_t end = item.probeFirst + item.probeRows;
    uint32_t first = item.probeFirst + threadIdx.x / 32 * (32 * BATCH_ROWS);
    uint32_t round = 0;
    for (uint32_t done = 0; done < item.probeRows; done += THREADS * BATCH_ROWS) {
        ProbeBatch<Word, BATCH_ROWS> batch;
        batch.load(rows, first, end);
        output.take(batch, table, first, end, reservation, round);
        first += THREADS * BATCH_ROWS;
        round ^= 1u;
    }
}

// A claimed item whose bounds are being read, in shared memory. One thread issues the reads early
// and waits for them late, which hides the latency of memory.
struct ItemRequest {
    uint64_t part;
    uint32_t buildBegin;
    uint32_t buildEnd;
    uint32_t probeBegin;
    uint32_t probeEnd;
    bool isValid;

    __device__ void start(uint64_t ticket, const JoinItems& items, const ItemRange& range,
                          const Slots& build, const Slots& probe) {
        isValid = ticket < range.end && (ticket < items.partitions || ticket < items.count());
        if (isValid) {
            uint32_t p = items.locate(ticket, part);
            __pipeline_memcpy_async(&buildBegin, build.begin + p, sizeof(uint32_t));
            __pipeline_memcpy_async(&buildEnd, build.cursor + p, sizeof(uint32_t));
            __pipeline_memcpy_async(&probeBegin, probe.begin + p, sizeof(uint32_t));
            __pipeline_memcpy_async(&probeEnd, probe.cursor + p, sizeof(uint32_t));
        }
        __pipeline_commit();
    }

    __device__ JoinItem await(uint32_t tableRows, const ItemRange& range) const {
        __pipeline_wait_prior(0);
        return !isValid ? JoinItem{0, 0, 0, 0}
                        : JoinItem::of(buildBegin, buildEnd, probeBegin, probeEnd, tableRows, part)
                              .withProbeRows(range.firstProbeRow, range.probeRows);
    }
};

// Joins items of the range until none is left. The grid has as many blocks as the device holds at
// once.
template <typename Word, int THREADS, int BATCH_ROWS, typename Output>
__device__ void joinPartitions(const Tuple<Word>* buildRows, const Slots& build,
                               const Tuple<Word>* probeRows, const Slots& probe,
                               const JoinItems& items, const ItemRange& range,
                               const Output& output) {
    extern __shared__ __align__(16) unsigned char shared[];
    // The current item and the next one.
    __shared__ JoinItem queue[2];
    __shared__ bool more[2];
    __shared__ ItemRequest request;
    __shared__ BlockReservation reservation;
    constexpr TableShape SHAPE = TABLE_SHAPE<Word>;
    auto table = ChainTable<Word>::over(shared, SHAPE.rows, SHAPE.slotBits);
    BuildPrefetch<Word, THREADS> prefetched;
    unsigned long long ticket = 0;
    if (threadIdx.x == 0) {
        request.start(atomicAdd(items.claimed, 1ull), items, range, build, probe);
        queue[0] = request.await(SHAPE.rows, range);
        more[0] = request.isValid;
        ticket = atomicAdd(items.claimed, 1ull);
    }
    __syncthreads();
    prefetched.load(buildRows, queue[0], 0);
    for (uint32_t current = 0; more[current]; current ^= 1u) {
        JoinItem item = queue[current];
        if (threadIdx.x == 0) {
            reservation.clear();
            request.start(ticket, items, range, build, probe);
            ticket = atomicAdd(items.claimed, 1ull);
        }
        if (!item.isEmpty()) {
            buildTable<Word, THREADS>(table, buildRows, item, prefetched);
        }
        if (threadIdx.x == 0) {
            queue[current ^ 1u] = request.await(SHAPE.rows, range);
            more[current ^ 1u] = request.isValid;
        }
        if (!item.isEmpty()) {
            probeTable<Word, THREADS, BATCH_ROWS>(table, probeRows, item, output, reservation);
        }
        if (item.isEmpty() || !Output::HAS_BARRIER) {
            __syncthreads();  // the next item is known
        }
        prefetched.load(buildRows, queue[current ^ 1u], 0);
        __syncthreads();
    }
}

}  // namespace gpujoin::resident
