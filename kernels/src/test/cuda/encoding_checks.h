// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of encoded segments: every plan decodes, and no damaged column is read out of bounds.
#pragma once

#include <memory>
#include <thread>

#include "../../main/cuda/engine/decoder.h"
#include "../../main/cuda/engine/segment.h"
#include "segment_encoder.h"

namespace gpujoin {

// Values with runs, of a range that a column of `widthBytes` has.
inline std::vector<int64_t> randomColumn(std::mt19937_64& random, size_t rows, uint8_t widthBytes) {
    int64_t spread = int64_t{1} << (1 + random() % (7 * widthBytes - 1));
    int64_t least = -std::min<int64_t>(spread, 1000);
    uint64_t runs = 1 + random() % 20;
    std::vector<int64_t> column(rows);
    for (size_t row = 0; row < rows; row++) {
        bool repeats = row > 0 && random() % runs != 0;
        column[row] = repeats ? column[row - 1] : least + static_cast<int64_t>(random() % spread);
    }
    return column;
}

// A segment in memory of its exact size, so that a sanitizer sees reads beyond its end.
class EncodedSegment {
  public:
    explicit EncodedSegment(const std::vector<unsigned char>& from)
        : lengthBytes(from.size()), words(new Words[from.size() / sizeof(Words)]) {
        REQUIRE(from.size() % sizeof(Words) == 0);
        std::memcpy(words.get(), from.data(), from.size());
    }

    unsigned char* bytes() { return reinterpret_cast<unsigned char*>(words.get()); }

    EncodedColumn& column(uint32_t index) {
        return reinterpret_cast<EncodedColumn*>(bytes() + sizeof(ChunkHeader))[index];
    }

    const size_t lengthBytes;

  private:
    std::unique_ptr<Words[]> words;
};

// Decodes all batches with `threads` threads. Returns whether every thread found each one whole.
inline bool decodeAll(EncodedSegment& segment, const Plan& plan, int32_t rowCount, uint32_t threads,
                      std::vector<std::vector<int64_t>>& columns) {
    ThreadGroup::Shared shared(threads);
    auto decoding = std::make_unique<Decoding>();
    std::vector<uint64_t> rows(plan.columnCount * DECODED_COLUMN_BYTES / 8);
    unsigned char* to = reinterpret_cast<unsigned char*>(rows.data());
    columns.assign(plan.columnCount, {});
    std::vector<char> whole(threads, 1);
    auto decode = [&](uint32_t rank) {
        ThreadGroup group(shared, rank);
        Decoder<ThreadGroup> decoder(group, *decoding, segment.bytes(), rowCount);
        decoder.open(plan.columnCount);
        group.sync();
        for (int32_t batch = 0; batch * BATCH_ROWS < rowCount; batch++) {
            whole[rank] &= decoder.decode(plan.columnCount, batch, to);
            int32_t first = batch * BATCH_ROWS;
            int32_t end = first + least(rowCount - first, BATCH_ROWS);
            for (uint32_t c = 0; rank == 0 && c < plan.columnCount; c++) {
                uint32_t widthBytes = decodedWidth(plan.columnWidth[c]);
                for (int32_t row = first; row < end; row++) {
                    columns[c].push_back(
                        loadInteger(to + DECODED_COLUMN_BYTES * c + row % DECODED_ROWS * widthBytes,
                                    widthBytes));
                }
            }
            group.sync();
        }
    };
    std::vector<std::thread> others;
    for (uint32_t rank = 1; rank < threads; rank++) {
        others.emplace_back(decode, rank);
    }
    decode(0);
    for (std::thread& other : others) {
        other.join();
    }
    for (char each : whole) {
        REQUIRE(each == whole[0]);
    }
    return whole[0] != 0;
}

struct EncodedSample {
    Plan plan{};
    int32_t rowCount;
    std::vector<std::vector<int64_t>> columns;
    std::vector<unsigned char> bytes;
};

inline EncodedSample randomSample(std::mt19937_64& random, int32_t maxRows) {
    EncodedSample sample;
    sample.rowCount = static_cast<int32_t>(1 + random() % maxRows);
    sample.plan.columnCount = static_cast<uint32_t>(1 + random() % 3);
    SegmentEncoder encoder(sample.plan.columnCount);
    for (uint32_t c = 0; c < sample.plan.columnCount; c++) {
        uint8_t widthBytes = keyWidthOf(random());
        sample.plan.columnWidth[c] = widthBytes;
        sample.columns.push_back(randomColumn(random, sample.rowCount, widthBytes));
        encoder.add(sample.columns.back(), widthBytes, ALL_PLANS[random() % 8]);
    }
    sample.bytes = encoder.bytes;
    return sample;
}

inline void shouldDecodeEveryPlanWithAnyNumberOfThreads(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; i++) {
        EncodedSample sample = randomSample(random, 3 * BATCH_ROWS);
        EncodedSegment segment(sample.bytes);
        REQUIRE(encodedLength(sample.plan, segment.bytes(), sample.rowCount, segment.lengthBytes) ==
                segment.lengthBytes);
        std::vector<std::vector<int64_t>> decoded;
        uint32_t threads = static_cast<uint32_t>(1 + random() % 3);
        REQUIRE(decodeAll(segment, sample.plan, sample.rowCount, threads, decoded));
        REQUIRE(decoded == sample.columns);
    }
}

// Damages bytes of entries and of first runs. Most damage is refused; what is not decodes to other
// values without a read out of bounds.
inline void shouldReadNoDamagedColumnOutOfBounds(uint64_t seed) {
    std::mt19937_64 random(seed);
    int refused = 0;
    for (int i = 0; i < 400; i++) {
        EncodedSample sample = randomSample(random, 3000);
        EncodedSegment segment(sample.bytes);
        EncodedColumn& column = segment.column(random() % sample.plan.columnCount);
        bool hitsBody = random() % 2 == 0;
        unsigned char* at = hitsBody ? segment.bytes() + column.bodyOffset
                                     : reinterpret_cast<unsigned char*>(&column);
        size_t range = hitsBody ? std::max(column.bodyBytes, 1) : sizeof column;
        for (uint64_t flips = 1 + random() % 3; flips > 0; flips--) {
            size_t byte = random() % std::min<size_t>(range, 64);
            if (at + byte < segment.bytes() + segment.lengthBytes) {
                at[byte] ^= static_cast<unsigned char>(1 + random() % 255);
            }
        }
        std::vector<std::vector<int64_t>> decoded;
        if (encodedLength(sample.plan, segment.bytes(), sample.rowCount, segment.lengthBytes) !=
                segment.lengthBytes ||
            !decodeAll(segment, sample.plan, sample.rowCount, 1, decoded)) {
            refused++;
        }
    }
    REQUIRE(refused > 100);
}

// A faulty writer's sums exceed a narrow type. Their lower bits are the value, as for every reader.
inline void shouldKeepTheLowerBitsOfSumsOutsideTheType() {
    for (ColumnPlan columnPlan : ALL_PLANS) {
        if (columnPlan.values != ENCODING_BIT_PACKED) {
            continue;
        }
        for (uint8_t widthBytes : {1, 2, 4}) {
            Plan plan{};
            plan.columnCount = 1;
            plan.columnWidth[0] = widthBytes;
            SegmentEncoder encoder(1);
            encoder.add({1, 2, 2, 80}, widthBytes, columnPlan);
            EncodedSegment segment(encoder.bytes);
            int64_t largest = (int64_t{1} << (8 * widthBytes - 1)) - 1;
            segment.column(0).base = largest - 2;
            std::vector<std::vector<int64_t>> decoded;
            REQUIRE(decodeAll(segment, plan, 4, 1, decoded));
            REQUIRE((decoded[0] == std::vector<int64_t>{largest - 2, largest - 1, largest - 1,
                                                        -largest - 1 + 76}));
        }
    }
}

inline void shouldRefuseMoreRowsThanASegmentHas() {
    Plan plan{};
    plan.columnCount = 1;
    plan.columnWidth[0] = 8;
    SegmentEncoder encoder(1);
    encoder.add({5, 5, 5}, 8, {ENCODING_BIT_PACKED, false});
    EncodedSegment segment(encoder.bytes);
    REQUIRE(segment.column(0).bodyBytes == 0);
    REQUIRE(encodedLength(plan, segment.bytes(), MAX_ENCODED_ROWS, segment.lengthBytes) > 0);
    REQUIRE(encodedLength(plan, segment.bytes(), MAX_ENCODED_ROWS + 1, segment.lengthBytes) == 0);
    REQUIRE(encodedLength(plan, segment.bytes(), 0, segment.lengthBytes) == 0);
}

}  // namespace gpujoin
