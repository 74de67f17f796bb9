// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of the join engine: loops around the functions of the headers in this directory.

#include "build.h"
#include "change.h"
#include "serve.h"

namespace gpujoin {

// A multiprocessor returns loads in order, so the gathers of one block would wait for another
// block's reads over the bus. Hence one block a multiprocessor, of maximum size.
constexpr uint32_t SERVE_THREADS = 1024;
constexpr uint32_t WARP = 32;
constexpr uint32_t WARPS = SERVE_THREADS / WARP;
static_assert(SERVE_THREADS * ROWS_PER_THREAD <= MAX_TILE_ROWS);

// The threads of a block as a Group.
class BlockGroup {
  public:
    static constexpr uint32_t MIN_SIZE = SERVE_THREADS;

    __device__ explicit BlockGroup(uint64_t* sums) : sums(sums) {}

    __device__ uint32_t rank() const { return threadIdx.x; }
    __device__ uint32_t size() const { return SERVE_THREADS; }
    __device__ void sync() const { __syncthreads(); }

    __device__ uint64_t exclusiveSum(uint64_t value, uint64_t& total) {
        uint32_t lane = threadIdx.x % WARP;
        uint32_t warp = threadIdx.x / WARP;
        uint64_t inclusive = sumOfLanes(value, lane);
        // Two alternating buffers: a thread that still reads one has not passed the barrier below,
        // so that no thread writes to that buffer yet.
        uint64_t* warps = sums + (calls++ & 1) * WARPS;
        if (lane == WARP - 1) {
            warps[warp] = inclusive;
        }
        __syncthreads();
        uint64_t upTo = sumOfLanes(lane < WARPS ? warps[lane] : 0, lane);
        total = __shfl_sync(ALL_LANES, upTo, WARPS - 1);
        uint64_t before = __shfl_sync(ALL_LANES, upTo, warp == 0 ? 0 : warp - 1);
        return (warp == 0 ? 0 : before) + inclusive - value;
    }

    // Sets bit number `index` of a bitmap; `index` is the rank plus a multiple of the size. Every
    // thread must call it.
    __device__ void putBit(uint64_t* words, uint32_t index, bool bit) const {
        uint32_t bits = __ballot_sync(ALL_LANES, bit);
        if (threadIdx.x % WARP == 0) {
            reinterpret_cast<uint32_t*>(words)[index / WARP] = bits;
        }
    }

  private:
    static constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

    uint64_t* sums;  // of 2 * WARPS
    uint32_t calls = 0;

    // Returns the sum of the values of this lane of the warp and those below.
    static __device__ uint64_t sumOfLanes(uint64_t value, uint32_t lane) {
        if (__all_sync(ALL_LANES, value <= 1)) {  // most facts have at most one result
            uint32_t ones = __ballot_sync(ALL_LANES, value == 1);
            return __popc(ones & (ALL_LANES >> (WARP - 1 - lane)));
        }
        for (uint32_t distance = 1; distance < WARP; distance *= 2) {
            uint64_t other = __shfl_up_sync(ALL_LANES, value, distance);
            value += lane >= distance ? other : 0;
        }
        return value;
    }
};

// Maximum threads of a block of the build kernels, and the lanes of its warps. On the CPU each
// thread is a warp of its own.
constexpr uint32_t BUILD_THREADS = 256;
#if defined(__CUDACC__)
constexpr uint32_t BUILD_LANES = WARP;
#else
constexpr uint32_t BUILD_LANES = 1;
#endif

// A row of the shard that is built, until every lane of a warp has one.
struct WaitingRow {
    int64_t key;
    uint32_t row;
};

// Calls `work(row, key)` for the rows of the table that is built. Of a shard, a warp collects rows
// first: rows of other shards would leave lanes idle, with fewer memory accesses in flight.
template <typename Work>
__device__ void forRowsOfTable(const Dimension& table, const BuildRuns& build, uint64_t rowCount,
                               Work work) {
    constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;
    __shared__ WaitingRow waiting[BUILD_THREADS / BUILD_LANES][2 * BUILD_LANES];
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    uint64_t index = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (table.builtShards == 0) {
        for (; index < rowCount; index += stride) {
            uint32_t row = static_cast<uint32_t>(index);
            work(row, buildKey(build, row));
        }
        return;
    }
    uint32_t lane = threadIdx.x % BUILD_LANES;
    WaitingRow* rows = waiting[threadIdx.x / BUILD_LANES];
    uint32_t count = 0;
    // All lanes of a warp make the same number of rounds.
    for (; index - lane < rowCount; index += stride) {
        uint32_t row = static_cast<uint32_t>(index);
        int64_t key = index < rowCount ? buildKey(build, row) : 0;
        bool isOwn = index < rowCount && isOfTable(table, key);
        uint32_t own = __ballot_sync(ALL_LANES, isOwn);
        if (isOwn) {
            rows[count + __popc(own & ((1u << lane) - 1))] = {key, row};
        }
        count += __popc(own);
        __syncwarp();
        if (count >= BUILD_LANES) {
            count -= BUILD_LANES;
            WaitingRow taken = rows[count + lane];
            __syncwarp();  // the next round overwrites these places
            work(taken.row, taken.key);
        }
    }
    if (lane < count) {
        work(rows[lane].row, rows[lane].key);
    }
}

}  // namespace gpujoin

using namespace gpujoin;

extern "C" __global__ void __launch_bounds__(SERVE_THREADS)
    gpujoin_serve(Control* control, StepEntry* ring, Grid* grid, uint64_t* laneOf, uint64_t* queues,
                  const Plan* plans, uint64_t ringMask, uint64_t lanes, uint64_t launch) {
    __shared__ StepShared shared;
    __shared__ uint64_t sums[2 * WARPS];
    BlockGroup group(sums);
    ServeArguments arguments{control, ring,     grid,  laneOf, queues,
                             plans,   ringMask, lanes, launch, gridDim.x};
    serve(group, arguments, blockIdx.x, shared);
}

// The build kernels process rows, or slots, in a grid-stride loop.

// Inserts rows into a UNIQUE table; counts rows whose key was already present.
extern "C" __global__ void __launch_bounds__(BUILD_THREADS)
    gpujoin_insert_unique(const Dimension* table, const BuildRuns* build, uint64_t rowCount,
                          unsigned long long* repeats) {
    forRowsOfTable(*table, *build, rowCount, [=](uint32_t row, int64_t key) {
        if (!insertUnique(*table, *build, row, key)) {
            atomicAdd(repeats, 1ull);
        }
    });
}

// Counts the rows, or changes, of a shard.
extern "C" __global__ void gpujoin_count_shard(const Dimension* table, const BuildRuns* build,
                                               uint64_t rowCount, unsigned long long* rows) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    unsigned long long count = 0;
    for (uint64_t row = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < rowCount;
         row += stride) {
        count += isOfTable(*table, buildKey(*build, static_cast<uint32_t>(row))) ? 1 : 0;
    }
    if (count > 0) {
        atomicAdd(rows, count);
    }
}

// Inserts rows into a CHAINED table.
extern "C" __global__ void gpujoin_insert_chained(const Dimension* table, const BuildRuns* build,
                                                  uint64_t rowCount) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t row = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < rowCount;
         row += stride) {
        insertChained(*table, *build, static_cast<uint32_t>(row));
    }
}

extern "C" __global__ void __launch_bounds__(BUILD_THREADS)
    gpujoin_group_count(const Dimension* table, const BuildRuns* build, uint64_t rowCount) {
    forRowsOfTable(*table, *build, rowCount,
                   [=](uint32_t row, int64_t key) { countInGroup(*table, *build, row, key); });
}

// Assigns rows to groups, and determines the size of the largest group. Both counters start at 0.
extern "C" __global__ void gpujoin_group_allocate(const Dimension* table, uint32_t* nextRow,
                                                  unsigned int* largest) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t slot = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; slot < table->slotCount;
         slot += stride) {
        uint32_t size = allocateGroup(*table, static_cast<uint32_t>(slot), nextRow);
        if (size > *largest) {
            atomicMax(largest, size);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BUILD_THREADS)
    gpujoin_group_write(const Dimension* table, const BuildRuns* build, uint64_t rowCount) {
    forRowsOfTable(*table, *build, rowCount,
                   [=](uint32_t row, int64_t key) { writeToGroup(*table, *build, row, key); });
}

// Widens the range of each column except the key to the values of the rows.
extern "C" __global__ void gpujoin_payload_ranges(const Dimension*, const BuildRuns* build,
                                                  uint64_t rowCount, PayloadRange* ranges) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint32_t c = 1; c < build->columnCount; c++) {
        BuildColumn column = reinterpret_cast<const BuildColumn*>(build->columns)[c];
        PayloadRange range{INT64_MAX, INT64_MIN};
        for (uint64_t row = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < rowCount;
             row += stride) {
            widenRange(range, buildInteger(*build, column, static_cast<uint32_t>(row)));
        }
        if (range.least < ranges[c].least) {
            atomicMin(reinterpret_cast<long long*>(&ranges[c].least),
                      static_cast<long long>(range.least));
        }
        if (range.greatest > ranges[c].greatest) {
            atomicMax(reinterpret_cast<long long*>(&ranges[c].greatest),
                      static_cast<long long>(range.greatest));
        }
    }
}

// The kernels that change a table also use grid-stride loops.

// Claims a slot for each change of the table, and counts the slots that were empty before.
extern "C" __global__ void gpujoin_change_claim(const Dimension* table, const BuildRuns* changes,
                                                uint64_t changeCount, uint32_t* slots,
                                                unsigned long long* newSlots) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t change = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; change < changeCount;
         change += stride) {
        bool isNew;
        slots[change] = claimSlot(*table, *changes, static_cast<uint32_t>(change), isNew);
        if (isNew) {
            atomicAdd(newSlots, 1ull);
        }
    }
}

extern "C" __global__ void gpujoin_change_settle(const Dimension* table, const BuildRuns* changes,
                                                 uint64_t changeCount, const uint32_t* slots) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t change = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; change < changeCount;
         change += stride) {
        settleChange(*table, *changes, static_cast<uint32_t>(change), slots[change]);
    }
}

extern "C" __global__ void gpujoin_count_rows(const Dimension* table, unsigned long long* rows) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    unsigned long long count = 0;
    for (uint64_t slot = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; slot < table->slotCount;
         slot += stride) {
        count += rowNext(*table, static_cast<uint32_t>(slot)) == ROW_LIVE ? 1 : 0;
    }
    if (count > 0) {
        atomicAdd(rows, count);
    }
}

extern "C" __global__ void gpujoin_move_rows(const Dimension* from, const Dimension* to) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t slot = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; slot < from->slotCount;
         slot += stride) {
        moveRow(*from, static_cast<uint32_t>(slot), *to);
    }
}

// Copies the references of a range of slots to `refs`, 0 if a slot has no row.
// gpujoin_write_references writes them back.
extern "C" __global__ void gpujoin_read_references(const Dimension* table,
                                                   uint64_t variableWidthOffset, uint64_t firstSlot,
                                                   uint64_t slotCount, uint64_t* refs) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slotCount; i += stride) {
        const uint64_t* ref = variableWidthRefOf(*table, static_cast<uint32_t>(firstSlot + i),
                                                 static_cast<uint32_t>(variableWidthOffset));
        refs[i] = ref == nullptr ? 0 : *ref;
    }
}

extern "C" __global__ void gpujoin_write_references(const Dimension* table,
                                                    uint64_t variableWidthOffset,
                                                    uint64_t firstSlot, uint64_t slotCount,
                                                    const uint64_t* refs) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slotCount; i += stride) {
        uint64_t* ref = variableWidthRefOf(*table, static_cast<uint32_t>(firstSlot + i),
                                           static_cast<uint32_t>(variableWidthOffset));
        if (ref != nullptr) {
            *ref = refs[i];
        }
    }
}
