// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Prints numbers that a Java test compares with its own.
#pragma once

#include <cstdio>

#include "../../main/cuda/engine/build.h"
#include "../../main/cuda/engine/serve.h"

namespace gpujoin {

inline void printLayout() {
#define FIELD(type, field) std::printf(#type "." #field "=%zu\n", offsetof(type, field))
#define SIZE(type) std::printf(#type "=%zu\n", sizeof(type))
    SIZE(ChunkHeader);
    FIELD(ChunkHeader, magic);
    FIELD(ChunkHeader, version);
    FIELD(ChunkHeader, headerLength);
    FIELD(ChunkHeader, lengthBytes);
    FIELD(ChunkHeader, rowCount);
    FIELD(ChunkHeader, schemaFingerprint);
    FIELD(ChunkHeader, dimension);
    FIELD(ChunkHeader, flags);
    FIELD(ChunkHeader, partition);
    FIELD(ChunkHeader, variableWidthOffset);
    FIELD(ChunkHeader, epoch);
    FIELD(ChunkHeader, sequence);
    FIELD(ChunkHeader, checksum);
    FIELD(ChunkHeader, reserved);
    SIZE(StepEntry);
    FIELD(StepEntry, sequence);
    FIELD(StepEntry, plan);
    FIELD(StepEntry, slot);
    FIELD(StepEntry, resultBuffer);
    FIELD(StepEntry, resume);
    FIELD(StepEntry, chunkIsEncoded);
    FIELD(StepEntry, epoch);
    FIELD(StepEntry, chunk);
    FIELD(StepEntry, chunkRowCount);
    FIELD(StepEntry, chunkReadRows);
    FIELD(StepEntry, segmentSequence);
    FIELD(StepEntry, baseRow);
    FIELD(StepEntry, lengthBytes);
    SIZE(Completion);
    FIELD(Completion, sequence);
    FIELD(Completion, status);
    FIELD(Completion, rowCount);
    FIELD(Completion, completedRows);
    FIELD(Completion, matchCount);
    FIELD(Completion, busyNs);
    FIELD(Completion, block);
    FIELD(Completion, startedNs);
    FIELD(Control, published);
    FIELD(Control, stop);
    FIELD(Control, allotment);
    FIELD(Control, heartbeat);
    FIELD(Control, laneOf);
    SIZE(Shard);
    FIELD(Shard, slots);
    FIELD(Shard, rows);
    FIELD(Shard, slotCount);
    SIZE(Dimension);
    FIELD(Dimension, slots);
    FIELD(Dimension, rows);
    FIELD(Dimension, slotCount);
    FIELD(Dimension, rowBytes);
    FIELD(Dimension, tableKind);
    FIELD(Dimension, keyColumn);
    FIELD(Dimension, firstCopy);
    FIELD(Dimension, copyCount);
    FIELD(Dimension, joinKind);
    FIELD(Dimension, shardCount);
    FIELD(Dimension, rowShift);
    FIELD(Dimension, builtShards);
    FIELD(Dimension, builtShard);
    FIELD(Dimension, matchedOffset);
    FIELD(Dimension, hashSeed);
    FIELD(Dimension, hashMultiplier);
    SIZE(PayloadCopy);
    FIELD(PayloadCopy, resultOffset);
    FIELD(PayloadCopy, rowOffset);
    FIELD(PayloadCopy, widthBytes);
    FIELD(PayloadCopy, base);
    FIELD(PayloadCopy, bits);
    SIZE(PayloadRange);
    FIELD(PayloadRange, least);
    FIELD(PayloadRange, greatest);
    SIZE(Progress);
    SIZE(KeySlot);
    SIZE(BuildRuns);
    FIELD(BuildRuns, runs);
    FIELD(BuildRuns, columns);
    FIELD(BuildRuns, runShift);
    FIELD(BuildRuns, columnCount);
    FIELD(BuildRuns, changeOffset);
    SIZE(BuildColumn);
    FIELD(BuildColumn, runOffset);
    FIELD(BuildColumn, rowOffset);
    FIELD(BuildColumn, widthBytes);
    SIZE(Plan);
    FIELD(Plan, segments);
    FIELD(Plan, scratch);
    FIELD(Plan, results);
    FIELD(Plan, completions);
    FIELD(Plan, progress);
    FIELD(Plan, dimensions);
    FIELD(Plan, copies);
    FIELD(Plan, segmentBytes);
    FIELD(Plan, resultBytes);
    FIELD(Plan, capacityRows);
    FIELD(Plan, dimensionCount);
    FIELD(Plan, columnCount);
    FIELD(Plan, schemaFingerprint);
    FIELD(Plan, columnWidth);
    FIELD(Plan, filters);
    FIELD(Plan, ranges);
    FIELD(Plan, aggregation);
    FIELD(Plan, filterCount);
    FIELD(Plan, nullKeysColumn);
    FIELD(Plan, decodedRows);
    FIELD(Plan, packsResults);
    FIELD(Plan, chunkColumnCount);
    FIELD(Plan, chunkColumnWidth);
    FIELD(Plan, segmentColumn);
    SIZE(EncodedColumn);
    FIELD(EncodedColumn, encoding);
    FIELD(EncodedColumn, valueBits);
    FIELD(EncodedColumn, runBits);
    FIELD(EncodedColumn, widthBytes);
    FIELD(EncodedColumn, dictionarySize);
    FIELD(EncodedColumn, bodyOffset);
    FIELD(EncodedColumn, bodyBytes);
    FIELD(EncodedColumn, base);
    FIELD(EncodedColumn, runCount);
    FIELD(EncodedColumn, reserved);
    SIZE(Filter);
    FIELD(Filter, column);
    FIELD(Filter, firstRange);
    FIELD(Filter, rangeCount);
    SIZE(ValueRange);
    FIELD(ValueRange, from);
    FIELD(ValueRange, distance);
    SIZE(ValueSource);
    FIELD(ValueSource, dimension);
    FIELD(ValueSource, at);
    FIELD(ValueSource, widthBytes);
    SIZE(Aggregate);
    FIELD(Aggregate, factorCount);
    FIELD(Aggregate, factors);
    SIZE(Aggregation);
    FIELD(Aggregation, slots);
    FIELD(Aggregation, groups);
    FIELD(Aggregation, groupCount);
    FIELD(Aggregation, slotCount);
    FIELD(Aggregation, maxGroups);
    FIELD(Aggregation, columnCount);
    FIELD(Aggregation, aggregateCount);
    FIELD(Aggregation, dimensionsUsed);
    FIELD(Aggregation, columns);
    FIELD(Aggregation, aggregates);
    FIELD(Aggregation, hashSeed);
    FIELD(Aggregation, hashMultiplier);
    SIZE(Grid);
    std::printf("MAX_LANES=%u\n", MAX_LANES);
    std::printf("PACKED_ROWS=%u\n", PACKED_ROWS);
    std::printf("MAX_DIMENSIONS=%u\n", MAX_DIMENSIONS);
    std::printf("MAX_FACT_COLUMNS=%u\n", MAX_FACT_COLUMNS);
    std::printf("MAX_GROUP_COLUMNS=%u\n", MAX_GROUP_COLUMNS);
    std::printf("INNER=%d\nLEFT=%d\nSEMI=%d\nANTI=%d\n", JOIN_INNER, JOIN_LEFT, JOIN_SEMI,
                JOIN_ANTI);
    std::printf("UPSERT=%d\nDELETE=%d\n", CHANGE_UPSERT, CHANGE_DELETE);
    std::printf("MAX_AGGREGATES=%u\n", MAX_AGGREGATES);
    std::printf("MAX_FACTORS=%u\n", MAX_FACTORS);
    std::printf("ADDED_PER_THREAD=%u\n", ADDED_PER_THREAD);
    std::printf("ROW_KEY_OFFSET=%u\n", ROW_KEY_OFFSET);
    std::printf("ROW_NEXT_OFFSET=%u\n", ROW_NEXT_OFFSET);
    std::printf("ROW_PAYLOAD_OFFSET=%u\n", ROW_PAYLOAD_OFFSET);
    std::printf("CHUNK_MAGIC=%u\n", CHUNK_MAGIC);
    std::printf("CHUNK_VERSION=%u\n", CHUNK_VERSION);
    std::printf("CHUNK_VERSION_WITH_FLAGS=%u\n", CHUNK_VERSION_WITH_FLAGS);
    std::printf("CHUNK_ENCODED=%u\n", CHUNK_ENCODED);
    std::printf("CHUNK_MANY_PARTITIONS=%u\n", CHUNK_MANY_PARTITIONS);
    std::printf("NOT_IN_SEGMENT=%u\n", NOT_IN_SEGMENT);
    std::printf("TILE_ROWS=%d\n", TILE_ROWS);
    std::printf("DECODED_COLUMN_BYTES=%d\n", static_cast<int>(DECODED_COLUMN_BYTES));
    std::printf("RUN_LENGTH=%u\n", RUN_LENGTH);
    std::printf("MAX_DICTIONARY_SIZE=%d\n", MAX_DICTIONARY_SIZE);
    std::printf("MAX_ENCODED_ROWS=%d\n", MAX_ENCODED_ROWS);
    std::printf("PLAIN=%d\nBIT_PACKED=%d\nDICTIONARY=%d\nDELTA=%d\n", ENCODING_PLAIN,
                ENCODING_BIT_PACKED, ENCODING_DICTIONARY, ENCODING_DELTA);
}

// For keys i * i * i * step with i from -500 to 500, prints the hash, the slot hash with seed
// `key + 1` and multiplier `2 key + 3`, and its slot of 1000; then the checksum of these keys.
inline void printValues() {
    uint64_t checksum = 0;
    for (int64_t i = -500; i <= 500; i++) {
        int64_t key = static_cast<int64_t>(static_cast<uint64_t>(i * i * i) * 0x9E3779B97F4AULL);
        uint64_t seed = static_cast<uint64_t>(key) + 1;
        uint64_t hash = slotHash(key, seed, 2 * static_cast<uint64_t>(key) + 3);
        std::printf("%lld %llu %llu %u\n", static_cast<long long>(key),
                    static_cast<unsigned long long>(keyHash(key)),
                    static_cast<unsigned long long>(hash), hashSlot(hash, 1000));
        checksum +=
            i + 500 == 6 ? checksumOf(0, 6) : checksumOf(static_cast<uint64_t>(key), i + 500);
    }
    std::printf("checksum %llu\n", static_cast<unsigned long long>(checksum));
}

}  // namespace gpujoin
