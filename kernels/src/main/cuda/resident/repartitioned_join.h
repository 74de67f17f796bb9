// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Inner equi-join of two tables that are spread over the devices of a host, materialized on the
// device that joins a key.
//
// The exchange is the first radix pass: each member orders tiles of its rows by digit in shared
// memory and stores the run of each partition in the memory of the member that owns the partition.
// The owner's second pass reads what all members sent, and then joins partitions in shared memory as
// joinResident does. The probe table is exchanged in chunks, each of which is joined while the next
// one arrives. No size or count travels to the host, unless the join is staged.
//
// Method: Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs" (ADMS 2021), section 3. Departures:
// partitioning and exchange are one step, and exchange and join overlap.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "exchange_plan.h"
#include "resident_join.h"

namespace gpujoin::resident {

enum class ExchangeMode {
    // Kernels store rows in the memory of their peers.
    PEER_STORES,
    // Each member partitions rows in its own memory, and the host enqueues copies between devices.
    // Needs no peer access, but more memory; the host waits for each transfer.
    STAGED_COPIES
};

// One member of a group: its parts of the tables, and its results. Members may share a device, for
// tests. The workspace is aligned to 256 bytes. Results of the caller's earlier work on any member's
// stream are visible to the join, and the join has ended when the streams of all members have.
template <typename Word>
struct JoinMember {
    int device = 0;
    TableView<Word> build;
    TableView<Word> probe;
    MatchColumns<Word> matches;
    void* workspace = nullptr;
    size_t workspaceLengthBytes = 0;
    cudaStream_t stream = nullptr;
};

// Events to record on a member's streams, for measurements; an empty list records nothing.
struct TransferTrace {
    // By transfer: the build table, then the chunks of the probe table.
    std::vector<cudaEvent_t> exchangeEnds;
    std::vector<cudaEvent_t> secondPassEnds;
    std::vector<cudaEvent_t> joinEnds;
};

// The streams and events with which the devices of a group exchange tables. Not thread-safe.
class ExchangeGroup {
  public:
    // Opens peer access between different devices if the mode needs it; `devices` has an entry for
    // each member, at most MAX_MEMBERS and a power of two. Returns null if the number of members is
    // another one, or the hardware does not connect the devices.
    static std::unique_ptr<ExchangeGroup> open(const std::vector<int>& devices, ExchangeMode mode);

    ~ExchangeGroup();
    ExchangeGroup(const ExchangeGroup&) = delete;
    ExchangeGroup& operator=(const ExchangeGroup&) = delete;

    // Enqueues the join and returns. `chunks` is the number of chunks of the probe table, or 0 for
    // the default. Each match count is exact even if it exceeds the capacity of the columns. After
    // LAUNCH_FAILED, devices may still use all memory until cudaDeviceSynchronize() of each returns.
    template <typename Word>
    JoinStatus join(const std::vector<JoinMember<Word>>& members, uint32_t chunks = 0,
                    const std::vector<TransferTrace>& traces = {});

    // Returns the bytes of device memory that a member needs in addition to inputs and outputs, and
    // the number of chunks in `plannedChunks` if it is not null. A member may receive all rows,
    // whatever the keys are: it needs room for the build tables of all members twice and for the
    // largest chunk of their probe tables twice. A staged join adds one outbox for each member.
    template <typename Word>
    size_t workspaceBytes(const std::vector<uint64_t>& buildRows,
                          const std::vector<uint64_t>& probeRows, size_t member,
                          uint32_t chunks = 0, uint32_t* plannedChunks = nullptr) const;

  private:
    struct Member;
    ExchangeGroup(const std::vector<int>& devices, ExchangeMode mode);

    ExchangeMode mode;
    std::vector<std::unique_ptr<Member>> members;

    template <typename Word>
    friend class RepartitionedRun;
};

}  // namespace gpujoin::resident
