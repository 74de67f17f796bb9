#include <cstdio>
#include <cstdlib>

#include "device_memory.h"
#include "partition.cuh"
#include "tables.cuh"

/*
 * pass_sweep [log2 rows]: one radix pass over one table, by tile shape and number of digits. The choice of
 * PassShape and of the digits' bits rests on it.
 */
namespace gpujoin::bench {
namespace {

using namespace resident;

template <class Word, class Shape>
void measure(const Tables<Word>& tables, std::uint32_t bits, Slots slots, Tuple<Word>* target) {
    using Source = ColumnSource<Word>;
    const auto table = tables.probe();
    const RadixDigit digit{0, bits};
    const std::size_t shared = Shape::template sharedBytes<Word>(digit.count());
    if (shared > 231000 || digit.count() > Shape::kMaxDigits) {
        return;
    }
    DeviceArray<std::uint32_t> never(1);
    CUDA_CHECK(cudaMemset(never.data(), 0, never.lengthBytes()));
    auto* kernel = scatterTiles<Word, Source, Shape, Attempt::GUESSED>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
    int blocksPerSm = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocksPerSm, kernel, Shape::kThreads,
                                                             shared));
    double best = 1e9;
    for (int run = 0; run < 4; run++) {
        guessSlots<<<(digit.count() + 255) / 256, 256>>>(
            slots, digit.count(), guessedCapacityRows(table.rows, digit.count(), 4.0),
            never.data());
        Event start;
        Event end;
        start.record();
        const auto tiles = static_cast<unsigned>((table.rows + Shape::kRows - 1) / Shape::kRows);
        kernel<<<tiles, Shape::kThreads, shared>>>(Source{table.keys, table.payloads, table.rows},
                                                   tiles, digit, slots, target, never.data());
        end.record();
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        best = run > 0 && end.millisecondsSince(start) < best ? end.millisecondsSince(start) : best;
    }
    std::uint32_t overflow = 1;
    CUDA_CHECK(cudaMemcpy(&overflow, slots.overflow, sizeof(overflow), cudaMemcpyDeviceToHost));
    const double bytes = 4.0 * sizeof(Word) * table.rows;
    std::printf(
        "PASS %zu-bit digits=%u threads=%d rows=%u per_digit=%.1f blocks_per_sm=%d ms=%.3f "
        "gbs=%.0f "
        "grows=%.1f%s\n",
        8 * sizeof(Word), digit.count(), Shape::kThreads, Shape::kRows,
        static_cast<double>(Shape::kRows) / digit.count(), blocksPerSm, best, bytes / best / 1e6,
        table.rows / best / 1e6, overflow != 0 ? " OVERFLOW" : "");
    std::fflush(stdout);
}

template <class Word>
void sweep(int log2Rows) {
    DataSpec spec;
    spec.buildRows = std::uint64_t{1} << (log2Rows - 2);
    spec.probeRows = std::uint64_t{1} << log2Rows;
    const Tables<Word> tables(spec);
    constexpr std::uint32_t kMaxPartitions = 1u << 14;
    DeviceArray<std::uint32_t> words(3 * kMaxPartitions + 1);
    const Slots slots{words.data(), words.data() + kMaxPartitions,
                      words.data() + 2 * kMaxPartitions, words.data() + 3 * kMaxPartitions};
    DeviceArray<Tuple<Word>> target(slotBufferRows(spec.probeRows, kMaxPartitions, 4.0));
    for (const std::uint32_t bits : {6u, 7u, 8u, 9u}) {
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
    for (const std::uint32_t bits : {10u, 11u, 12u, 13u, 14u}) {
        measure<Word, TileShape<1024, 5, 2, 2>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 12, 4, 1>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 8, 8, 1>>(tables, bits, slots, target.data());
        measure<Word, TileShape<1024, 5, 16, 1>>(tables, bits, slots, target.data());
    }
}

}  // namespace
}  // namespace gpujoin::bench

int main(int argc, char** argv) {
    const int log2Rows = argc > 1 ? std::atoi(argv[1]) : 29;
    gpujoin::bench::sweep<std::int64_t>(log2Rows);
    gpujoin::bench::sweep<std::int32_t>(log2Rows);
    return 0;
}
