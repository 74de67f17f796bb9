// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Generated tables with a known join. The number of a probe row determines its build rows, so the
// generator alone computes the expected count and checksum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../main/cuda/engine/attributes.h"
#include "device_memory.h"
#include "mix.h"
#include "resident_join.h"

namespace gpujoin::bench {

enum class KeyDomain {
    // A permutation of 0, 1, 2, ...: like surrogate keys, and the best case of a sort.
    DENSE,
    // All values of the word.
    SPARSE,
    // Both tables in the order of their keys, which are dense around 0. Without skew.
    ORDERED
};

inline const char* nameOf(KeyDomain domain) {
    return domain == KeyDomain::DENSE    ? "dense"
           : domain == KeyDomain::SPARSE ? "sparse"
                                         : "ordered";
}

// Shape of the generated tables. Every build key occurs `copies` times.
struct DataSpec {
    uint64_t buildRows = 0;
    uint64_t probeRows = 0;
    uint64_t copies = 1;
    // Share of probe rows with a match, in percent.
    unsigned hitPercent = 100;
    // Exponent of the Zipf distribution of probe keys; 0 is uniform.
    double zipf = 0;
    KeyDomain domain = KeyDomain::DENSE;
    uint64_t seed = 1;

    GPUJOIN_HD uint64_t distinctKeys() const { return (buildRows + copies - 1) / copies; }
    // Number of keys that probe rows draw from; those from distinctKeys() on have no match.
    GPUJOIN_HD uint64_t drawnKeys() const {
        uint64_t drawn = hitPercent == 0 ? 2 * distinctKeys() : distinctKeys() * 100 / hitPercent;
        return drawn == 0 ? 1 : drawn;
    }
    GPUJOIN_HD unsigned keyBits() const {
        unsigned bits = 1;
        while ((uint64_t{1} << bits) < drawnKeys()) {
            bits++;
        }
        return bits;
    }
};

template <typename Word>
struct Generator {
    DataSpec spec;

    // Returns key number `id` of a permutation of the dense domain or of all words.
    GPUJOIN_HD Word key(uint64_t id) const {
        if (spec.domain == KeyDomain::ORDERED) {
            return static_cast<Word>(id - spec.drawnKeys() / 2);
        }
        unsigned bits = spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word);
        uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        uint64_t x = id;
        for (int round = 0; round < 3; round++) {
            x = (x * 0xD1342543DE82EF95ull + mix(spec.seed + round)) & mask;
            x ^= x >> (bits / 2 + 1);
        }
        return static_cast<Word>(x);
    }
    GPUJOIN_HD uint64_t buildId(uint64_t row) const { return row / spec.copies; }
    GPUJOIN_HD uint64_t probeId(uint64_t row) const {
        // Keys without a match follow those of the build table.
        uint64_t first = spec.hitPercent == 0 ? spec.distinctKeys() : 0;
        uint64_t keys = spec.drawnKeys() - first;
        if (spec.domain == KeyDomain::ORDERED) {
            return first + static_cast<uint64_t>(static_cast<double>(row) /
                                                 static_cast<double>(spec.probeRows) *
                                                 static_cast<double>(keys));
        }
        uint64_t random = mix(row * 2 + 1 + spec.seed);
        if (spec.zipf > 0) {
            return first + zipfRank((random >> 11) * 0x1.0p-53, static_cast<double>(keys));
        }
#if defined(__CUDA_ARCH__)
        return first + __umul64hi(random, keys);
#else
        return first + static_cast<uint64_t>((static_cast<unsigned __int128>(random) * keys) >> 64);
#endif
    }
    GPUJOIN_HD Word buildPayload(uint64_t row) const { return static_cast<Word>(mix(row ^ 0xB0)); }
    GPUJOIN_HD Word probePayload(uint64_t row) const { return static_cast<Word>(mix(~row)); }

  private:
    // Maps a uniform number to a rank, counted from 0, by the continuous bounded power law, which
    // approximates Zipf.
    GPUJOIN_HD uint64_t zipfRank(double uniform, double keys) const {
        double exponent = 1.0 - spec.zipf;
        double rank = exponent == 0
                          ? pow(keys + 1, uniform)
                          : pow((pow(keys + 1, exponent) - 1) * uniform + 1, 1 / exponent);
        double clamped = rank < 1 ? 1 : (rank > keys ? keys : rank);
        return static_cast<uint64_t>(clamped) - 1;
    }
};

// Number of matches and the sum of their hashes: equal for equal multisets of rows.
struct Digest {
    unsigned long long count = 0;
    unsigned long long sum = 0;

    bool operator==(const Digest& o) const { return count == o.count && sum == o.sum; }
};

template <typename Word>
__device__ unsigned long long rowHash(Word key, Word buildPayload, Word probePayload) {
    uint64_t h = mix(static_cast<uint64_t>(key) ^ 0x51);
    h = mix(h ^ static_cast<uint64_t>(buildPayload));
    return mix(h + static_cast<uint64_t>(probePayload));
}

__device__ inline void addToDigest(Digest* digest, unsigned long long count,
                                   unsigned long long sum) {
    for (int distance = 16; distance > 0; distance /= 2) {
        count += __shfl_down_sync(0xFFFFFFFFu, count, distance);
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&digest->count, count);
        atomicAdd(&digest->sum, sum);
    }
}

template <typename Word>
__global__ void fillBuild(Generator<Word> g, Word* keys, Word* payloads) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < g.spec.buildRows;
         i += stride) {
        keys[i] = g.key(g.buildId(i));
        payloads[i] = g.buildPayload(i);
    }
}

template <typename Word>
__global__ void fillProbe(Generator<Word> g, Word* keys, Word* payloads) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < g.spec.probeRows;
         i += stride) {
        keys[i] = g.key(g.probeId(i));
        payloads[i] = g.probePayload(i);
    }
}

// Computes the expected digest from row numbers alone.
template <typename Word>
__global__ void expectMatches(Generator<Word> g, bool withKeys, Digest* digest) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    unsigned long long count = 0;
    unsigned long long sum = 0;
    for (uint64_t j = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; j < g.spec.probeRows;
         j += stride) {
        uint64_t id = g.probeId(j);
        Word key = withKeys ? g.key(id) : Word{0};
        uint64_t end = (id + 1) * g.spec.copies;
        for (uint64_t i = id * g.spec.copies; i < end && i < g.spec.buildRows; i++) {
            count++;
            sum += rowHash(key, g.buildPayload(i), g.probePayload(j));
        }
    }
    addToDigest(digest, count, sum);
}

// Computes the digest of a result.
template <typename Word>
__global__ void digestMatches(resident::MatchColumns<Word> matches, Digest* digest) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    uint64_t rows =
        *matches.matchCount < matches.capacityRows ? *matches.matchCount : matches.capacityRows;
    unsigned long long count = 0;
    unsigned long long sum = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
        count++;
        sum += rowHash(matches.keys == nullptr ? Word{0} : matches.keys[i],
                       matches.buildPayloads[i], matches.probePayloads[i]);
    }
    addToDigest(digest, count, sum);
}

constexpr int FILL_BLOCKS = 1056;
constexpr int FILL_THREADS = 512;

// Both tables in device memory, and the expected result of their join.
template <typename Word>
class Tables {
  public:
    explicit Tables(const DataSpec& spec)
        : generator{spec},
          buildKeys(spec.buildRows),
          buildPayloads(spec.buildRows),
          probeKeys(spec.probeRows),
          probePayloads(spec.probeRows) {
        fillBuild<<<FILL_BLOCKS, FILL_THREADS>>>(generator, buildKeys.data(), buildPayloads.data());
        fillProbe<<<FILL_BLOCKS, FILL_THREADS>>>(generator, probeKeys.data(), probePayloads.data());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    const DataSpec& spec() const { return generator.spec; }
    resident::TableView<Word> build() const {
        return {buildKeys.data(), buildPayloads.data(), generator.spec.buildRows};
    }
    resident::TableView<Word> probe() const {
        return {probeKeys.data(), probePayloads.data(), generator.spec.probeRows};
    }
    Digest expected(bool withKeys) const {
        DeviceArray<Digest> digest(1);
        CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
        expectMatches<<<FILL_BLOCKS, FILL_THREADS>>>(generator, withKeys, digest.data());
        return fetch(digest);
    }
    static Digest fetch(const DeviceArray<Digest>& digest) {
        Digest result;
        CUDA_CHECK(cudaMemcpy(&result, digest.data(), sizeof(Digest), cudaMemcpyDeviceToHost));
        return result;
    }

  private:
    Generator<Word> generator;
    DeviceArray<Word> buildKeys;
    DeviceArray<Word> buildPayloads;
    DeviceArray<Word> probeKeys;
    DeviceArray<Word> probePayloads;
};

// Result columns. Poisoned before a run, so that rows which the join does not write change the
// digest.
template <typename Word>
class Matches {
  public:
    Matches(uint64_t capacityRows, bool withKeys)
        : keys(withKeys ? capacityRows : 0),
          buildPayloads(capacityRows),
          probePayloads(capacityRows),
          matchCount(1) {}

    resident::MatchColumns<Word> columns() const {
        return {keys.data(), buildPayloads.data(), probePayloads.data(), buildPayloads.count(),
                matchCount.data()};
    }
    void poison() const {
        for (const DeviceArray<Word>* column : {&keys, &buildPayloads, &probePayloads}) {
            if (column->data() != nullptr) {
                CUDA_CHECK(cudaMemset(column->data(), 0xA5, column->lengthBytes()));
            }
        }
        CUDA_CHECK(cudaMemset(matchCount.data(), 0xA5, matchCount.lengthBytes()));
    }
    Digest digest() const {
        DeviceArray<Digest> digest(1);
        CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
        digestMatches<<<FILL_BLOCKS, FILL_THREADS>>>(columns(), digest.data());
        return Tables<Word>::fetch(digest);
    }
    uint64_t count() const {
        uint64_t value;
        CUDA_CHECK(cudaMemcpy(&value, matchCount.data(), sizeof(value), cudaMemcpyDeviceToHost));
        return value;
    }

  private:
    DeviceArray<Word> keys;
    DeviceArray<Word> buildPayloads;
    DeviceArray<Word> probePayloads;
    DeviceArray<uint64_t> matchCount;
};

}  // namespace gpujoin::bench
