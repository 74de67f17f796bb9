// The device functions on the CPU. Modes: `layout` and `values` print numbers that a Java test
// compares with its own; `checks` runs the tests below and exits with 1 where one fails.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../../main/cuda/engine/serve.h"

using namespace gpujoin;

namespace {

#define REQUIRE(condition)                                                           \
    do {                                                                             \
        if (!(condition)) {                                                          \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

// The threads of a block, as CPU threads.
class ThreadGroup {
  public:
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

  private:
    Shared& shared;
    uint32_t threadRank;
};

constexpr uint32_t ROW_BYTES = 24;  // key, next, 4-byte payload, 8-byte payload
constexpr uint32_t NARROW_OFFSET = 12;
constexpr uint32_t WIDE_OFFSET = 16;

// A build side with its table.
struct BuildSide {
    std::vector<int64_t> keys;
    std::vector<uint64_t> rows;
    std::vector<KeySlot> slots;
    std::vector<uint64_t> groupedRows;
    Dimension dimension{};
    bool semi;

    BuildSide(std::vector<int64_t> buildKeys, TableKind kind, bool semi = false)
        : keys(buildKeys), semi(semi) {
        uint32_t count = static_cast<uint32_t>(keys.size());
        rows.assign(uint64_t{count} * ROW_BYTES / 8 + 1, 0);
        slots.assign(2 * count + 1, KeySlot{0, NO_ROW, NO_ROW});
        std::memset(slots.data(), 0xFF, slots.size() * sizeof(KeySlot));
        dimension.slots = reinterpret_cast<uint64_t>(slots.data());
        dimension.rows = reinterpret_cast<uint64_t>(rows.data());
        dimension.rowBytes = ROW_BYTES;
        dimension.slotCount = count == 0 ? 0 : 2 * count;
        dimension.tableKind = kind;
        for (uint32_t row = 0; row < count; row++) {
            unsigned char* at = rowAt(dimension, row);
            std::memcpy(at, &keys[row], 8);
            std::memcpy(at + NARROW_OFFSET, &row, 4);
            uint64_t wide = uint64_t{row} << 32 | 7;
            std::memcpy(at + WIDE_OFFSET, &wide, 8);
        }
    }

    // Calls `work(row)` for every row, from several threads at once.
    template <typename Work>
    void forEachRow(uint32_t threads, Work work) {
        std::vector<std::thread> workers;
        for (uint32_t t = 0; t < threads; t++) {
            workers.emplace_back([this, t, threads, &work] {
                for (uint32_t row = t; row < keys.size(); row += threads) {
                    work(row);
                }
            });
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
    }

    // Returns how many rows repeat a key, of a table of unique keys.
    uint32_t insertAll(uint32_t threads) {
        std::atomic<uint32_t> repeats{0};
        if (dimension.tableKind == TABLE_GROUPED) {
            group(threads);
        } else {
            forEachRow(threads, [this, &repeats](uint32_t row) {
                if (dimension.tableKind == TABLE_CHAINED) {
                    insertChained(dimension, row);
                } else if (!insertUnique(dimension, row)) {
                    repeats++;
                }
            });
        }
        return repeats;
    }

    void group(uint32_t threads) {
        std::vector<GroupPlace> places(keys.size());
        forEachRow(threads, [&](uint32_t row) { places[row] = joinGroup(dimension, row); });
        uint32_t nextRow = 0;
        for (uint32_t slot = 0; slot < dimension.slotCount; slot++) {
            placeGroup(dimension, slot, &nextRow);
        }
        REQUIRE(nextRow == keys.size());
        groupedRows.resize(rows.size());
        unsigned char* target = reinterpret_cast<unsigned char*>(groupedRows.data());
        forEachRow(threads, [&](uint32_t row) {
            moveToGroup(dimension, row, places[row], target);
        });
        dimension.rows = reinterpret_cast<uint64_t>(target);
    }

    // What the build side held at that row before any grouping: its narrow payload.
    uint32_t origin(uint32_t row) {
        return *reinterpret_cast<uint32_t*>(rowAt(dimension, row) + NARROW_OFFSET);
    }
};

std::vector<int64_t> randomKeys(std::mt19937_64& random, size_t count, int64_t distinct) {
    std::vector<int64_t> keys(count);
    for (int64_t& key : keys) {
        key = static_cast<int64_t>(random() % distinct) - distinct / 2;
    }
    return keys;
}

void shouldFindEveryRowOfAKey(TableKind kind, uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide side(randomKeys(random, 20000, 3000), kind);
    side.insertAll(4);
    std::map<int64_t, std::vector<uint32_t>> expected;
    for (uint32_t row = 0; row < side.keys.size(); row++) {
        expected[side.keys[row]].push_back(row);
    }
    for (int64_t key = -2000; key < 2000; key++) {
        Matches matches = findMatches(side.dimension, key);
        std::vector<uint32_t> found;
        for (uint32_t i = 0; i < matches.count; i++) {
            found.push_back(side.origin(matchAt(side.dimension, matches, i, key)));
        }
        std::sort(found.begin(), found.end());
        REQUIRE(found == expected[key]);
    }
}

void shouldKeepOneRowOfEachKeyAndCountTheOthers(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int64_t> keys = randomKeys(random, 20000, 15000);
    keys.push_back(INT64_MIN);
    keys.push_back(INT64_MAX);
    keys.push_back(-1);
    BuildSide side(keys, TABLE_UNIQUE);
    std::map<int64_t, int> distinct;
    for (int64_t key : keys) {
        distinct[key]++;
    }
    REQUIRE(side.insertAll(4) == keys.size() - distinct.size());
    for (int64_t key = -9000; key < 9000; key++) {
        Matches matches = findMatches(side.dimension, key);
        REQUIRE(matches.count == distinct.count(key));
        REQUIRE(matches.count == 0 || side.keys[matches.first] == key);
    }
    REQUIRE(side.keys[findMatches(side.dimension, INT64_MIN).first] == INT64_MIN);
    REQUIRE(side.keys[findMatches(side.dimension, INT64_MAX).first] == INT64_MAX);
}

// A device with two blocks, an engine with two slots, and the host's part of the protocol.
class Device {
  public:
    static constexpr uint32_t BLOCKS = 2;
    static constexpr uint32_t THREADS = 3;
    static constexpr uint32_t SLOTS = 2;
    static constexpr uint32_t RING = 4;
    static constexpr uint32_t MAX_ROWS = 600;
    static constexpr uint32_t CAPACITY = 512;
    static constexpr int64_t EPOCH = 77;

    Control control{};
    StepEntry ring[RING]{};
    uint64_t tickets[sizeof(Tickets) / 8 - 1 + BLOCKS] = {0, 0, 0, 0, NO_TICKET, NO_TICKET};
    uint64_t launch = 0;
    Plan plan{};
    Completion completions[2 * SLOTS]{};
    Progress progress[SLOTS]{};
    std::vector<Words> segments;
    std::vector<Words> scratch;
    std::vector<Words> results;
    std::vector<Dimension> dimensions;
    std::vector<PayloadCopy> copies;
    uint64_t posted = 0;
    uint32_t lengthBytes[SLOTS]{};
    std::vector<std::thread> threads;
    std::unique_ptr<ThreadGroup::Shared> groups[BLOCKS];
    std::unique_ptr<StepShared> shared[BLOCKS];

    // All dimensions join the one fact column, of that width.
    Device(const std::vector<BuildSide*>& sides, uint8_t keyWidth) {
        plan.segmentBytes = 64 + (MAX_ROWS * keyWidth + 63) / 64 * 64;
        uint64_t next = 4 * CAPACITY;
        for (BuildSide* side : sides) {
            Dimension dimension = side->dimension;
            dimension.firstCopy = static_cast<uint32_t>(copies.size());
            if (!side->semi) {
                copies.push_back({next, NARROW_OFFSET, 4});
                copies.push_back({next + 4 * CAPACITY, WIDE_OFFSET, 8});
                dimension.copyCount = 2;
                next += 12 * CAPACITY;
            }
            dimensions.push_back(dimension);
        }
        plan.resultBytes = next;
        segments.resize(SLOTS * plan.segmentBytes / 16);
        scratch.resize(segments.size());
        results.resize(2 * SLOTS * plan.resultBytes / 16);
        plan.segments = reinterpret_cast<uint64_t>(segments.data());
        plan.scratch = reinterpret_cast<uint64_t>(scratch.data());
        plan.results = reinterpret_cast<uint64_t>(results.data());
        plan.completions = reinterpret_cast<uint64_t>(completions);
        plan.progress = reinterpret_cast<uint64_t>(progress);
        plan.dimensions = reinterpret_cast<uint64_t>(dimensions.data());
        plan.copies = reinterpret_cast<uint64_t>(copies.data());
        plan.capacityRows = CAPACITY;
        plan.dimensionCount = static_cast<uint32_t>(dimensions.size());
        plan.columnCount = 1;
        plan.schemaFingerprint = 4711;
        plan.columnWidth[0] = keyWidth;
    }

    void start() {
        launch++;
        ServeArguments arguments{&control, ring,     reinterpret_cast<Tickets*>(tickets),
                                 &plan,    RING - 1, launch};
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
        storeReleaseSystem(&control.stop, launch);
        for (std::thread& thread : threads) {
            thread.join();
        }
        threads.clear();
    }

    unsigned char* segment(uint32_t slot) {
        return reinterpret_cast<unsigned char*>(plan.segments) + slot * plan.segmentBytes;
    }

    void writeSegment(uint32_t slot, int64_t sequence, const std::vector<int64_t>& keys) {
        unsigned char* base = segment(slot);
        Facts facts;
        int32_t rowCount = static_cast<int32_t>(keys.size());
        int32_t length = static_cast<int32_t>(placeColumns(plan, rowCount, facts));
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
        }
        std::memcpy(base, &header, sizeof header);
        for (int32_t word = 0; word < length / 8; word++) {
            header.checksum += checksumOf(reinterpret_cast<uint64_t*>(base)[word], word);
        }
        std::memcpy(base, &header, sizeof header);
    }

    uint64_t post(uint32_t slot, uint32_t buffer, bool resume, int64_t sequence,
                  uint32_t baseRow) {
        uint64_t ticket = posted++;
        StepEntry& entry = ring[ticket % RING];
        entry.plan = 0;
        entry.slot = slot;
        entry.resultBuffer = buffer;
        entry.resume = resume;
        entry.epoch = EPOCH;
        entry.segmentSequence = sequence;
        entry.baseRow = baseRow;
        entry.lengthBytes = lengthBytes[slot];
        storeReleaseSystem(&entry.sequence, ticket + 1);
        return ticket;
    }

    Completion await(uint32_t slot, uint32_t buffer, uint64_t ticket) {
        Completion& completion = completions[2 * slot + buffer];
        while (loadAcquireSystem(&completion.sequence) != ticket + 1) {
            std::this_thread::yield();
        }
        return completion;
    }

    template <typename T>
    T result(uint32_t slot, uint32_t buffer, uint64_t offset, uint32_t row) {
        unsigned char* base = reinterpret_cast<unsigned char*>(plan.results) +
                              (2 * slot + buffer) * plan.resultBytes;
        return reinterpret_cast<T*>(base + offset)[row];
    }
};

// A result row: row of the facts, then the build row met in each dimension (0 for a semi join).
using ResultRow = std::vector<uint32_t>;

std::vector<ResultRow> nestedLoops(const std::vector<BuildSide*>& sides, int64_t key,
                                   uint32_t row) {
    std::vector<ResultRow> results{{row}};
    for (BuildSide* side : sides) {
        std::vector<ResultRow> longer;
        for (const ResultRow& result : results) {
            for (uint32_t match = 0; match < side->keys.size(); match++) {
                if (side->keys[match] == key) {
                    longer.push_back(result);
                    longer.back().push_back(side->semi ? 0 : match);
                    if (side->semi) {
                        break;
                    }
                }
            }
        }
        results = longer;
    }
    return results;
}

void takeResults(Device& device, uint32_t slot, uint32_t buffer, int32_t rowCount,
                 std::vector<ResultRow>& results) {
    for (int32_t i = 0; i < rowCount; i++) {
        ResultRow row{device.result<uint32_t>(slot, buffer, 0, i)};
        for (const Dimension& dimension : device.dimensions) {
            uint32_t match = 0;
            if (dimension.copyCount > 0) {
                const PayloadCopy* copies = &device.copies[dimension.firstCopy];
                match = device.result<uint32_t>(slot, buffer, copies[0].resultOffset, i);
                uint64_t wide = device.result<uint64_t>(slot, buffer, copies[1].resultOffset, i);
                REQUIRE(wide == (uint64_t{match} << 32 | 7));
            }
            row.push_back(match);
        }
        REQUIRE(results.empty() || results.back()[0] <= row[0]);
        results.push_back(row);
    }
}

// Submits segments of facts to alternating slots and compares every result.
void runSegments(Device& device, const std::vector<BuildSide*>& sides, std::mt19937_64& random,
                 int64_t distinct) {
    for (int64_t sequence = 0; sequence < 6; sequence++) {
        uint32_t slot = sequence % Device::SLOTS;
        uint32_t baseRow = 1000 * static_cast<uint32_t>(sequence);
        size_t rows = sequence == 1 ? 0 : random() % Device::MAX_ROWS;
        std::vector<int64_t> keys = randomKeys(random, rows, distinct);
        device.writeSegment(slot, sequence, keys);
        std::vector<ResultRow> results;
        uint32_t buffer = 0;
        for (int32_t completed = 0, resume = 0;; resume = 1, buffer ^= 1) {
            uint64_t ticket = device.post(slot, buffer, resume, sequence, baseRow);
            Completion done = device.await(slot, buffer, ticket);
            REQUIRE(done.status == STEP_OK);
            REQUIRE(done.rowCount <= static_cast<int32_t>(Device::CAPACITY));
            REQUIRE(done.completedRows >= completed);
            REQUIRE(done.matchCount == static_cast<uint64_t>(done.rowCount));
            completed = done.completedRows;
            takeResults(device, slot, buffer, done.rowCount, results);
            if (completed == static_cast<int32_t>(keys.size())) {
                break;
            }
            REQUIRE(done.rowCount == static_cast<int32_t>(Device::CAPACITY));
        }
        std::vector<ResultRow> expected;
        for (uint32_t row = 0; row < keys.size(); row++) {
            for (ResultRow& result : nestedLoops(sides, keys[row], baseRow + row)) {
                expected.push_back(result);
            }
        }
        std::sort(results.begin(), results.end());
        std::sort(expected.begin(), expected.end());
        REQUIRE(results == expected);
    }
}

void shouldJoinSegmentsInBoundedStepsWhateverTheFanOut(uint64_t seed) {
    std::mt19937_64 random(seed);
    BuildSide grouped(randomKeys(random, 300, 40), TABLE_GROUPED);
    BuildSide chained(randomKeys(random, 100, 40), TABLE_CHAINED);
    BuildSide semi(randomKeys(random, 200, 40), TABLE_UNIQUE, true);
    std::vector<int64_t> each;
    for (int64_t key = -18; key < 18; key++) {
        each.push_back(key);
    }
    BuildSide unique(each, TABLE_UNIQUE);
    std::vector<BuildSide*> sides{&grouped, &unique, &semi, &chained};
    sides.resize(1 + seed % 4);
    for (BuildSide* side : sides) {
        side->insertAll(2);
    }
    Device device(sides, seed % 2 == 0 ? 8 : 4);
    device.start();
    runSegments(device, sides, random, 44);
    device.stop();
    device.start();  // blocks go on with the tickets they held
    runSegments(device, sides, random, 44);
    device.stop();
}

void shouldReadASegmentAgainUntilItIsWhole() {
    BuildSide side({1, 2, 3}, TABLE_UNIQUE);
    side.insertAll(1);
    Device device({&side}, 8);
    device.writeSegment(0, 9, {3, 4, 1});
    unsigned char torn = device.segment(0)[70];
    device.segment(0)[70] = 1;
    uint64_t ticket = device.post(0, 0, false, 9, 0);
    device.start();
    Completion first = device.await(0, 0, ticket);
    REQUIRE(first.status == STEP_BAD_CHECKSUM);
    device.segment(0)[70] = torn;
    ticket = device.post(0, 0, false, 8, 0);
    REQUIRE(device.await(0, 0, ticket).status == STEP_BAD_HEADER);
    ticket = device.post(0, 0, false, 9, 0);
    Completion last = device.await(0, 0, ticket);
    REQUIRE(last.status == STEP_OK && last.rowCount == 2);
    device.stop();
}

void shouldOnlyCountWhereThereIsNoResultBuffer() {
    BuildSide side({1, 2, 2, 3}, TABLE_CHAINED);
    side.insertAll(1);
    Device device({&side}, 8);
    device.plan.capacityRows = 0;
    device.writeSegment(1, 5, {2, 9, 2, 3});
    device.start();
    Completion done = device.await(1, 1, device.post(1, 1, false, 5, 0));
    REQUIRE(done.rowCount == 0 && done.matchCount == 5 && done.completedRows == 4);
    device.stop();
}

void printLayout() {
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
    FIELD(ChunkHeader, carriedOffset);
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
    FIELD(StepEntry, epoch);
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
    SIZE(Control);
    FIELD(Control, stop);
    FIELD(Control, heartbeat);
    SIZE(Dimension);
    FIELD(Dimension, slots);
    FIELD(Dimension, rows);
    FIELD(Dimension, slotCount);
    FIELD(Dimension, rowBytes);
    FIELD(Dimension, tableKind);
    FIELD(Dimension, keyColumn);
    FIELD(Dimension, firstCopy);
    FIELD(Dimension, copyCount);
    SIZE(PayloadCopy);
    FIELD(PayloadCopy, resultOffset);
    FIELD(PayloadCopy, rowOffset);
    FIELD(PayloadCopy, widthBytes);
    SIZE(Progress);
    FIELD(Tickets, held);
    SIZE(KeySlot);
    SIZE(GroupPlace);
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
    std::printf("MAX_DIMENSIONS=%u\n", MAX_DIMENSIONS);
    std::printf("MAX_FACT_COLUMNS=%u\n", MAX_FACT_COLUMNS);
    std::printf("ROW_KEY_OFFSET=%u\n", ROW_KEY_OFFSET);
    std::printf("ROW_NEXT_OFFSET=%u\n", ROW_NEXT_OFFSET);
    std::printf("ROW_PAYLOAD_OFFSET=%u\n", ROW_PAYLOAD_OFFSET);
    std::printf("CHUNK_MAGIC=%u\n", CHUNK_MAGIC);
    std::printf("CHUNK_VERSION=%u\n", CHUNK_VERSION);
}

// Of keys i * i * i * step for i from -500 to 500: hash, slot of 1000; then the checksum of those
// keys as words.
void printValues() {
    uint64_t checksum = 0;
    for (int64_t i = -500; i <= 500; i++) {
        int64_t key = static_cast<int64_t>(static_cast<uint64_t>(i * i * i) * 0x9E3779B97F4AULL);
        std::printf("%lld %llu %u\n", static_cast<long long>(key),
                    static_cast<unsigned long long>(keyHash(key)),
                    hashSlot(keyHash(key), 1000));
        checksum += i + 500 == 6 ? checksumOf(0, 6) : checksumOf(static_cast<uint64_t>(key), i + 500);
    }
    std::printf("checksum %llu\n", static_cast<unsigned long long>(checksum));
}

void runChecks() {
    for (uint64_t seed = 0; seed < 8; seed++) {
        shouldFindEveryRowOfAKey(TABLE_CHAINED, seed);
        shouldFindEveryRowOfAKey(TABLE_GROUPED, seed);
        shouldKeepOneRowOfEachKeyAndCountTheOthers(seed);
        shouldJoinSegmentsInBoundedStepsWhateverTheFanOut(seed);
    }
    shouldReadASegmentAgainUntilItIsWhole();
    shouldOnlyCountWhereThereIsNoResultBuffer();
    std::printf("all checks passed\n");
}

}  // namespace

int main(int count, char** arguments) {
    const char* mode = count == 2 ? arguments[1] : "";
    if (std::strcmp(mode, "layout") == 0) {
        printLayout();
    } else if (std::strcmp(mode, "values") == 0) {
        printValues();
    } else if (std::strcmp(mode, "checks") == 0) {
        runChecks();
    } else {
        std::fprintf(stderr, "usage: engine_test layout|values|checks\n");
        return 2;
    }
    return 0;
}
