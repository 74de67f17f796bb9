// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The blocking join of tables in host memory, a peer of the pipelined engine.
#pragma once

#include <cstdint>
#include <vector>

#include "device_memory.h"
#include "resident_join.h"
#include "tables.cuh"

namespace gpujoin::bench {

// Sizes of the tables in host memory.
struct BlockingSpec {
    uint64_t buildRows = 0;
    // Probe rows in host memory; a join reads them repeatedly.
    uint64_t sourceRows = 0;
    // Probe rows on the device at once, a multiple of sourceRows.
    uint64_t chunkRows = 0;

    // Reduces chunkRows to what the free memory of the device has room for; false if that is none.
    bool fitToDevice();
};

// Time of one join by phase, in milliseconds; the phases follow one another.
struct BlockingTimes {
    double copyInMs = 0;
    double joinMs = 0;
    double copyBackMs = 0;

    double totalMs() const { return copyInMs + joinMs + copyBackMs; }
};

struct BlockingResult {
    std::vector<BlockingTimes> rounds;
    bool correct = true;
    Digest digest;
};

// The blocking join of pinned host tables (Thostrup et al., "Distributed GPU Joins on Fast
// RDMA-capable Networks", sections 3.1 and 6.1, there called GPJ-B): copy in, partition and join,
// copy back, without overlap. The build side stays on the device. A probe side that exceeds the
// device memory arrives in chunks, and each chunk partitions both sides again.
//
// A row is a key and a payload of 64 bits each; a result row holds the payloads of both sides, also
// 16 bytes. Every probe row has one match.
class BlockingJoin {
  public:
    explicit BlockingJoin(const BlockingSpec& spec);

    const BlockingSpec& spec() const { return joinSpec; }
    // Returns the bytes of device memory that a join with these sizes uses.
    static size_t deviceBytes(const BlockingSpec& spec);

    // Joins `probeRows` rows, a multiple of sourceRows, `rounds` times with timing, after one join
    // without. The first join compares its whole result in host memory with the expected digest,
    // the timed joins only their counts.
    BlockingResult measure(uint64_t probeRows, int rounds);

  private:
    using Word = int64_t;

    // Key and payload columns in pinned host memory.
    struct HostTable {
        PinnedArray<Word> keys;
        PinnedArray<Word> payloads;

        explicit HostTable(uint64_t rows) : keys(rows), payloads(rows) {}
    };

    void generate();
    BlockingTimes run(uint64_t probeRows, uint64_t& matchCount, Digest* digest);
    void copyBuildIn();
    void copyProbeIn(uint64_t rows);
    void join(uint64_t rows);
    void copyResultBack(uint64_t row, uint64_t rows);
    void addHostResult(uint64_t rows, Digest& digest);

    BlockingSpec joinSpec;
    HostTable hostBuild;
    HostTable hostProbe;
    // Columns of the part of the result that was copied last.
    PinnedArray<Word> hostBuildPayloads;
    PinnedArray<Word> hostProbePayloads;
    DeviceArray<Word> buildKeys;
    DeviceArray<Word> buildPayloads;
    DeviceArray<Word> probeKeys;
    DeviceArray<Word> probePayloads;
    Matches<Word> matches;
    DeviceArray<unsigned char> workspace;
    Digest expectedOfSource;
};

}  // namespace gpujoin::bench
