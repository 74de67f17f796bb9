#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "block_scan.cuh"
#include "chain_table.cuh"
#include "join_item.h"
#include "join_plan.h"
#include "match_writer.cuh"
#include "slots.cuh"

/*
 * Joins partition by partition. A work item is a piece of a partition's build rows that fits shared memory
 * and a slice of its probe rows. Nearly always that is the whole partition; only where keys repeat a
 * partition has more items, and these are claimed like all others, so that a heavy key does not end up on one
 * block.
 */
namespace gpujoin::resident {

/** Numbers the items; also resets the counters of a join. One block. */
template <class Word, int THREADS>
__global__ __launch_bounds__(THREADS) void planItems(Slots build, Slots probe, JoinItems items,
                                                     std::uint64_t* matchCount) {
    __shared__ BlockScan<THREADS, std::uint64_t> scan;
    std::uint64_t before = 0;
    for (std::uint32_t base = 0; base < items.partitions; base += THREADS) {
        const std::uint32_t p = base + threadIdx.x;
        std::uint64_t further = 0;
        if (p < items.partitions) {
            const std::uint64_t count =
                JoinItem::count(build.cursor[p] - build.begin[p], probe.cursor[p] - probe.begin[p],
                                kTableShape<Word>.rows);
            further = count == 0 ? 0 : count - 1;
        }
        std::uint64_t total;
        const std::uint64_t start = before + scan.exclusiveSum(further, total);
        if (p < items.partitions) {
            items.furtherStarts[p] = start;
        }
        before += total;
    }
    if (threadIdx.x == 0) {
        items.furtherStarts[items.partitions] = before;
        *items.claimed = 0;
        *matchCount = 0;
    }
}

template <class Word>
__device__ Tuple<Word> loadOnce(const Tuple<Word>* tuple) {
    using Packed = typename std::conditional<sizeof(Word) == 8, longlong2, int2>::type;
    const Packed packed = __ldcg(reinterpret_cast<const Packed*>(tuple));
    return {packed.x, packed.y};
}

/** A lane's share of a warp's batch of probe rows and the first match of each. */
template <class Word, int ROWS>
struct ProbeBatch {
    Tuple<Word> tuples[ROWS];
    std::uint32_t firsts[ROWS];
    std::uint32_t matches;

    __device__ void load(const Tuple<Word>* rows, std::uint32_t first, std::uint32_t end) {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const std::uint32_t row = first + k * 32 + threadIdx.x % 32;
            if (row < end) {
                tuples[k] = loadOnce(rows + row);
            }
        }
    }

    /** Walks the chains of all rows of the lane in step, so that their shared memory reads overlap. */
    __device__ void find(const ChainTable<Word>& table, std::uint32_t first, std::uint32_t end) {
        std::uint32_t links[ROWS];
        std::uint32_t alive = 0;
        matches = 0;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const std::uint32_t head = table.chain(tuples[k].key);
            links[k] = first + k * 32 + threadIdx.x % 32 < end ? head : ChainTable<Word>::kNone;
            firsts[k] = ChainTable<Word>::kNone;
            alive |= links[k];
        }
        while (alive != 0) {
            alive = 0;
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                const bool hit = table.matches(links[k], tuples[k].key);
                matches += hit ? 1 : 0;
                firsts[k] = hit ? links[k] : firsts[k];
                links[k] = table.after(links[k]);
                alive |= links[k];
            }
        }
    }

    /** Writes all matches from `row` on, which the warp has reserved. */
    __device__ void write(const ChainTable<Word>& table, const MatchWriter<Word>& writer,
                          std::uint64_t row) const {
        if (row == MatchWriter<Word>::kNoRoom) {
            return;
        }
        std::uint32_t rowsWithMatch = 0;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            rowsWithMatch += firsts[k] != ChainTable<Word>::kNone;
        }
        if (__any_sync(kFullWarp, matches > rowsWithMatch)) {
            writeAll(table, writer, row);
            return;
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            row = writer.write(row, firsts[k] != ChainTable<Word>::kNone, tuples[k].key,
                               table.payloadAt(firsts[k]), tuples[k].payload);
        }
    }

  private:
    /** Where build keys repeat: walks the chains again and writes on the way. */
    __device__ void writeAll(const ChainTable<Word>& table, const MatchWriter<Word>& writer,
                             std::uint64_t row) const {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            std::uint32_t link =
                firsts[k] == ChainTable<Word>::kNone ? firsts[k] : table.chain(tuples[k].key);
            while (__any_sync(kFullWarp, link != ChainTable<Word>::kNone)) {
                row = writer.write(row, table.matches(link, tuples[k].key), tuples[k].key,
                                   table.payloadAt(link), tuples[k].payload);
                link = table.after(link);
            }
        }
    }
};

/** The first build rows of an item, loaded while its block is still at the item before. */
template <class Word, int THREADS>
struct BuildAhead {
    static constexpr std::uint32_t kRows = 3;
    Tuple<Word> tuples[kRows];

    __device__ void load(const Tuple<Word>* rows, const JoinItem& item, std::uint32_t from) {
#pragma unroll
        for (std::uint32_t k = 0; k < kRows; k++) {
            const std::uint32_t row = from + k * THREADS + threadIdx.x;
            if (row < item.buildRows) {
                tuples[k] = loadOnce(rows + item.buildFirst + row);
            }
        }
    }

    __device__ void insert(const ChainTable<Word>& table, const JoinItem& item,
                           std::uint32_t from) const {
#pragma unroll
        for (std::uint32_t k = 0; k < kRows; k++) {
            const std::uint32_t row = from + k * THREADS + threadIdx.x;
            if (row < item.buildRows) {
                table.insert(row, tuples[k]);
            }
        }
    }
};

/** Fills the table with the item's build rows, of which `ahead` has the first. Begins and ends with a barrier. */
template <class Word, int THREADS>
__device__ void buildTable(const ChainTable<Word>& table, const Tuple<Word>* rows,
                           const JoinItem& item, BuildAhead<Word, THREADS>& ahead) {
    constexpr std::uint32_t kStep = BuildAhead<Word, THREADS>::kRows * THREADS;
    table.clear(threadIdx.x, THREADS);
    __syncthreads();
    ahead.insert(table, item, 0);
    for (std::uint32_t from = kStep; from < item.buildRows; from += kStep) {
        ahead.load(rows, item, from);
        ahead.insert(table, item, from);
    }
    __syncthreads();
}

/** Probes the table with the item's probe rows; all threads of the block call it. */
template <class Word, int THREADS, int BATCH_ROWS>
__device__ void probeTable(const ChainTable<Word>& table, const Tuple<Word>* rows,
                           const JoinItem& item, const MatchWriter<Word>& writer,
                           BlockReservation& reservation) {
    const std::uint32_t end = item.probeFirst + item.probeRows;
    std::uint32_t first = item.probeFirst + threadIdx.x / 32 * (32 * BATCH_ROWS);
    std::uint32_t round = 0;
    for (std::uint32_t done = 0; done < item.probeRows; done += THREADS * BATCH_ROWS) {
        ProbeBatch<Word, BATCH_ROWS> batch;
        batch.load(rows, first, end);
        batch.find(table, first, end);
        batch.write(table, writer, writer.reserve(reservation, round, batch.matches));
        first += THREADS * BATCH_ROWS;
        round ^= 1u;
    }
}

/**
 * A claimed item on its way, in shared memory: one thread asks for it early and looks at it late, so that the
 * memory's answers are not waited for.
 */
struct ItemRequest {
    std::uint64_t piece;
    std::uint32_t buildBegin;
    std::uint32_t buildEnd;
    std::uint32_t probeBegin;
    std::uint32_t probeEnd;
    bool valid;

    __device__ void ask(std::uint64_t ticket, const JoinItems& items, const Slots& build,
                        const Slots& probe) {
        valid = ticket < items.partitions || ticket < items.count();
        if (valid) {
            const std::uint32_t p = items.locate(ticket, piece);
            __pipeline_memcpy_async(&buildBegin, build.begin + p, sizeof(std::uint32_t));
            __pipeline_memcpy_async(&buildEnd, build.cursor + p, sizeof(std::uint32_t));
            __pipeline_memcpy_async(&probeBegin, probe.begin + p, sizeof(std::uint32_t));
            __pipeline_memcpy_async(&probeEnd, probe.cursor + p, sizeof(std::uint32_t));
        }
        __pipeline_commit();
    }

    __device__ JoinItem answer(std::uint32_t tableRows) const {
        __pipeline_wait_prior(0);
        return !valid ? JoinItem{0, 0, 0, 0}
                      : JoinItem::of(buildBegin, buildEnd, probeBegin, probeEnd, tableRows, piece);
    }
};

/** Joins items until none is left; a grid as large as the device holds at once. */
template <class Word, int THREADS, int BLOCKS_PER_SM, int BATCH_ROWS>
__global__ __launch_bounds__(THREADS, BLOCKS_PER_SM) void joinPartitions(
    const Tuple<Word>* buildRows, Slots build, const Tuple<Word>* probeRows, Slots probe,
    JoinItems items, MatchWriter<Word> writer) {
    extern __shared__ __align__(16) unsigned char shared[];
    // The item at work and the one after it.
    __shared__ JoinItem queue[2];
    __shared__ bool more[2];
    __shared__ ItemRequest request;
    __shared__ BlockReservation reservation;
    constexpr TableShape kShape = kTableShape<Word>;
    const auto table = ChainTable<Word>::over(shared, kShape.rows, kShape.slotBits);
    BuildAhead<Word, THREADS> ahead;
    unsigned long long ticket = 0;
    if (threadIdx.x == 0) {
        request.ask(atomicAdd(items.claimed, 1ull), items, build, probe);
        queue[0] = request.answer(kShape.rows);
        more[0] = request.valid;
        ticket = atomicAdd(items.claimed, 1ull);
    }
    __syncthreads();
    ahead.load(buildRows, queue[0], 0);
    for (std::uint32_t place = 0; more[place]; place ^= 1u) {
        const JoinItem item = queue[place];
        if (threadIdx.x == 0) {
            reservation.clear();
            request.ask(ticket, items, build, probe);
            ticket = atomicAdd(items.claimed, 1ull);
        }
        if (!item.empty()) {
            buildTable<Word, THREADS>(table, buildRows, item, ahead);
        }
        if (threadIdx.x == 0) {
            queue[place ^ 1u] = request.answer(kShape.rows);
            more[place ^ 1u] = request.valid;
        }
        if (!item.empty()) {
            probeTable<Word, THREADS, BATCH_ROWS>(table, probeRows, item, writer, reservation);
        } else {
            __syncthreads();
        }
        ahead.load(buildRows, queue[place ^ 1u], 0);
        __syncthreads();
    }
}

}  // namespace gpujoin::resident
