#pragma once

#include <cstdint>
#include <vector>

#include "device_memory.h"
#include "resident_join.h"
#include "tables.cuh"

namespace gpujoin::bench {

/** Tables in host memory. */
struct BlockingSpec {
    std::uint64_t buildRows = 0;
    /** Probe rows that lie in host memory; they are read as often as it takes. */
    std::uint64_t sourceRows = 0;
    /** Probe rows that are on the device at once, a multiple of sourceRows. */
    std::uint64_t chunkRows = 0;
};

/** Where the time of one join went, in milliseconds; the phases follow one another. */
struct BlockingTimes {
    double copyInMs = 0;
    double joinMs = 0;
    double copyBackMs = 0;

    double totalMs() const { return copyInMs + joinMs + copyBackMs; }
};

struct BlockingResult {
    std::vector<BlockingTimes> rounds;
    bool right = true;
    Digest digest;
};

/**
 * The blocking join of pinned host tables (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable
 * Networks", sections 3.1 and 6.1, there called GPJ-B): copy in, partition and join, copy back, nothing at the
 * same time. The build side stays on the device; the probe side, where it is too large, comes in chunks, for each
 * of which both sides are partitioned.
 *
 * A row is a key and a payload of 64 bits; a result row is the payloads of both sides, also 16 bytes. Every probe
 * row has one match.
 */
class BlockingJoin {
  public:
    explicit BlockingJoin(const BlockingSpec& spec);

    const BlockingSpec& spec() const { return spec_; }
    /** Device memory that is taken. */
    std::size_t deviceBytes() const;

    /**
     * Joins `probeRows` rows, a multiple of sourceRows, as often as there are rounds, and once before that is not
     * timed: all that came back to the host is read there and compared with what the tables' generator says. Timed
     * joins compare their counts.
     */
    BlockingResult measure(std::uint64_t probeRows, int rounds);

  private:
    using Word = std::int64_t;

    /** Key and payload columns in pinned host memory. */
    struct HostTable {
        PinnedArray<Word> keys;
        PinnedArray<Word> payloads;

        explicit HostTable(std::uint64_t rows) : keys(rows), payloads(rows) {}
    };

    void generate();
    BlockingTimes run(std::uint64_t probeRows, std::uint64_t& matchCount, Digest* digest);
    void copyBuildIn();
    void copyProbeIn(std::uint64_t rows);
    void join(std::uint64_t rows);
    void copyResultBack(std::uint64_t row, std::uint64_t rows);
    void addHostResult(std::uint64_t rows, Digest& digest);

    BlockingSpec spec_;
    HostTable hostBuild_;
    HostTable hostProbe_;
    /** Columns of the part of the result that came back last. */
    PinnedArray<Word> hostBuildPayloads_;
    PinnedArray<Word> hostProbePayloads_;
    DeviceArray<Word> buildKeys_;
    DeviceArray<Word> buildPayloads_;
    DeviceArray<Word> probeKeys_;
    DeviceArray<Word> probePayloads_;
    Matches<Word> matches_;
    DeviceArray<unsigned char> workspace_;
    Digest expectedOfSource_;
};

}  // namespace gpujoin::bench
