// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Sorts with CUB, then merges with one kernel.

#include "sort_merge_peer.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "../main/cuda/engine/attributes.h"
#include "device_memory.h"
#include "match_writer.cuh"

namespace gpujoin::bench {
namespace {

using resident::BlockReservation;
using resident::MatchColumns;
using resident::MatchWriter;
using resident::TableView;

constexpr int THREADS = 256;
constexpr int ROWS_PER_THREAD = 8;
constexpr uint64_t TILE_ROWS = THREADS * ROWS_PER_THREAD;

// Returns the first row of [low, high) whose key is not less than `key`.
template <typename Word>
__device__ uint64_t lowerBound(const Word* keys, uint64_t low, uint64_t high, Word key) {
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Joins a tile of sorted probe rows with the range of sorted build rows that its keys span.
template <typename Word>
__global__ void __launch_bounds__(THREADS)
    mergeTiles(TableView<Word> build, TableView<Word> probe, MatchWriter<Word> writer) {
    __shared__ uint64_t low;
    __shared__ uint64_t high;
    __shared__ BlockReservation reservation;
    uint64_t first = blockIdx.x * TILE_ROWS;
    uint64_t end = first + TILE_ROWS < probe.rows ? first + TILE_ROWS : probe.rows;
    if (threadIdx.x == 0) {
        reservation.clear();
        low = lowerBound(build.keys, uint64_t{0}, build.rows, probe.keys[first]);
    } else if (threadIdx.x == 32) {
        high = lowerBound(build.keys, uint64_t{0}, build.rows, probe.keys[end - 1]);
    }
    __syncthreads();
    Word keys[ROWS_PER_THREAD];
    uint64_t positions[ROWS_PER_THREAD];
    uint32_t matches = 0;
    GPUJOIN_UNROLL
    for (int k = 0; k < ROWS_PER_THREAD; k++) {
        uint64_t row = first + (threadIdx.x / 32 * ROWS_PER_THREAD + k) * 32 + threadIdx.x % 32;
        positions[k] = build.rows;
        if (row < end) {
            keys[k] = probe.keys[row];
            positions[k] = lowerBound(build.keys, low, high, keys[k]);
            for (uint64_t i = positions[k]; i < build.rows && build.keys[i] == keys[k]; i++) {
                matches++;
            }
        }
    }
    uint64_t target = writer.reserve(reservation, 0, matches);
    if (target == MatchWriter<Word>::NO_ROOM) {
        return;
    }
    GPUJOIN_UNROLL
    for (int k = 0; k < ROWS_PER_THREAD; k++) {
        uint64_t row = first + (threadIdx.x / 32 * ROWS_PER_THREAD + k) * 32 + threadIdx.x % 32;
        Word payload = row < end ? probe.payloads[row] : Word{0};
        uint64_t i = positions[k];
        bool matched = i < build.rows && build.keys[i] == keys[k];
        while (__any_sync(resident::FULL_WARP, matched)) {
            target = writer.write(target, matched, keys[k], matched ? build.payloads[i] : Word{0},
                                  payload);
            i++;
            matched = matched && i < build.rows && build.keys[i] == keys[k];
        }
    }
}

}  // namespace

template <typename Word>
struct SortMergePeer<Word>::Buffers {
    DeviceArray<Word> buildKeys;
    DeviceArray<Word> buildPayloads;
    DeviceArray<Word> probeKeys;
    DeviceArray<Word> probePayloads;
    DeviceArray<unsigned char> temporary;
};

template <typename Word>
static size_t temporaryBytes(uint64_t rows, int keyBits) {
    size_t bytes = 0;
    const Word* none = nullptr;
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, const_cast<Word*>(none), none,
                                               const_cast<Word*>(none), rows, 0, keyBits));
    return bytes;
}

template <typename Word>
SortMergePeer<Word>::SortMergePeer(uint64_t buildRows, uint64_t probeRows, int keyBits)
    : buffers(new Buffers{DeviceArray<Word>(buildRows), DeviceArray<Word>(buildRows),
                          DeviceArray<Word>(probeRows), DeviceArray<Word>(probeRows),
                          DeviceArray<unsigned char>(
                              temporaryBytes<Word>(std::max(buildRows, probeRows), keyBits))}),
      keyBits(keyBits) {}

template <typename Word>
SortMergePeer<Word>::~SortMergePeer() {
    delete buffers;
}

template <typename Word>
void SortMergePeer<Word>::join(const TableView<Word>& build, const TableView<Word>& probe,
                               const MatchColumns<Word>& matches) {
    Buffers& b = *buffers;
    size_t bytes = b.temporary.lengthBytes();
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(b.temporary.data(), bytes, build.keys,
                                               b.buildKeys.data(), build.payloads,
                                               b.buildPayloads.data(), build.rows, 0, keyBits));
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(b.temporary.data(), bytes, probe.keys,
                                               b.probeKeys.data(), probe.payloads,
                                               b.probePayloads.data(), probe.rows, 0, keyBits));
    CUDA_CHECK(cudaMemsetAsync(matches.matchCount, 0, sizeof(uint64_t)));
    if (build.rows == 0 || probe.rows == 0) {
        return;
    }
    TableView<Word> sortedBuild{b.buildKeys.data(), b.buildPayloads.data(), build.rows};
    TableView<Word> sortedProbe{b.probeKeys.data(), b.probePayloads.data(), probe.rows};
    auto blocks = static_cast<unsigned>((probe.rows + TILE_ROWS - 1) / TILE_ROWS);
    mergeTiles<<<blocks, THREADS>>>(sortedBuild, sortedProbe, MatchWriter<Word>{matches});
    CUDA_CHECK(cudaGetLastError());
}

template class SortMergePeer<int32_t>;
template class SortMergePeer<int64_t>;

}  // namespace gpujoin::bench
