// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Inner equi-join of two tables that several devices hold parts of, by sorting and merging.
//
// All devices choose the same splitters from a common sample, and each device owns an equal number of
// consecutive buckets, that is a range of the keys. A device scatters its rows to buckets in its own
// memory, and copy engines bring those of other owners to them; this is the bucket swap of
// Maltenberger, Tolovski and Rabl (PVLDB 18(11), 2025, section 3.1). From there on the devices work
// alone. The copies overlap with the passes: those of the build table with the first pass of the
// probe table, those of the probe table with the sort of the build table. Copy engines leave all
// multiprocessors to the passes, but the host must know the sizes of the buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sort_merge_join.h"

namespace gpujoin::sortmerge {

constexpr uint32_t MAX_DEVICES = 8;

// Rows of both tables over all devices.
struct TotalRows {
    uint64_t build;
    uint64_t probe;
};

// Returns the bytes of device memory that each device needs in addition to its inputs and outputs.
// They suffice if one device owns all rows, since an order may need that.
template <typename Word>
size_t shardWorkspaceBytes(TotalRows rows, uint32_t devices);

// What one device holds of the tables, and where it writes the matches of the keys that it owns.
template <typename Word>
struct Shard {
    TableView<Word> build;
    TableView<Word> probe;
    MatchColumns<Word> matches;
    void* workspace;
    size_t workspaceLengthBytes;
};

// Steps of the first device, in their order: the first pass over both tables, the second pass and the
// sort of each, including the wait for buckets of other devices, and the merge.
enum class ShardStep { SCATTER, BUILD_SORT, PROBE_SORT, MERGE };
constexpr int SHARD_STEP_COUNT = 4;

// Events of the first device to record, for measurements; null events are not recorded.
struct ShardTrace {
    cudaEvent_t start = nullptr;
    cudaEvent_t stepEnds[SHARD_STEP_COUNT] = {};

    cudaEvent_t endOf(ShardStep step) const { return stepEnds[static_cast<int>(step)]; }
};

// Devices of one process that join together. Owns streams and events; not thread-safe.
class ShardedSortMerge {
  public:
    // Opens access between all pairs of 1 to MAX_DEVICES different devices. A failure is returned by
    // join().
    explicit ShardedSortMerge(const std::vector<int>& devices);
    ~ShardedSortMerge();
    ShardedSortMerge(const ShardedSortMerge&) = delete;
    ShardedSortMerge& operator=(const ShardedSortMerge&) = delete;

    // Enqueues the join on all devices and returns; `shards` are in the order of the devices. With
    // several devices it waits until the buckets of both tables are counted. Pointers
    // are as for joinSorted(), and no device works on them. The keys of a device's results are in
    // ascending order, and greater than those of the devices before. At most MAX_ROWS rows in all.
    template <typename Word>
    JoinStatus join(const std::vector<Shard<Word>>& shards, const ShardTrace& trace = {});

    // Waits until all devices have finished what was enqueued, also after a failure, which it returns.
    cudaError_t await();

  private:
    struct Members;
    std::unique_ptr<Members> members;
};

}  // namespace gpujoin::sortmerge
