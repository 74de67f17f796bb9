// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Structs shared with Java. All integers are little-endian. The descriptor classes in Java name the
// same offsets; a test compares the two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpujoin {

constexpr uint32_t MAX_DIMENSIONS = 16;
constexpr uint32_t MAX_FACT_COLUMNS = 16;
constexpr uint32_t NO_ROW = 0xFFFFFFFFu;
constexpr uint64_t NO_TICKET = ~uint64_t{0};

// Lanes of steps. The number of a lane is a byte; a word holds eight of them, lowest first.
constexpr uint32_t MAX_LANES = 64;
constexpr uint32_t LANES_PER_WORD = 8;

constexpr uint32_t CHUNK_MAGIC = 0x31434A47u;  // "GJC1"
constexpr uint16_t CHUNK_VERSION = 1;

// A segment with encoded columns has this version and only this flag.
constexpr uint16_t CHUNK_VERSION_WITH_FLAGS = 2;
constexpr uint16_t CHUNK_ENCODED = 2;

// A chunk that is read in place may have rows of many partitions.
constexpr uint16_t CHUNK_MANY_PARTITIONS = 1;

// Header of a chunk, drawn in ChunkDescriptor. A segment, the unit of probing, is a chunk with only
// the fact columns that the device needs.
struct ChunkHeader {
    uint32_t magic;
    uint16_t version;
    uint16_t headerLength;
    int32_t lengthBytes;
    int32_t rowCount;
    uint32_t schemaFingerprint;
    int16_t dimension;
    uint16_t flags;
    int32_t partition;
    int32_t variableWidthOffset;
    int64_t epoch;
    int64_t sequence;
    uint64_t checksum;
    uint64_t reserved;
};
static_assert(sizeof(ChunkHeader) == 64);
static_assert(offsetof(ChunkHeader, epoch) == 32);
static_assert(offsetof(ChunkHeader, checksum) == 48);

// An entry of the step ring, in mapped host memory: one step of one probe slot. The last entry is
// followed by the lane of each entry, a byte each.
//
//   0          8      12     16             20       22               24
//   +----------+------+------+--------------+--------+----------------+
//   | sequence | plan | slot | resultBuffer | resume | chunkIsEncoded |
//   +----------+------+------+--------------+--------+----------------+
//   24      32                40        44            48      56              60              64
//   +-------+-----------------+---------+-------------+-------+---------------+---------------+
//   | epoch | segmentSequence | baseRow | lengthBytes | chunk | chunkRowCount | chunkReadRows |
//   +-------+-----------------+---------+-------------+-------+---------------+---------------+
struct StepEntry {
    uint64_t sequence;  // the step's ticket + 1
    uint32_t plan;
    uint32_t slot;
    uint32_t resultBuffer;
    uint16_t resume;  // 0: read the segment and begin; 1: continue where the last step stopped
    uint16_t chunkIsEncoded;  // 1: the chunk that is read in place has encoded columns
    int64_t epoch;
    int64_t segmentSequence;
    uint32_t baseRow;      // added to segment rows in results
    uint32_t lengthBytes;  // of the segment or chunk
    uint64_t chunk;  // device address of a chunk that is read in place; 0: the segment of the slot
    uint32_t chunkRowCount;
    uint32_t chunkReadRows;  // rows to read from baseRow on, all of an encoded chunk; 0: all of
                             // them, and verify the chunk
};
static_assert(sizeof(StepEntry) == 64);
static_assert(offsetof(StepEntry, chunkIsEncoded) == 22);
static_assert(offsetof(StepEntry, chunk) == 48);

// Outcome of a step, in mapped host memory, one for each result buffer.
//
//   0          8        12         16              20      24           32       40          48         64
//   +----------+--------+----------+---------------+-------+------------+--------+-----------+----------+
//   | sequence | status | rowCount | completedRows | block | matchCount | busyNs | startedNs | reserved |
//   +----------+--------+----------+---------------+-------+------------+--------+-----------+----------+
struct Completion {
    uint64_t sequence;  // the step's ticket + 1, released last by the device
    uint32_t status;
    int32_t rowCount;       // rows in the result buffer
    int32_t completedRows;  // rows of the segment with complete results
    uint32_t block;         // thread block that ran the step
    uint64_t matchCount;
    uint64_t busyNs;     // device time from claiming the step to writing its results
    uint64_t startedNs;  // device clock when it was claimed
    uint64_t reserved[2];
};
static_assert(sizeof(Completion) == 64);

// GROUPS_FULL: the step stopped because the table of groups is full; the host must drain it.
enum StepStatus : uint32_t {
    STEP_OK = 0,
    STEP_BAD_HEADER = 1,
    STEP_BAD_CHECKSUM = 2,
    STEP_GROUPS_FULL = 3,
    STEP_BAD_ENCODING = 4
};

// Words polled by host and device, in mapped host memory.
//
//   0           8      12          16         64          72         128
//   +-----------+------+-----------+----------+-----------+----------+--------------------+
//   | published | stop | allotment | reserved | heartbeat | reserved | laneOf, a byte for |
//   |           |      |           |          |           |          | each block         |
//   +-----------+------+-----------+----------+-----------+----------+--------------------+
struct alignas(16) Control {
    // host: tickets below are in the ring; stored with release after them
    uint64_t published;
    uint32_t stop;       // host: number of the launch to stop; blocks finish their step
    uint32_t allotment;  // host: version of laneOf, stored with release after it
    uint64_t reserved[6];
    uint64_t heartbeat;  // device: increases while blocks wait for work
    uint64_t reserved2[7];
    uint64_t laneOf[2];  // host: the lane that each block of the grid serves
};
static_assert(offsetof(Control, heartbeat) == 64);
static_assert(offsetof(Control, laneOf) == 128);

enum TableKind : uint32_t { TABLE_UNIQUE = 0, TABLE_CHAINED = 1, TABLE_GROUPED = 2 };

// A build row in device memory; a row is a multiple of 8 bytes. `next` links the rows of a chain.
// In a UNIQUE table it is the state of the slot: empty, live or deleted.
//
//   0       8       12                    rowBytes
//   +-------+-------+---------------------+
//   | key   | next  | payload, each value |
//   |       |       | at its own width    |
//   +-------+-------+---------------------+
constexpr uint32_t ROW_KEY_OFFSET = 0;
constexpr uint32_t ROW_NEXT_OFFSET = 8;
constexpr uint32_t ROW_PAYLOAD_OFFSET = 12;

// `next` in the occupied slots of a changelog table. No row has such a number.
constexpr uint32_t ROW_LIVE = 0xFFFFFFFEu;
constexpr uint32_t ROW_DELETED = 0xFFFFFFFDu;

// Effect of a changelog row on the row of its key, as in RowChange of Java.
enum RowChange : uint32_t { CHANGE_UPSERT = 0, CHANGE_DELETE = 1 };

// A slot of an open-addressing table; read as one 16-byte word.
struct alignas(16) KeySlot {
    int64_t key;
    uint32_t first;  // first row of the key; NO_ROW: empty
    uint32_t count;  // rows of the key, which are adjacent
};
static_assert(sizeof(KeySlot) == 16);

// Kind of a join with a dimension, as in JoinKind of Java.
enum JoinKind : uint32_t { JOIN_INNER = 0, JOIN_LEFT = 1, JOIN_SEMI = 2, JOIN_ANTI = 3 };

// Stands for a column that a join does not have.
constexpr uint32_t NO_COLUMN = 0xFFFFFFFFu;

// Stands for a column of a chunk that the device does not need.
constexpr uint8_t NOT_IN_SEGMENT = 0xFF;

// A part of a table in the memory of one device: the rows whose keys hash to it.
struct Shard {
    uint64_t slots;
    uint64_t rows;
    uint32_t slotCount;
    uint32_t reserved;
};
static_assert(sizeof(Shard) == 24);

// The table of one dimension. UNIQUE: slots are rows; an empty slot has NO_ROW in `next`. CHAINED:
// slots is uint32_t[slotCount], the first row of each slot, and `next` links the rows. GROUPED:
// slots is KeySlot[slotCount].
//
// If shardCount is not 0, slots is Shard[shardCount], in the memory of the device that reads it.
// Shards are not CHAINED. The highest bits of the number of a row are that of its shard:
//
//   0          rowShift   32
//   +----------+----------+
//   | row of   | shard    |
//   | shard    |          |
//   +----------+----------+
struct Dimension {
    uint64_t slots;
    uint64_t rows;
    uint32_t slotCount;
    uint32_t rowBytes;
    uint32_t tableKind;
    uint32_t keyColumn;  // among the segment's columns
    uint32_t firstCopy;
    uint32_t copyCount;
    uint32_t joinKind;
    uint8_t shardCount;
    uint8_t rowShift;
    uint8_t builtShards;     // while a shard is built: the number of shards; else 0
    uint8_t builtShard;      // ... and the number of this one, of which slots and rows are
    uint64_t matchedOffset;  // of a left join's uint8_t[capacityRows] in the result buffer, else 0
    uint64_t hashSeed;       // parameters of slotHash, secret and chosen once a process
    uint64_t hashMultiplier;
};
static_assert(sizeof(Dimension) == 72);

// A payload column, copied from a build row to an array of the result buffer.
struct PayloadCopy {
    uint64_t resultOffset;
    uint32_t rowOffset;
    uint32_t widthBytes;
    int64_t base;   // packed results: the minimum, which codes are relative to
    uint32_t bits;  // packed results: of a code; 32 or 64 for values of 4 or 8 bytes as they are
    uint32_t reserved;
};
static_assert(sizeof(PayloadCopy) == 32);

// Packed results, if no fact has more than one. A result buffer has arrays of capacityRows elements
// at multiples of 128 bytes, as in PackedResults of Java:
//
//   0           128 * n                                                                resultBytes
//   +-----------+------------------------------------------------+-----------------------+
//   | rowMask,  | for each dimension:                            | matchedMask, 1 bit a  |
//   | 1 bit a   |   each payload column: `bits` bits a result,   | fact, if the dimension|
//   | fact      |   and variableWidthRefs likewise               | is left-joined        |
//   +-----------+------------------------------------------------+-----------------------+
//
// A step joins at most capacityRows facts. Bit i of a mask belongs to fact i of the step. Bits and
// codes are numbered from the lowest bit of the first byte. The facts of a step form batches of
// PACKED_ROWS; the results of a batch are adjacent, and start at the next multiple of 64 results.
constexpr uint32_t PACKED_ROWS = 4096;

// Position in the segment of a slot between two steps, in device memory.
struct Progress {
    int32_t nextRow;
    int32_t rowCount;
    uint64_t skip;  // results of nextRow already emitted
};
static_assert(sizeof(Progress) == 16);

// A filter of facts: keeps rows whose value is in one of the ranges.
struct Filter {
    uint32_t column;  // among the segment's columns
    uint32_t firstRange;
    uint32_t rangeCount;
    uint32_t reserved;
};
static_assert(sizeof(Filter) == 16);

struct ValueRange {
    int64_t from;
    uint64_t distance;  // last value minus first value
};
static_assert(sizeof(ValueRange) == 16);

constexpr uint32_t MAX_GROUP_COLUMNS = 4;
constexpr uint32_t MAX_AGGREGATES = 8;
constexpr uint32_t MAX_FACTORS = 2;
constexpr uint32_t FACT_SIDE = 0xFFFFFFFFu;

// Source of an integer of a result.
struct ValueSource {
    uint32_t dimension;  // FACT_SIDE: the facts
    uint32_t at;         // column of the segment, or offset in the build row
    uint32_t widthBytes;
    uint32_t reserved;
};
static_assert(sizeof(ValueSource) == 16);

// A sum of products; without factors, a count.
struct Aggregate {
    uint32_t factorCount;
    uint32_t reserved;
    ValueSource factors[MAX_FACTORS];
};
static_assert(sizeof(Aggregate) == 40);

// The table of groups, in device memory.
//
//   slots:  uint32_t[slotCount]    row of the group, open addressing; all ones where free
//   groups: row i is  int64_t column[columnCount], int64_t aggregate[aggregateCount]
struct Aggregation {
    uint64_t slots;
    uint64_t groups;
    uint64_t groupCount;  // address of the number of groups, uint32_t
    uint32_t slotCount;
    uint32_t maxGroups;  // steps stop at this count
    uint32_t columnCount;
    uint32_t aggregateCount;
    uint32_t dimensionsUsed;  // bit d: a value of dimension d is used
    uint32_t reserved;
    ValueSource columns[MAX_GROUP_COLUMNS];
    Aggregate aggregates[MAX_AGGREGATES];
    uint64_t hashSeed;  // parameters of slotHash, secret and chosen once a process
    uint64_t hashMultiplier;
};
static_assert(sizeof(Aggregation) == 448);

// Everything that a step needs to know about its engine. Addresses are device addresses.
struct Plan {
    uint64_t segments;     // mapped host memory: slot i at i * segmentBytes
    uint64_t scratch;      // device memory, same layout: the verified segments
    uint64_t results;      // mapped host memory: buffer b of slot i at (2 i + b) * resultBytes
    uint64_t completions;  // mapped host memory: Completion[2 * slots], likewise
    uint64_t progress;     // device memory: Progress[slots]
    uint64_t dimensions;   // device memory: Dimension[dimensionCount]
    uint64_t copies;       // device memory: PayloadCopy[]
    uint64_t segmentBytes;
    uint64_t resultBytes;
    uint32_t capacityRows;  // of a result buffer; 0: matches are only counted
    uint32_t dimensionCount;
    uint32_t columnCount;
    uint32_t schemaFingerprint;
    uint8_t columnWidth[MAX_FACT_COLUMNS];
    uint64_t filters;      // device memory: Filter[filterCount]
    uint64_t ranges;       // device memory: ValueRange[]
    uint64_t aggregation;  // device memory: one Aggregation; 0: results are written
    uint32_t filterCount;
    uint32_t nullKeysColumn;  // segment column of null keys, bit d for dimension d; or NO_COLUMN
    uint64_t decodedRows;     // device memory of all blocks; 0: nothing encoded is read
    uint32_t packsResults;  // 1: results are packed; 0: an array of row numbers, then whole values

    // Columns of a chunk that is read in place, and the segment column of each, or NOT_IN_SEGMENT.
    uint32_t chunkColumnCount;  // 0: chunks are not read in place
    uint8_t chunkColumnWidth[MAX_FACT_COLUMNS];
    uint8_t segmentColumn[MAX_FACT_COLUMNS];
};
static_assert(sizeof(Plan) == 184);
static_assert(offsetof(Plan, chunkColumnWidth) == 152);
static_assert(offsetof(Plan, columnWidth) == 88);

}  // namespace gpujoin
