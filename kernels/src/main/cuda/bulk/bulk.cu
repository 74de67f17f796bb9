// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The image of what a bulk join does with the row numbers of its results: it reads columns, selects
// rows without a match, and aggregates by group; of the division of inputs by partition, and of
// copies of a few words.

#include "../engine/aggregate.h"
#include "../resident/block_scan.cuh"
#include "../resident/resident_join.h"
#include "run_division.cuh"

namespace gpujoin::bulk {

// The same number as in BulkSelection.java.
constexpr int SELECT_THREADS = 256;

// A column of the rows of one input, which are in runs in device memory.
struct RunColumn {
    // Address of each run.
    const uint64_t* runs;
    // Of the first value in a run.
    uint64_t offset;
    // From one value to the next, in bytes.
    uint64_t stride;

    __device__ const unsigned char* at(uint64_t row) const {
        using resident::RUN_ROWS;
        return reinterpret_cast<const unsigned char*>(runs[row / RUN_ROWS]) + offset +
               row % RUN_ROWS * stride;
    }
};

// Numbers of rows.
struct RowNumbers {
    // Null: the rows from `first` on.
    const void* numbers;
    uint64_t first;
    // Of a number: 4 or 8.
    uint64_t widthBytes;

    __device__ uint64_t at(uint64_t i) const {
        if (numbers == nullptr) {
            return first + i;
        }
        return widthBytes == 4 ? static_cast<const uint32_t*>(numbers)[first + i]
                               : static_cast<const uint64_t*>(numbers)[first + i];
    }
};

// Columns within a word may be misaligned.
template <typename Value>
__device__ Value load(const unsigned char* at) {
    if (reinterpret_cast<uintptr_t>(at) % sizeof(Value) == 0) {
        return *reinterpret_cast<const Value*>(at);
    }
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < sizeof(Value); b++) {
        bytes |= uint64_t{at[b]} << 8 * b;
    }
    return static_cast<Value>(bytes);
}

// Reads a column of some rows. Target is the type to which values are widened.
template <typename Value, typename Target>
__device__ void gather(const RunColumn& column, const RowNumbers& rows, uint64_t count,
                       Target* target) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        target[i] = load<Value>(column.at(rows.at(i)));
    }
}

// Adds one number for all threads of a block that have a row, and returns the number of each. The
// device performs only 0.4 * 10^9 additions a second to one word.
__device__ inline uint64_t claimForBlock(bool hasRow, unsigned long long* counter) {
    __shared__ resident::BlockScan<SELECT_THREADS> scan;
    __shared__ unsigned long long first;
    uint32_t total;
    uint32_t before = scan.exclusiveSum(hasRow ? 1 : 0, total);
    if (threadIdx.x == 0 && total != 0) {
        first = atomicAdd(counter, static_cast<unsigned long long>(total));
    }
    // the scan of the next call starts with a barrier, before which all threads have read `first`
    __syncthreads();
    return first + before;
}

class ThreadBlock {
  public:
    __device__ uint32_t rank() const { return threadIdx.x; }
    __device__ uint32_t size() const { return blockDim.x; }
};

// A batch of result values, column after column.
struct ValueColumns {
    const int64_t* values;
    // From one column to the next, in values.
    uint64_t stride;

    __device__ int64_t at(const ValueSource& source, uint64_t row) const {
        return values[source.at * stride + row];
    }
};

__device__ inline uint64_t product(const Aggregate& aggregate, const ValueColumns& columns,
                                   uint64_t row) {
    uint64_t value = 1;
    for (uint32_t f = 0; f < aggregate.factorCount; f++) {
        value *= static_cast<uint64_t>(columns.at(aggregate.factors[f], row));
    }
    return value;
}

// Sums of adjacent rows of one group, in the registers of a thread: without group columns, or with
// sorted input, the threads of a block would otherwise wait for each other's additions.
class RunningSums {
  public:
    __device__ RunningSums(const Aggregation& aggregation, LocalSums& local)
        : aggregation(aggregation), local(local) {}

    __device__ void add(const ValueColumns& columns, uint64_t row) {
        GroupKey key{};
        for (uint32_t c = 0; c < aggregation.columnCount; c++) {
            key.column[c] = columns.at(aggregation.columns[c], row);
        }
        uint64_t hash = hashGroup(aggregation, key);
        uint32_t found = findLocal(aggregation, local, key, hash);
        if (found == NOT_LOCAL) {
            addToDevice(columns, row, sumsAt(aggregation, findGroup(aggregation, key, hash)));
            return;
        }
        if (found != entry) {
            flush();
            entry = found;
        }
        GPUJOIN_UNROLL
        for (uint32_t a = 0; a < MAX_AGGREGATES; a++) {
            if (a < aggregation.aggregateCount) {
                sums[a] += product(aggregation.aggregates[a], columns, row);
            }
        }
    }

    // Adds the sums to those of the block.
    __device__ void flush() {
        GPUJOIN_UNROLL
        for (uint32_t a = 0; a < MAX_AGGREGATES; a++) {
            if (entry != NOT_LOCAL && a < aggregation.aggregateCount) {
                addLocal(local, a, entry, sums[a]);
            }
            sums[a] = 0;
        }
    }

  private:
    const Aggregation& aggregation;
    LocalSums& local;
    uint32_t entry = NOT_LOCAL;
    uint64_t sums[MAX_AGGREGATES] = {};

    __device__ void addToDevice(const ValueColumns& columns, uint64_t row, uint64_t* target) const {
        for (uint32_t a = 0; a < aggregation.aggregateCount; a++) {
            fetchAddRelaxedDevice(&target[a], product(aggregation.aggregates[a], columns, row));
        }
    }
};

}  // namespace gpujoin::bulk

// Copies words between the host and the device.
extern "C" __global__ void gpujoin_bulk_copy(uint64_t* target, const uint64_t* source,
                                             uint64_t words) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step) {
        target[i] = source[i];
    }
}

// Reads values of one width. The target of `widen` has 64 bits, with the sign of the value.
#define GPUJOIN_GATHER_KERNELS(Value, Bits)                                                        \
    extern "C" __global__ void gpujoin_bulk_gather_##Bits(                                         \
        const __grid_constant__ gpujoin::bulk::RunColumn column,                                   \
        const __grid_constant__ gpujoin::bulk::RowNumbers rows, uint64_t count, Value* target) {   \
        gpujoin::bulk::gather<Value>(column, rows, count, target);                                 \
    }                                                                                              \
    extern "C" __global__ void gpujoin_bulk_widen_##Bits(                                          \
        const __grid_constant__ gpujoin::bulk::RunColumn column,                                   \
        const __grid_constant__ gpujoin::bulk::RowNumbers rows, uint64_t count, int64_t* target) { \
        gpujoin::bulk::gather<Value>(column, rows, count, target);                                 \
    }

GPUJOIN_GATHER_KERNELS(int8_t, 8)
GPUJOIN_GATHER_KERNELS(int16_t, 16)
GPUJOIN_GATHER_KERNELS(int32_t, 32)
GPUJOIN_GATHER_KERNELS(int64_t, 64)

GPUJOIN_DIVISION_KERNELS(int32_t, 32)
GPUJOIN_DIVISION_KERNELS(int64_t, 64)

// Writes row numbers from 0 on.
#define GPUJOIN_NUMBER_KERNEL(Number, Bits)                                                        \
    extern "C" __global__ void gpujoin_bulk_number_##Bits(uint64_t count, Number* target) {        \
        uint64_t step = uint64_t{gridDim.x} * blockDim.x;                                          \
        for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) { \
            target[i] = static_cast<Number>(i);                                                    \
        }                                                                                          \
    }

GPUJOIN_NUMBER_KERNEL(uint32_t, 32)
GPUJOIN_NUMBER_KERNEL(uint64_t, 64)

// Writes the numbers of the rows from `first` to `first + count - 1` whose mark is `wanted`, in any
// order. `counter` counts them.
extern "C" __global__ void __launch_bounds__(gpujoin::bulk::SELECT_THREADS)
    gpujoin_bulk_select(const uint8_t* marks, uint64_t wanted, uint64_t first, uint64_t count,
                        uint32_t* numbers, unsigned long long* counter) {
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t base = uint64_t{blockIdx.x} * blockDim.x; base < count; base += step) {
        uint64_t i = base + threadIdx.x;
        bool isSelected = i < count && marks[first + i] == wanted;
        uint64_t at = gpujoin::bulk::claimForBlock(isSelected, counter);
        if (isSelected && numbers != nullptr) {
            numbers[at] = static_cast<uint32_t>(first + i);
        }
    }
}

// Adds a batch of results to the groups. The table has room for a new group of each result.
extern "C" __global__ void gpujoin_bulk_aggregate(
    const gpujoin::Aggregation* aggregation,
    const __grid_constant__ gpujoin::bulk::ValueColumns columns, uint64_t count) {
    using namespace gpujoin;
    __shared__ LocalSums local;
    bulk::ThreadBlock block;
    clearLocal(block, local);
    __syncthreads();
    bulk::RunningSums sums(*aggregation, local);
    uint64_t step = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t row = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < count; row += step) {
        sums.add(columns, row);
    }
    sums.flush();
    __syncthreads();
    addLocalSums(block, *aggregation, local);
}
