// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Hashes and checksum, bit for bit as KeyHash, SlotHash and ChunkChecksum in Java.
#pragma once

#include <cstdint>

#include "attributes.h"

namespace gpujoin {

GPUJOIN_INLINE uint64_t keyHash(int64_t key) {
    uint64_t h = static_cast<uint64_t>(key);
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    return h;
}

// Maps keys to slots of tables. `seed` and the odd `multiplier` are secret, so that nobody can
// choose keys that share a slot.
GPUJOIN_INLINE uint64_t slotHash(int64_t key, uint64_t seed, uint64_t multiplier) {
    uint64_t h = static_cast<uint64_t>(key) ^ seed;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    h *= multiplier;
    h ^= h >> 32;
    return h;
}

GPUJOIN_INLINE uint32_t hashSlot(uint64_t hash, uint32_t slots) {
    return static_cast<uint32_t>(((hash >> 32) * slots) >> 32);
}

// Maps keys to shards, by the highest bits of their hash, and to slots of the shard by the others.
GPUJOIN_INLINE uint32_t shardOf(uint64_t hash, uint32_t shards) {
    return static_cast<uint32_t>(((hash >> 32) * shards) >> 32);
}

GPUJOIN_INLINE uint32_t slotOfShard(uint64_t hash, uint32_t shards, uint32_t slots) {
    uint64_t left = ((hash >> 32) * shards) & 0xFFFFFFFFu;
    return static_cast<uint32_t>((left * slots) >> 32);
}

constexpr uint64_t CHECKSUM_STEP = 0x9E3779B97F4A7C15ull;

// Contribution of a word to the checksum of its chunk; wordIndex counts 8-byte words from the
// header.
GPUJOIN_INLINE uint64_t checksumOf(uint64_t word, uint64_t wordIndex) {
    uint64_t mixed = (word ^ ((wordIndex + 1) * CHECKSUM_STEP)) * 0xD6E8FEB86659FD93ull;
    return mixed ^ (mixed >> 32);
}

}  // namespace gpujoin
