// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// A device of CPU threads and the host's part of the protocol.
#pragma once

#include <cstring>
#include <memory>
#include <thread>

#include "../../main/cuda/engine/serve.h"
#include "build_side.h"
#include "segment_encoder.h"

namespace gpujoin {

// A device with three blocks and two lanes, an engine with two slots, and the host's part of the
// protocol. Initially all blocks serve lane 0.
class Device {
  public:
    static constexpr uint32_t BLOCKS = 3;
    static constexpr uint32_t LANES = 2;
    static constexpr uint32_t THREADS = 3;
    static constexpr uint32_t SLOTS = 2;
    static constexpr uint32_t RING = 8;
    static constexpr uint32_t MAX_ROWS = 600;
    static constexpr uint32_t MAX_ENCODED_ROWS = 9000;  // three batches
    static constexpr uint32_t CAPACITY = 512;
    static constexpr int64_t EPOCH = 77;

    Control control{};
    struct Ring {
        StepEntry entries[RING];
        uint64_t lanes[RING / LANES_PER_WORD];
    } ring{};
    Grid grid{};
    uint64_t laneOf[1]{};
    uint32_t lanes = LANES;
    uint64_t queues[LANES * RING]{};
    uint64_t launch = 0;
    Plan plan{};
    Completion completions[2 * SLOTS]{};
    Progress progress[SLOTS]{};
    std::vector<Words> segments;
    std::vector<Words> scratch;
    std::vector<Words> decodedRows;
    std::vector<Words> results;
    std::vector<Dimension> dimensions;
    std::vector<PayloadCopy> copies;
    uint64_t posted = 0;
    uint32_t lengthBytes[SLOTS]{};
    std::vector<std::thread> threads;
    std::unique_ptr<ThreadGroup::Shared> groups[BLOCKS];
    std::unique_ptr<StepShared> shared[BLOCKS];

    // All dimensions join the single key column of the facts, of `keyWidth` bytes. If facts have
    // null keys, nullBits() of the key selects the dimensions.
    Device(const std::vector<BuildSide*>& sides, uint8_t keyWidth,
           uint32_t nullKeysColumn = NO_COLUMN) {
        uint32_t keyBytes = keyWidth < 4 ? 4 : keyWidth;  // runs may be longer than plain keys
        plan.segmentBytes = 1024 + 2 * (MAX_ENCODED_ROWS * keyBytes + 63) / 64 * 64 +
                            (MAX_ENCODED_ROWS * 4 + 63) / 64 * 64;
        uint64_t next = 4 * CAPACITY;
        for (BuildSide* side : sides) {
            Dimension dimension = side->dimension;
            dimension.firstCopy = static_cast<uint32_t>(copies.size());
            if (side->keepsPayload()) {
                copies.push_back({next, NARROW_OFFSET, 4, 0, 32, 0});
                copies.push_back({next + 4 * CAPACITY, WIDE_OFFSET, 8, 0, 64, 0});
                dimension.copyCount = 2;
                next += 12 * CAPACITY;
            }
            if (dimension.joinKind == JOIN_LEFT) {
                dimension.matchedOffset = next;
                next += CAPACITY;
            }
            dimensions.push_back(dimension);
        }
        plan.resultBytes = next;
        segments.resize(SLOTS * plan.segmentBytes / 16);
        scratch.resize(segments.size());
        decodedRows.resize(BLOCKS * 2 * DECODED_COLUMN_BYTES / 16);
        results.resize(2 * SLOTS * plan.resultBytes / 16);
        plan.segments = reinterpret_cast<uint64_t>(segments.data());
        plan.scratch = reinterpret_cast<uint64_t>(scratch.data());
        plan.decodedRows = reinterpret_cast<uint64_t>(decodedRows.data());
        plan.results = reinterpret_cast<uint64_t>(results.data());
        plan.completions = reinterpret_cast<uint64_t>(completions);
        plan.progress = reinterpret_cast<uint64_t>(progress);
        plan.dimensions = reinterpret_cast<uint64_t>(dimensions.data());
        plan.copies = reinterpret_cast<uint64_t>(copies.data());
        plan.capacityRows = CAPACITY;
        plan.dimensionCount = static_cast<uint32_t>(dimensions.size());
        plan.columnCount = nullKeysColumn == NO_COLUMN ? 1 : 2;
        plan.schemaFingerprint = 4711;
        plan.columnWidth[0] = keyWidth;
        plan.columnWidth[1] = 4;
        plan.nullKeysColumn = nullKeysColumn;
    }

    // Packs results: `codeBits(copy, isLeft)` chooses base and bits of each column. Buffers have
    // room for the results of `capacityRows` facts.
    template <typename Choose>
    void packResults(uint32_t capacityRows, Choose choose) {
        auto arrayEnd = [capacityRows](uint64_t offset, uint32_t bits) {
            return (offset + uint64_t{capacityRows} / 8 * bits + 8 + 127) / 128 * 128;
        };
        uint64_t next = arrayEnd(0, 1);
        for (Dimension& dimension : dimensions) {
            bool isLeft = dimension.joinKind == JOIN_LEFT;
            for (uint32_t c = 0; c < dimension.copyCount; c++) {
                PayloadCopy& copy = copies[dimension.firstCopy + c];
                choose(copy, isLeft);
                copy.resultOffset = next;
                next = arrayEnd(next, copy.bits);
            }
            if (isLeft) {
                dimension.matchedOffset = next;
                next = arrayEnd(next, 1);
            }
        }
        plan.packsResults = 1;
        plan.capacityRows = capacityRows;
        plan.resultBytes = next;
        results.assign(2 * SLOTS * plan.resultBytes / 16, Words{~uint64_t{0}, ~uint64_t{0}});
        plan.results = reinterpret_cast<uint64_t>(results.data());
    }

    static uint32_t nullBits(int64_t key) { return static_cast<uint32_t>(keyHash(key)) & 0x15; }

    bool isNull(int64_t key, uint32_t dimension) const {
        return plan.nullKeysColumn != NO_COLUMN && (nullBits(key) >> dimension & 1) != 0;
    }

    void start() {
        launch++;
        ServeArguments arguments{&control, ring.entries, &grid, laneOf, queues,
                                 &plan,    RING - 1,     lanes, launch, BLOCKS};
        for (uint32_t block = 0; block < BLOCKS; block++) {
            groups[block] = std::make_unique<ThreadGroup::Shared>(THREADS);
            shared[block] = std::make_unique<StepShared>();
            for (uint32_t rank = 0; rank < THREADS; rank++) {
                threads.emplace_back([this, arguments, block, rank] {
                    ThreadGroup group(*groups[block], rank);
                    serve(group, arguments, block, *shared[block]);
                });
            }
        }
    }

    void stop() {
        storeReleaseSystem(&control.stop, static_cast<uint32_t>(launch));
        for (std::thread& thread : threads) {
            thread.join();
        }
        threads.clear();
    }

    // Assigns a lane to each running block.
    void allot(const uint8_t (&lanes)[BLOCKS]) {
        uint64_t word = 0;
        for (uint32_t block = 0; block < BLOCKS; block++) {
            word |= uint64_t{lanes[block]} << 8 * block;
        }
        storeRelaxedSystem(control.laneOf, word);
        storeReleaseSystem(&control.allotment, control.allotment + 1u);
    }

    unsigned char* segment(uint32_t slot) {
        return reinterpret_cast<unsigned char*>(plan.segments) + slot * plan.segmentBytes;
    }

    void writeSegment(uint32_t slot, int64_t sequence, const std::vector<int64_t>& keys) {
        unsigned char* base = segment(slot);
        Facts facts;
        int32_t rowCount = static_cast<int32_t>(keys.size());
        int32_t length = static_cast<int32_t>(locateColumns(plan, rowCount, facts));
        lengthBytes[slot] = length;
        std::memset(base, 0, length);
        ChunkHeader header{};
        header.magic = CHUNK_MAGIC;
        header.version = CHUNK_VERSION;
        header.headerLength = sizeof(ChunkHeader);
        header.lengthBytes = length;
        header.rowCount = rowCount;
        header.schemaFingerprint = plan.schemaFingerprint;
        header.epoch = EPOCH;
        header.sequence = sequence;
        for (int32_t row = 0; row < rowCount; row++) {
            std::memcpy(base + 64 + row * plan.columnWidth[0], &keys[row], plan.columnWidth[0]);
            if (plan.nullKeysColumn != NO_COLUMN) {
                uint32_t bits = nullBits(keys[row]);
                std::memcpy(base + facts.columnOffset[1] + 4 * row, &bits, 4);
            }
        }
        seal(slot, header);
    }

    // Like writeSegment, with encoded columns. They may be longer than plain ones.
    void writeEncodedSegment(uint32_t slot, int64_t sequence, const std::vector<int64_t>& keys,
                             ColumnPlan keyPlan, ColumnPlan nullPlan) {
        SegmentEncoder encoder(plan.columnCount);
        encoder.add(keys, plan.columnWidth[0], keyPlan);
        if (plan.nullKeysColumn != NO_COLUMN) {
            std::vector<int64_t> bits;
            for (int64_t key : keys) {
                bits.push_back(nullBits(key));
            }
            encoder.add(bits, 4, nullPlan);
        }
        REQUIRE(encoder.bytes.size() <= plan.segmentBytes);
        std::memcpy(segment(slot), encoder.bytes.data(), encoder.bytes.size());
        lengthBytes[slot] = static_cast<uint32_t>(encoder.bytes.size());
        ChunkHeader header{};
        header.magic = CHUNK_MAGIC;
        header.version = CHUNK_VERSION_WITH_FLAGS;
        header.flags = CHUNK_ENCODED;
        header.headerLength = sizeof(ChunkHeader);
        header.lengthBytes = static_cast<int32_t>(encoder.bytes.size());
        header.rowCount = static_cast<int32_t>(keys.size());
        header.schemaFingerprint = plan.schemaFingerprint;
        header.epoch = EPOCH;
        header.sequence = sequence;
        seal(slot, header);
    }

    // Writes the header of a segment with the checksum of its bytes.
    void seal(uint32_t slot, ChunkHeader header) {
        unsigned char* base = segment(slot);
        int32_t length = header.lengthBytes;
        header.checksum = 0;
        std::memcpy(base, &header, sizeof header);
        for (int32_t word = 0; word < length / 8; word++) {
            header.checksum += checksumOf(reinterpret_cast<uint64_t*>(base)[word], word);
        }
        std::memcpy(base, &header, sizeof header);
    }

    uint64_t post(uint32_t slot, uint32_t buffer, bool resume, int64_t sequence, uint32_t baseRow,
                  uint32_t lane = 0) {
        uint64_t ticket = posted++;
        StepEntry& entry = ring.entries[ticket % RING];
        entry.sequence = ticket + 1;
        entry.plan = 0;
        entry.slot = slot;
        entry.resultBuffer = buffer;
        entry.resume = resume;
        entry.epoch = EPOCH;
        entry.segmentSequence = sequence;
        entry.baseRow = baseRow;
        entry.lengthBytes = lengthBytes[slot];
        entry.chunk = 0;
        uint8_t* lanesOfSteps = reinterpret_cast<uint8_t*>(ring.lanes);
        storeRelaxedSystem(&lanesOfSteps[ticket % RING], static_cast<uint8_t>(lane));
        storeReleaseSystem(&control.published, posted);
        return ticket;
    }

    bool isDone(uint32_t slot, uint32_t buffer, uint64_t ticket) {
        return loadAcquireSystem(&completions[2 * slot + buffer].sequence) == ticket + 1;
    }

    Completion await(uint32_t slot, uint32_t buffer, uint64_t ticket) {
        while (!isDone(slot, buffer, ticket)) {
            std::this_thread::yield();
        }
        return completions[2 * slot + buffer];
    }

    unsigned char* resultBuffer(uint32_t slot, uint32_t buffer) {
        return reinterpret_cast<unsigned char*>(plan.results) +
               (2 * slot + buffer) * plan.resultBytes;
    }

    template <typename T>
    T result(uint32_t slot, uint32_t buffer, uint64_t offset, uint32_t row) {
        return reinterpret_cast<T*>(resultBuffer(slot, buffer) + offset)[row];
    }
};

}  // namespace gpujoin
