// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Support for the checks of the device functions.
#pragma once

#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace gpujoin {

// Secret parameters of slotHash in tests.
constexpr uint64_t TEST_HASH_SEED = 0x0123456789ABCDEFull;
constexpr uint64_t TEST_HASH_MULTIPLIER = 0x9E3779B97F4A7C15ull;

#define REQUIRE(condition)                                                       \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (0)

// The threads of a block, as CPU threads.
class ThreadGroup {
  public:
    static constexpr uint32_t MIN_SIZE = 1;

    struct Shared {
        explicit Shared(uint32_t threads) : barrier(threads), values(threads) {}
        std::barrier<> barrier;
        std::vector<uint64_t> values;
    };

    ThreadGroup(Shared& shared, uint32_t rank) : shared(shared), threadRank(rank) {}

    uint32_t rank() const { return threadRank; }
    uint32_t size() const { return static_cast<uint32_t>(shared.values.size()); }
    void sync() { shared.barrier.arrive_and_wait(); }

    uint64_t exclusiveSum(uint64_t value, uint64_t& total) {
        shared.values[threadRank] = value;
        sync();
        uint64_t before = 0;
        total = 0;
        for (uint32_t i = 0; i < size(); i++) {
            before += i < threadRank ? shared.values[i] : 0;
            total += shared.values[i];
        }
        sync();
        return before;
    }

    void putBit(uint64_t* words, uint32_t index, bool bit) {
        uint64_t mask = uint64_t{1} << index % 64;
        if (bit) {
            __atomic_fetch_or(&words[index / 64], mask, __ATOMIC_RELAXED);
        } else {
            __atomic_fetch_and(&words[index / 64], ~mask, __ATOMIC_RELAXED);
        }
    }

  private:
    Shared& shared;
    uint32_t threadRank;
};

inline std::vector<int64_t> randomKeys(std::mt19937_64& random, size_t count, int64_t distinct) {
    std::vector<int64_t> keys(count);
    for (int64_t& key : keys) {
        key = static_cast<int64_t>(random() % distinct) - distinct / 2;
    }
    return keys;
}

// Returns 8, 4, 2 or 1, the bytes of a key.
inline uint8_t keyWidthOf(uint64_t seed) { return static_cast<uint8_t>(8 >> seed % 4); }

}  // namespace gpujoin
