// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// pass_sweep [LOG2_ROWS]: measures one radix pass over one table for each shape of tiles and number
// of digits. The values of PassShape and of MAX_DIGIT_BITS come from its results.

#include <cstdio>
#include <cstdlib>

#include "device_memory.h"
#include "partition.cuh"
#include "tables.cuh"

namespace gpujoin::bench {
namespace {

using namespace resident;

__global__ void guess(Slots slots, uint32_t partitions, uint32_t capacityRows) {
    guessSlots(slots, partitions, capacityRows, nullptr);
}

template <typename Word, typename Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::BLOCKS_PER_SM)
    scatterPass(ColumnSource<Word> source, uint32_t tiles, RadixDigit digit, Slots slots,
                Tuple<Word>* target) {
    scatterTiles<Word, ColumnSource<Word>, Shape, Attempt::GUESSED>(source, tiles, digit, slots,
                                                                    target, nullptr);
}

template <typename Word, typename Shape>
void measure(const Tables<Word>& tables, uint32_t bits, Slots slots, Tuple<Word>* target) {
    auto table = tables.probe();
    RadixDigit digit{0, bits};
    size_t shared = Shape::template sharedBytes<Word>(digit.count());
    if (shared > 231000 || digit.count() > Shape::MAX_DIGITS) {
        return;
    }
    auto* kernel = scatterPass<Word, Shape>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
    int blocksPerSm = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocksPerSm, kernel, Shape::THREADS,
                                                             shared));
    double best = 1e9;
    for (int run = 0; run < 4; run++) {
        guess<<<(digit.count() + 255) / 256, 256>>>(
            slots, digit.count(), guessedCapacityRows(table.rows, digit.count(), 4.0));
        Event start;
        Event end;
        start.record();
        auto tiles = static_cast<unsigned>((table.rows + Shape::ROWS - 1) / Shape::ROWS);
        kernel<<<tiles, Shape::THREADS, shared>>>(
            ColumnSource<Word>{table.keys, table.payloads, table.rows, nullptr}, tiles, digit,
            slots, target);
        end.record();
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        best = run > 0 && end.millisecondsSince(start) < best ? end.millisecondsSince(start) : best;
    }
    uint32_t overflow = 1;
    CUDA_CHECK(cudaMemcpy(&overflow, slots.overflow, sizeof(overflow), cudaMemcpyDeviceToHost));
    double bytes = 4.0 * sizeof(Word) * table.rows;
    std::printf(
        "PASS %zu-bit digits=%u threads=%d rows=%u per_digit=%.1f blocks_per_sm=%d ms=%.3f "
        "gbs=%.0f grows=%.1f%s\n",
        8 * sizeof(Word), digit.count(), Shape::THREADS, Shape::ROWS,
        static_cast<double>(Shape::ROWS) / digit.count(), blocksPerSm, best, bytes / best / 1e6,
        table.rows / best / 1e6, overflow != 0 ? " OVERFLOW" : "");
    std::fflush(stdout);
}

template <typename Word>
void sweep(int log2Rows) {
    DataSpec spec;
    spec.buildRows = uint64_t{1} << (log2Rows - 2);
    spec.probeRows = uint64_t{1} << log2Rows;
    Tables<Word> tables(spec);
    constexpr uint32_t MAX_PARTITIONS = 1u << 14;
    DeviceArray<uint32_t> words(3 * MAX_PARTITIONS + 2);
    uint32_t* overflows = words.data() + 3 * MAX_PARTITIONS;
    Slots slots{words.data(),
                words.data() + MAX_PARTITIONS,
                words.data() + 2 * MAX_PARTITIONS,
                overflows,
                overflows + 1,
                nullptr};
    DeviceArray<Tuple<Word>> target(slotBufferRows(spec.probeRows, MAX_PARTITIONS, 4.0));
    for (uint32_t bits : {6u, 7u, 8u, 9u}) {
        measure<Word, TileShape<1024, 5, 1, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 8, 1, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<512, 12, 1, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 6, 1, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<512, 8, 1, 3>>(tables, bits, slots, target.data());
        measure<Word, TileShape<256, 16, 2, 3>>(tables, bits, slots, target.data());
        measure<Word, TileShape<256, 12, 2, 4>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 11, 1, 1>>(tables, bits, slots, target.data());
        if (sizeof(Word) == 4) {
            measure<Word, TileShape<512, 20, 1, 2>>(tables, bits, slots, target.data());
            measure<Word, TileShape<512, 16, 1, 2>>(tables, bits, slots, target.data());
        }
    }
    for (uint32_t bits : {10u, 11u, 12u, 13u, 14u}) {
        measure<Word, TileShape<1024, 5, 2, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 12, 4, 1>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 8, 8, 1>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 5, 16, 1>>(tables, bits, slots, target.data());
    }
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) {
    int log2Rows = argc > 1 ? std::atoi(argv[1]) : 29;
    gpujoin::bench::sweep<int64_t>(log2Rows);
    gpujoin::bench::sweep<int32_t>(log2Rows);
    return 0;
}
