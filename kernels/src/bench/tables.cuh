#pragma once

#include <algorithm>
#include <cstdint>

#include "device_memory.h"
#include "resident_join.h"

/*
 * Generated tables whose join is known without joining: the row of the build side that a probe row meets is
 * computed from the probe row's number, so the expected count and checksum come from the generator alone.
 */
namespace gpujoin::bench {

__host__ __device__ inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

enum class KeyDomain {
    /** A permutation of 0, 1, 2, ...: what surrogate keys look like, and the best case of a sort. */
    DENSE,
    /** All bits of the word. */
    SPARSE
};

/** What the tables look like; every build key occurs `copies` times. */
struct DataSpec {
    std::uint64_t buildRows = 0;
    std::uint64_t probeRows = 0;
    std::uint64_t copies = 1;
    /** Share of probe rows, in percent, that have a match. */
    unsigned hitPercent = 100;
    /** Exponent of the probe keys' Zipf distribution; 0 is uniform. */
    double zipf = 0;
    KeyDomain domain = KeyDomain::DENSE;
    std::uint64_t seed = 1;

    __host__ __device__ std::uint64_t distinctKeys() const {
        return (buildRows + copies - 1) / copies;
    }
    /** Keys that probe rows draw from; those from distinctKeys() on have no match. */
    __host__ __device__ std::uint64_t drawnKeys() const {
        const std::uint64_t drawn = distinctKeys() * 100 / (hitPercent == 0 ? 1 : hitPercent);
        return drawn == 0 ? 1 : drawn;
    }
    __host__ __device__ unsigned keyBits() const {
        unsigned bits = 1;
        while ((std::uint64_t{1} << bits) < drawnKeys()) {
            bits++;
        }
        return bits;
    }
};

template <class Word>
struct Generator {
    DataSpec spec;

    /** Key number `id`: a permutation of the dense domain or of all words. */
    __host__ __device__ Word key(std::uint64_t id) const {
        const unsigned bits = spec.domain == KeyDomain::DENSE ? spec.keyBits() : 8 * sizeof(Word);
        const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        std::uint64_t x = id;
        for (int round = 0; round < 3; round++) {
            x = (x * 0xD1342543DE82EF95ull + mix(spec.seed + round)) & mask;
            x ^= x >> (bits / 2 + 1);
        }
        return static_cast<Word>(x);
    }
    __host__ __device__ std::uint64_t buildId(std::uint64_t row) const { return row / spec.copies; }
    __host__ __device__ std::uint64_t probeId(std::uint64_t row) const {
        const std::uint64_t random = mix(row * 2 + 1 + spec.seed);
        const std::uint64_t keys = spec.drawnKeys();
        if (spec.zipf > 0) {
            return zipfRank((random >> 11) * 0x1.0p-53, static_cast<double>(keys));
        }
#ifdef __CUDA_ARCH__
        return __umul64hi(random, keys);
#else
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * keys) >> 64);
#endif
    }
    __host__ __device__ Word buildPayload(std::uint64_t row) const {
        return static_cast<Word>(mix(row ^ 0xB0));
    }
    __host__ __device__ Word probePayload(std::uint64_t row) const {
        return static_cast<Word>(mix(~row));
    }

  private:
    /** Rank from 0 of a uniform number by the continuous bounded power law, a close stand-in for Zipf. */
    __host__ __device__ std::uint64_t zipfRank(double uniform, double keys) const {
        const double exponent = 1.0 - spec.zipf;
        const double rank = exponent == 0
                                ? pow(keys + 1, uniform)
                                : pow((pow(keys + 1, exponent) - 1) * uniform + 1, 1 / exponent);
        const double clamped = rank < 1 ? 1 : (rank > keys ? keys : rank);
        return static_cast<std::uint64_t>(clamped) - 1;
    }
};

/** Number of matches and the sum of a hash of each: equal for equal multisets of rows. */
struct Digest {
    unsigned long long count = 0;
    unsigned long long sum = 0;

    bool operator==(const Digest& o) const { return count == o.count && sum == o.sum; }
};

template <class Word>
__device__ unsigned long long rowHash(Word key, Word buildPayload, Word probePayload) {
    std::uint64_t h = mix(static_cast<std::uint64_t>(key) ^ 0x51);
    h = mix(h ^ static_cast<std::uint64_t>(buildPayload));
    return mix(h + static_cast<std::uint64_t>(probePayload));
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

template <class Word>
__global__ void fillBuild(Generator<Word> g, Word* keys, Word* payloads) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i < g.spec.buildRows; i += stride) {
        keys[i] = g.key(g.buildId(i));
        payloads[i] = g.buildPayload(i);
    }
}

template <class Word>
__global__ void fillProbe(Generator<Word> g, Word* keys, Word* payloads) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i < g.spec.probeRows; i += stride) {
        keys[i] = g.key(g.probeId(i));
        payloads[i] = g.probePayload(i);
    }
}

/** The expected digest, from row numbers alone. */
template <class Word>
__global__ void expectMatches(Generator<Word> g, bool withKeys, Digest* digest) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    unsigned long long count = 0;
    unsigned long long sum = 0;
    for (std::uint64_t j = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         j < g.spec.probeRows; j += stride) {
        const std::uint64_t id = g.probeId(j);
        const Word key = withKeys ? g.key(id) : Word{0};
        const std::uint64_t end = (id + 1) * g.spec.copies;
        for (std::uint64_t i = id * g.spec.copies; i < end && i < g.spec.buildRows; i++) {
            count++;
            sum += rowHash(key, g.buildPayload(i), g.probePayload(j));
        }
    }
    addToDigest(digest, count, sum);
}

/** The digest of a result. */
template <class Word>
__global__ void digestMatches(resident::MatchColumns<Word> matches, Digest* digest) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    const std::uint64_t rows =
        *matches.matchCount < matches.capacityRows ? *matches.matchCount : matches.capacityRows;
    unsigned long long count = 0;
    unsigned long long sum = 0;
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows;
         i += stride) {
        count++;
        sum += rowHash(matches.keys == nullptr ? Word{0} : matches.keys[i],
                       matches.buildPayloads[i], matches.probePayloads[i]);
    }
    addToDigest(digest, count, sum);
}

constexpr int kFillBlocks = 1056;
constexpr int kFillThreads = 512;

/** Both tables in device memory, and what their join must give. */
template <class Word>
class Tables {
  public:
    explicit Tables(const DataSpec& spec)
        : generator_{spec},
          buildKeys_(spec.buildRows),
          buildPayloads_(spec.buildRows),
          probeKeys_(spec.probeRows),
          probePayloads_(spec.probeRows) {
        fillBuild<<<kFillBlocks, kFillThreads>>>(generator_, buildKeys_.data(),
                                                 buildPayloads_.data());
        fillProbe<<<kFillBlocks, kFillThreads>>>(generator_, probeKeys_.data(),
                                                 probePayloads_.data());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    const DataSpec& spec() const { return generator_.spec; }
    resident::TableView<Word> build() const {
        return {buildKeys_.data(), buildPayloads_.data(), generator_.spec.buildRows};
    }
    resident::TableView<Word> probe() const {
        return {probeKeys_.data(), probePayloads_.data(), generator_.spec.probeRows};
    }
    Digest expected(bool withKeys) const {
        DeviceArray<Digest> digest(1);
        CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
        expectMatches<<<kFillBlocks, kFillThreads>>>(generator_, withKeys, digest.data());
        return fetch(digest);
    }
    static Digest fetch(const DeviceArray<Digest>& digest) {
        Digest result;
        CUDA_CHECK(cudaMemcpy(&result, digest.data(), sizeof(Digest), cudaMemcpyDeviceToHost));
        return result;
    }

  private:
    Generator<Word> generator_;
    DeviceArray<Word> buildKeys_;
    DeviceArray<Word> buildPayloads_;
    DeviceArray<Word> probeKeys_;
    DeviceArray<Word> probePayloads_;
};

/** Result columns, poisoned before every run, so that a row nobody wrote shows in the digest. */
template <class Word>
class Matches {
  public:
    Matches(std::uint64_t capacityRows, bool withKeys)
        : keys_(withKeys ? capacityRows : 0),
          buildPayloads_(capacityRows),
          probePayloads_(capacityRows),
          count_(1) {}

    resident::MatchColumns<Word> columns() const {
        return {keys_.data(), buildPayloads_.data(), probePayloads_.data(), buildPayloads_.count(),
                count_.data()};
    }
    void poison() const {
        for (const DeviceArray<Word>* column : {&keys_, &buildPayloads_, &probePayloads_}) {
            if (column->data() != nullptr) {
                CUDA_CHECK(cudaMemset(column->data(), 0xA5, column->lengthBytes()));
            }
        }
        CUDA_CHECK(cudaMemset(count_.data(), 0xA5, count_.lengthBytes()));
    }
    Digest digest() const {
        DeviceArray<Digest> digest(1);
        CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
        digestMatches<<<kFillBlocks, kFillThreads>>>(columns(), digest.data());
        return Tables<Word>::fetch(digest);
    }
    std::uint64_t count() const {
        std::uint64_t value;
        CUDA_CHECK(cudaMemcpy(&value, count_.data(), sizeof(value), cudaMemcpyDeviceToHost));
        return value;
    }

  private:
    DeviceArray<Word> keys_;
    DeviceArray<Word> buildPayloads_;
    DeviceArray<Word> probePayloads_;
    DeviceArray<std::uint64_t> count_;
};

}  // namespace gpujoin::bench
