// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the repartitioned join for programs that use the CUDA runtime.

#include "repartitioned_join.h"

#include <algorithm>

#include "enqueuer.h"
#include "exchange_streams.h"
#include "repartitioned_call.h"
#include "repartitioned_kernels.cuh"

namespace gpujoin::resident {

namespace {

template <typename Word>
struct Kernels;

template <typename Word>
using TransferKernel = void (*)(RepartitionedCall<Word>, uint64_t);

template <typename Word>
struct PassKernels {
    TransferKernel<Word> guess;
    TransferKernel<Word> scatterGuessed;
    struct {
        TransferKernel<Word> clear;
        TransferKernel<Word> count;
        TransferKernel<Word> layOut;
        TransferKernel<Word> scatter;
    } retries[2];
};

#define GPUJOIN_RETRY_NAMES(pass, attempt, Bits)                       \
    {                                                                  \
        gpujoin_repartitioned_clear_##pass##_##attempt##_##Bits,       \
            gpujoin_repartitioned_count_##pass##_##attempt##_##Bits,   \
            gpujoin_repartitioned_lay_out_##pass##_##attempt##_##Bits, \
            gpujoin_repartitioned_scatter_##pass##_##attempt##_##Bits  \
    }
#define GPUJOIN_PASS_NAMES(pass, Bits)                                                         \
    {                                                                                          \
        gpujoin_repartitioned_guess_##pass##_##Bits,                                           \
            gpujoin_repartitioned_scatter_##pass##_guessed_##Bits, {                           \
            GPUJOIN_RETRY_NAMES(pass, sampled, Bits), GPUJOIN_RETRY_NAMES(pass, counted, Bits) \
        }                                                                                      \
    }
#define GPUJOIN_REPARTITIONED_NAMES(Word, Bits)                                                \
    template <>                                                                                \
    struct Kernels<Word> {                                                                     \
        static constexpr PassKernels<Word> EXCHANGE GPUJOIN_PASS_NAMES(exchange, Bits);        \
        static constexpr PassKernels<Word> SECOND GPUJOIN_PASS_NAMES(second, Bits);            \
        static constexpr TransferKernel<Word> PUBLISH = gpujoin_repartitioned_publish_##Bits;  \
        static constexpr TransferKernel<Word> MAP = gpujoin_repartitioned_map_received_##Bits; \
        static constexpr TransferKernel<Word> ITEMS = gpujoin_repartitioned_items_##Bits;      \
        static constexpr void (*JOIN)(RepartitionedCall<Word>) =                               \
            gpujoin_repartitioned_join_##Bits;                                                 \
    };

GPUJOIN_REPARTITIONED_NAMES(int32_t, 32)
GPUJOIN_REPARTITIONED_NAMES(int64_t, 64)

// Blocks of the kernels of a pass.
struct PassGrid {
    uint32_t partitions;
    uint32_t digits;
    uint32_t guessedBlocks;
    uint32_t countBlocks;
    uint32_t layOutBlocks;
    uint32_t scatterBlocks;
    int threads;
    uint32_t sharedBytes;
};

template <typename Word>
void enqueuePass(Enqueuer& queue, const PassKernels<Word>& kernels, const PassGrid& grid,
                 const RepartitionedCall<Word>& call, uint64_t transfer) {
    uint32_t slotBlocks = blocksFor(grid.partitions, SLOT_THREADS);
    queue.launch(kernels.guess, slotBlocks, SLOT_THREADS, 0, call, transfer);
    queue.launch(kernels.scatterGuessed, grid.guessedBlocks, grid.threads, grid.sharedBytes, call,
                 transfer);
    for (const auto& retry : kernels.retries) {
        queue.launch(retry.clear, slotBlocks, SLOT_THREADS, 0, call, transfer);
        queue.launch(retry.count, grid.countBlocks, grid.threads, grid.digits * sizeof(uint32_t),
                     call, transfer);
        queue.launch(retry.layOut, grid.layOutBlocks, SCAN_THREADS, 0, call, transfer);
        queue.launch(retry.scatter, grid.scatterBlocks, grid.threads, grid.sharedBytes, call,
                     transfer);
    }
}

cudaEvent_t eventOf(const std::vector<cudaEvent_t>& events, uint64_t transfer) {
    return transfer < events.size() ? events[transfer] : nullptr;
}

}  // namespace

// Enqueues one join.
template <typename Word>
class RepartitionedRun {
  public:
    RepartitionedRun(const ExchangeGroup& group, const std::vector<JoinMember<Word>>& members,
                     const std::vector<TransferTrace>& traces)
        : group(group), members(members), traces(traces) {
        this->traces.resize(members.size());
        for (size_t n = 0; n < members.size(); n++) {
            exchanges.emplace_back(group.members[n]->exchange);
            streams.emplace_back(members[n].stream);
        }
    }

    JoinStatus run(uint32_t chunks) {
        plan(chunks);
        for (size_t n = 0; n < members.size(); n++) {
            if (members[n].workspace == nullptr ||
                members[n].workspaceLengthBytes < calls[n].workspaceBytes) {
                return JoinStatus::WORKSPACE_TOO_SMALL;
            }
        }
        for (size_t n = 0; n < members.size(); n++) {
            enter(n);
            streams[n].record(group.members[n]->ready);
        }
        for (size_t n = 0; n < members.size(); n++) {
            enter(n);
            awaitAll(exchanges[n], [](const auto& member) { return member.ready; });
        }
        for (uint64_t transfer = 0; transfer <= calls[0].chunks; transfer++) {
            enqueueTransfer(transfer);
            for (size_t n = 0; n < members.size(); n++) {
                enter(n);
                enqueueLocal(n, transfer);
            }
        }
        JoinStatus status = JoinStatus::OK;
        for (size_t n = 0; n < members.size(); n++) {
            bool isEnqueued =
                exchanges[n].status() == JoinStatus::OK && streams[n].status() == JoinStatus::OK;
            status = isEnqueued ? status : JoinStatus::LAUNCH_FAILED;
        }
        return status;
    }

    static RepartitionedCall<Word> planned(const std::vector<JoinMember<Word>>& members,
                                           size_t member, uint32_t chunks, bool isStaged) {
        RepartitionedCall<Word> call{};
        for (size_t n = 0; n < members.size(); n++) {
            call.memories[n] = members[n].workspace;
            call.buildRows[n] = members[n].build.rows;
            call.probeRows[n] = members[n].probe.rows;
        }
        call.build = members[member].build;
        call.probe = members[member].probe;
        call.matches = members[member].matches;
        call.members = members.size();
        call.member = member;
        call.chunks = chunks;
        call.isStaged = isStaged ? 1 : 0;
        call.plan();
        return call;
    }

  private:
    void plan(uint32_t chunks) {
        for (size_t n = 0; n < members.size(); n++) {
            calls.push_back(planned(members, n, chunks, isStaged()));
        }
    }

    bool isStaged() const { return group.mode == ExchangeMode::STAGED_COPIES; }

    // Makes the device of a member current.
    void enter(size_t n) { exchanges[n].check(cudaSetDevice(members[n].device)); }

    template <typename EventOf>
    void awaitAll(Enqueuer& queue, EventOf eventOf) {
        for (const auto& member : group.members) {
            queue.await(eventOf(*member));
        }
    }

    void enqueueTransfer(uint64_t transfer) {
        size_t parity = transfer % 2;
        for (size_t n = 0; n < members.size(); n++) {
            enter(n);
            if (transfer >= 2) {
                // The inboxes are read.
                awaitAll(exchanges[n], [=](const auto& m) { return m.partitioned[parity]; });
            }
            enqueueExchange(n, transfer);
        }
        for (size_t n = 0; n < members.size(); n++) {
            enter(n);
            if (isStaged()) {
                copyRows(n, transfer);
            }
            exchanges[n].record(group.members[n]->exchanged[parity]);
            exchanges[n].record(eventOf(traces[n].exchangeEnds, transfer));
        }
    }

    void enqueueExchange(size_t n, uint64_t transfer) {
        const RepartitionedCall<Word>& call = calls[n];
        const RepartitionedLaunch& launch = call.launch;
        uint32_t multiprocessors = group.members[n]->multiprocessors;
        uint32_t tiles = launch.exchangeTiles[transfer];
        // Nothing else runs during the exchange of the build table.
        uint32_t blocks =
            std::min(tiles, transfer == BUILD_TRANSFER ? multiprocessors : exchangeBlocks(n));
        PassGrid grid{launch.exchangePartitions,
                      launch.exchangePartitions,
                      blocks,
                      blocks,
                      1,
                      blocks,
                      static_cast<int>(launch.exchangeThreads),
                      launch.exchangeBytes};
        enqueuePass<Word>(exchanges[n], Kernels<Word>::EXCHANGE, grid, call, transfer);
        exchanges[n].launch(Kernels<Word>::PUBLISH, 1, SCAN_THREADS, 0, call, transfer);
    }

    // Blocks that exchange a chunk of the probe table, each on a multiprocessor of its own.
    uint32_t exchangeBlocks(size_t n) const {
        return std::max(1u,
                        group.members[n]->multiprocessors * calls[n].launch.exchangePercent / 100);
    }

    void enqueueLocal(size_t n, uint64_t transfer) {
        const RepartitionedCall<Word>& call = calls[n];
        const RepartitionedLaunch& launch = call.launch;
        Enqueuer& queue = streams[n];
        size_t parity = transfer % 2;
        uint32_t multiprocessors = group.members[n]->multiprocessors;
        uint32_t resident = multiprocessors * launch.secondBlocksPerSm;
        awaitAll(queue, [=](const auto& m) { return m.exchanged[parity]; });
        queue.launch(Kernels<Word>::MAP, 1, SCAN_THREADS, 0, call, transfer);
        PassGrid grid{launch.partitions,
                      launch.secondDigits,
                      launch.secondTiles[transfer],
                      resident,
                      blocksFor(launch.partitions, SCAN_THREADS),
                      resident * launch.scatterWaves,
                      static_cast<int>(launch.secondThreads),
                      launch.secondBytes};
        enqueuePass<Word>(queue, Kernels<Word>::SECOND, grid, call, transfer);
        queue.record(group.members[n]->partitioned[parity]);
        queue.record(eventOf(traces[n].secondPassEnds, transfer));
        if (transfer != BUILD_TRANSFER) {
            queue.launch(Kernels<Word>::ITEMS, 1, SCAN_THREADS, 0, call, transfer);
            // Blocks of a join stay until it has ended, so they leave room for the next exchange.
            bool isLast = transfer == launch.chunks;
            uint32_t joining = multiprocessors - (isLast ? 0 : exchangeBlocks(n));
            queue.launch(Kernels<Word>::JOIN, joining * launch.joinBlocksPerSm, JOIN_THREADS,
                         launch.joinBytes, call);
        }
        queue.record(eventOf(traces[n].joinEnds, transfer));
    }

    // Waits until the rows of a sender are partitioned, and enqueues their copies to all receivers.
    void copyRows(size_t n, uint64_t transfer) {
        const RepartitionedCall<Word>& call = calls[n];
        const auto& member = *group.members[n];
        Enqueuer& queue = exchanges[n];
        uint32_t partitions = call.digits.first.count();
        std::vector<uint32_t> cursors(partitions);
        queue.check(cudaMemcpyAsync(cursors.data(), call.sent.slots.cursor,
                                    partitions * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                                    member.exchange));
        queue.check(cudaStreamSynchronize(member.exchange));
        for (uint32_t m = 0; m < members.size(); m++) {
            if (m != n) {
                copyRowsTo(m, n, transfer, cursors);
                queue.await(member.copied[m]);
            }
        }
    }

    void copyRowsTo(uint32_t receiver, size_t n, uint64_t transfer,
                    const std::vector<uint32_t>& cursors) {
        const RepartitionedCall<Word>& call = calls[n];
        const auto& member = *group.members[n];
        Enqueuer& queue = exchanges[n];
        uint32_t local = call.digits.localPartitions();
        uint64_t firstRow = call.region(transfer).firstRow;
        auto begin = cursors.begin() + receiver * local;
        uint64_t rows = *std::max_element(begin, begin + local) - firstRow;
        const Inbox<Word>& inbox = call.inboxOf(transfer);
        ReceivedSlots received = inbox.received;
        auto copy = [&](cudaStream_t stream, void* target, const void* source, size_t bytes) {
            queue.check(cudaMemcpyPeerAsync(target, members[receiver].device, source,
                                            members[n].device, bytes, stream));
        };
        copy(member.copies[receiver], call.peer(receiver, inbox.rows) + firstRow,
             call.outboxOf(transfer, receiver), rows * sizeof(Tuple<Word>));
        queue.check(cudaEventRecord(member.copied[receiver], member.copies[receiver]));
        size_t slotBytes = local * sizeof(uint32_t);
        copy(member.exchange, call.peer(receiver, received.begin) + n * local,
             call.sent.slots.begin + receiver * local, slotBytes);
        copy(member.exchange, call.peer(receiver, received.cursor) + n * local,
             call.sent.slots.cursor + receiver * local, slotBytes);
        copy(member.exchange, call.peer(receiver, received.overflow) + n, call.sent.slots.overflow,
             sizeof(uint32_t));
    }

    const ExchangeGroup& group;
    const std::vector<JoinMember<Word>>& members;
    std::vector<TransferTrace> traces;
    std::vector<RepartitionedCall<Word>> calls;
    // On the exchange stream and on the caller's stream of each member.
    std::vector<Enqueuer> exchanges;
    std::vector<Enqueuer> streams;
};

namespace {

// Whether kernels of each device may access the memory of all others, after this call.
bool opensPeerAccess(const std::vector<int>& devices) {
    for (int device : devices) {
        for (int peer : devices) {
            if (device == peer) {
                continue;
            }
            int isConnected = 0;
            cudaDeviceCanAccessPeer(&isConnected, device, peer);
            cudaError_t error = isConnected != 0 ? cudaSetDevice(device) : cudaErrorInvalidDevice;
            error = error == cudaSuccess ? cudaDeviceEnablePeerAccess(peer, 0) : error;
            if (error == cudaErrorPeerAccessAlreadyEnabled) {
                cudaGetLastError();
            } else if (error != cudaSuccess) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

std::unique_ptr<ExchangeGroup> ExchangeGroup::open(const std::vector<int>& devices,
                                                   ExchangeMode mode) {
    size_t count = devices.size();
    if (count == 0 || count > MAX_MEMBERS || (count & (count - 1)) != 0 ||
        (mode == ExchangeMode::PEER_STORES && !opensPeerAccess(devices))) {
        return nullptr;
    }
    std::unique_ptr<ExchangeGroup> group(new ExchangeGroup(devices, mode));
    for (auto& member : group->members) {
        if (member->open(mode == ExchangeMode::STAGED_COPIES ? count : 0) != cudaSuccess) {
            return nullptr;
        }
    }
    return group;
}

ExchangeGroup::ExchangeGroup(const std::vector<int>& devices, ExchangeMode mode) : mode(mode) {
    for (int device : devices) {
        members.push_back(std::make_unique<Member>(device));
    }
}

ExchangeGroup::~ExchangeGroup() = default;

template <typename Word>
JoinStatus ExchangeGroup::join(const std::vector<JoinMember<Word>>& joined, uint32_t chunks,
                               const std::vector<TransferTrace>& traces) {
    uint64_t buildRows = 0;
    uint64_t probeRows = 0;
    bool areValid = joined.size() == members.size();
    for (const JoinMember<Word>& member : joined) {
        areValid = areValid && isValid(member.build) && isValid(member.probe) &&
                   isValid(member.matches) && isAligned(member.workspace, REGION_ALIGNMENT_BYTES);
        buildRows += member.build.rows;
        probeRows += member.probe.rows;
    }
    areValid = areValid && chunks <= MAX_CHUNKS;
    if (!areValid || buildRows > MAX_ROWS || probeRows > MAX_ROWS) {
        return JoinStatus::INVALID_ARGUMENT;
    }
    return RepartitionedRun<Word>(*this, joined, traces).run(chunks);
}

template <typename Word>
size_t ExchangeGroup::workspaceBytes(const std::vector<uint64_t>& buildRows,
                                     const std::vector<uint64_t>& probeRows, size_t member,
                                     uint32_t chunks, uint32_t* plannedChunks) const {
    std::vector<JoinMember<Word>> sizes(members.size());
    for (size_t n = 0; n < sizes.size(); n++) {
        sizes[n].build.rows = buildRows[n];
        sizes[n].probe.rows = probeRows[n];
    }
    auto call =
        RepartitionedRun<Word>::planned(sizes, member, chunks, mode == ExchangeMode::STAGED_COPIES);
    if (plannedChunks != nullptr) {
        *plannedChunks = call.launch.chunks;
    }
    return call.workspaceBytes;
}

#define GPUJOIN_INSTANTIATE(Word)                                                                \
    template JoinStatus ExchangeGroup::join(const std::vector<JoinMember<Word>>&, uint32_t,      \
                                            const std::vector<TransferTrace>&);                  \
    template size_t ExchangeGroup::workspaceBytes<Word>(                                         \
        const std::vector<uint64_t>&, const std::vector<uint64_t>&, size_t, uint32_t, uint32_t*) \
        const;

GPUJOIN_INSTANTIATE(int32_t)
GPUJOIN_INSTANTIATE(int64_t)

}  // namespace gpujoin::resident
