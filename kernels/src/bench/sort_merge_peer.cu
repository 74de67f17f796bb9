#include "sort_merge_peer.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "device_memory.h"
#include "match_writer.cuh"

namespace gpujoin::bench {
namespace {

using resident::BlockReservation;
using resident::MatchColumns;
using resident::MatchWriter;
using resident::TableView;

constexpr int kThreads = 256;
constexpr int kRowsPerThread = 8;
constexpr std::uint64_t kTileRows = kThreads * kRowsPerThread;

/** First of [low, high) whose key is not before `key`. */
template <class Word>
__device__ std::uint64_t lowerBound(const Word* keys, std::uint64_t low, std::uint64_t high,
                                    Word key) {
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Looks a tile of sorted probe rows up in the part of the sorted build rows that its keys span. */
template <class Word>
__global__ __launch_bounds__(kThreads) void mergeTiles(TableView<Word> build, TableView<Word> probe,
                                                       MatchWriter<Word> writer) {
    __shared__ std::uint64_t low;
    __shared__ std::uint64_t high;
    __shared__ BlockReservation reservation;
    const std::uint64_t first = blockIdx.x * kTileRows;
    const std::uint64_t end = first + kTileRows < probe.rows ? first + kTileRows : probe.rows;
    if (threadIdx.x == 0) {
        reservation.clear();
        low = lowerBound(build.keys, std::uint64_t{0}, build.rows, probe.keys[first]);
    } else if (threadIdx.x == 32) {
        high = lowerBound(build.keys, std::uint64_t{0}, build.rows, probe.keys[end - 1]);
    }
    __syncthreads();
    Word keys[kRowsPerThread];
    std::uint64_t places[kRowsPerThread];
    std::uint32_t matches = 0;
#pragma unroll
    for (int k = 0; k < kRowsPerThread; k++) {
        const std::uint64_t row =
            first + (threadIdx.x / 32 * kRowsPerThread + k) * 32 + threadIdx.x % 32;
        places[k] = build.rows;
        if (row < end) {
            keys[k] = probe.keys[row];
            places[k] = lowerBound(build.keys, low, high, keys[k]);
            for (std::uint64_t i = places[k]; i < build.rows && build.keys[i] == keys[k]; i++) {
                matches++;
            }
        }
    }
    std::uint64_t target = writer.reserve(reservation, 0, matches);
    if (target == MatchWriter<Word>::kNoRoom) {
        return;
    }
#pragma unroll
    for (int k = 0; k < kRowsPerThread; k++) {
        const std::uint64_t row =
            first + (threadIdx.x / 32 * kRowsPerThread + k) * 32 + threadIdx.x % 32;
        const Word payload = row < end ? probe.payloads[row] : Word{0};
        std::uint64_t i = places[k];
        bool matched = i < build.rows && build.keys[i] == keys[k];
        while (__any_sync(resident::kFullWarp, matched)) {
            target = writer.write(target, matched, keys[k], matched ? build.payloads[i] : Word{0},
                                  payload);
            i++;
            matched = matched && i < build.rows && build.keys[i] == keys[k];
        }
    }
}

}  // namespace

template <class Word>
struct SortMergePeer<Word>::Buffers {
    DeviceArray<Word> buildKeys;
    DeviceArray<Word> buildPayloads;
    DeviceArray<Word> probeKeys;
    DeviceArray<Word> probePayloads;
    DeviceArray<unsigned char> temporary;
};

template <class Word>
static std::size_t temporaryBytes(std::uint64_t rows, int keyBits) {
    std::size_t bytes = 0;
    const Word* none = nullptr;
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, const_cast<Word*>(none), none,
                                               const_cast<Word*>(none), rows, 0, keyBits));
    return bytes;
}

template <class Word>
SortMergePeer<Word>::SortMergePeer(std::uint64_t buildRows, std::uint64_t probeRows, int keyBits)
    : buffers_(new Buffers{DeviceArray<Word>(buildRows), DeviceArray<Word>(buildRows),
                           DeviceArray<Word>(probeRows), DeviceArray<Word>(probeRows),
                           DeviceArray<unsigned char>(
                               temporaryBytes<Word>(std::max(buildRows, probeRows), keyBits))}),
      keyBits_(keyBits) {}

template <class Word>
SortMergePeer<Word>::~SortMergePeer() {
    delete buffers_;
}

template <class Word>
void SortMergePeer<Word>::join(const TableView<Word>& build, const TableView<Word>& probe,
                               const MatchColumns<Word>& matches) {
    Buffers& b = *buffers_;
    std::size_t bytes = b.temporary.lengthBytes();
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(b.temporary.data(), bytes, build.keys,
                                               b.buildKeys.data(), build.payloads,
                                               b.buildPayloads.data(), build.rows, 0, keyBits_));
    CUDA_CHECK(cub::DeviceRadixSort::SortPairs(b.temporary.data(), bytes, probe.keys,
                                               b.probeKeys.data(), probe.payloads,
                                               b.probePayloads.data(), probe.rows, 0, keyBits_));
    CUDA_CHECK(cudaMemsetAsync(matches.matchCount, 0, sizeof(std::uint64_t)));
    if (build.rows == 0 || probe.rows == 0) {
        return;
    }
    const TableView<Word> sortedBuild{b.buildKeys.data(), b.buildPayloads.data(), build.rows};
    const TableView<Word> sortedProbe{b.probeKeys.data(), b.probePayloads.data(), probe.rows};
    const auto blocks = static_cast<unsigned>((probe.rows + kTileRows - 1) / kTileRows);
    mergeTiles<<<blocks, kThreads>>>(sortedBuild, sortedProbe, MatchWriter<Word>{matches});
    CUDA_CHECK(cudaGetLastError());
}

template class SortMergePeer<std::int32_t>;
template class SortMergePeer<std::int64_t>;

}  // namespace gpujoin::bench
