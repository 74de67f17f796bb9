// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * The bulk join of several devices that access each other's memory. Runs of the inputs are copied
 * to the devices in turn, so that all buses are used, by a thread for each device ({@link
 * BulkLoaders}). Each device then has rows that it joins alone, again with a thread of its own:
 *
 * <ul>
 *   <li>REPLICATED: rows stay where they were loaded, and each device also has all rows of a small
 *       input.
 *   <li>REPARTITIONED: each device has the rows of the keys that it owns ({@link RunExchange}).
 *       Rows are exchanged while later ones are loaded, once no input is small.
 * </ul>
 *
 * <p>A device whose rows exceed its memory joins them out of core, also beside devices that do not.
 */
final class GroupBulkEngine implements BulkEngine {

    /**
     * Maximum rows of an input that is replicated. Each device partitions and reads all of them,
     * 0.2 ms, whatever the other input is; more would take longer than an exchange that loading
     * hides.
     */
    static final long REPLICATED_ROWS = 1 << 22;

    private static final String NO_ROOM = "a device has no room for further rows that it loads";

    private static final String NO_ROOM_FOR_KEYS = "a device has no room for further key bytes";

    private static final String NO_ROOM_FOR_ALL =
            "a device has no room for all rows of the smaller input";

    private final GroupPlan plan;
    private final List<DeviceBulkEngine> members = new ArrayList<>();
    private final BulkLoaders loaders;

    /**
     * Held to read by a thread that changes the storage of its own device only, and to write by one
     * that uses those of all.
     */
    private final ReadWriteLock storages = new ReentrantReadWriteLock(true);

    /** Written under the lock; empty until rows are exchanged. */
    private volatile Map<JoinSide, RunExchange> exchanges = Map.of();

    private final ExchangeMemory exchangeMemory;
    private String exchangeReason = "";
    private int nextMember;
    private int nextKeyMember;
    private @Nullable JoinSide replicated;

    /** Waits for each device before the join; empty while inputs are loaded. */
    private volatile Map<BulkWait, List<Long>> loadWaitsNs = Map.of();

    private @Nullable BulkMemberThreads threads;

    /**
     * @param devices at least one, with access to each other's memory; closed by {@link #close},
     *     and by the caller if the constructor fails
     * @param directory of files for rows that exceed the host memory; null to fail instead
     * @param replicatedRows maximum rows of an input that is replicated
     * @throws GpuUnavailableException if the memory of a device does not suffice
     */
    GroupBulkEngine(
            BulkJoinSpec spec,
            List<BulkDevice> devices,
            @Nullable Path directory,
            long replicatedRows) {
        this.plan = new GroupPlan(spec.kind(), replicatedRows);
        for (BulkDevice device : devices) {
            members.add(new DeviceBulkEngine(spec, device, directory));
        }
        this.exchangeMemory = new ExchangeMemory(members);
        this.loaders = new BulkLoaders(devices);
    }

    @Override
    public BulkRunLayout layout(JoinSide side) {
        return members.get(0).layout(side);
    }

    @Override
    public RunSink joined(JoinSide side) {
        return (runs, rows) -> {
            plan.added(side, rows);
            if (!isExchanging() && plan.smallSide() == null) {
                inTurn(() -> startExchange(plan.notSmallReason()));
            }
            int turn = takeTurn();
            DeviceRuns target = members.get(turn).storage().joinedRuns(side);
            return loaders.submit(
                    turn,
                    () ->
                            load(
                                    turn,
                                    target,
                                    runs,
                                    rows,
                                    // copies of one device wait for no kernel of another one
                                    () -> exchanges.get(side).add(turn, runs, rows)));
        };
    }

    @Override
    public RunSink unjoined(JoinSide side) {
        return (runs, rows) -> {
            int turn = takeTurn();
            DeviceBulkEngine member = members.get(turn);
            DeviceRuns target = member.storage().unjoinedRuns(side);
            return loaders.submit(
                    turn,
                    () ->
                            load(
                                    turn,
                                    target,
                                    runs,
                                    rows,
                                    () -> inTurn(() -> member.unjoined(side).add(runs, rows))));
        };
    }

    /**
     * Copies runs to a device, where they stay until rows are exchanged. Called by its thread.
     *
     * @param whileExchanging does it afterwards
     */
    private DeviceCopy load(
            int turn, DeviceRuns target, long runs, int rows, Load<DeviceCopy> whileExchanging)
            throws InterruptedException {
        if (!isExchanging()) {
            storages.readLock().lockInterruptibly();
            try {
                loaders.throwFailure();
                if (!isExchanging() && members.get(turn).storage().reserve(target, rows)) {
                    return target.add(runs, rows);
                }
            } finally {
                storages.readLock().unlock();
            }
            inTurn(() -> startExchange(NO_ROOM));
        }
        return whileExchanging.run();
    }

    /**
     * Devices take turns. Rows do not leave a device before they are exchanged: those that have
     * left cannot be moved to the device that owns their keys.
     */
    @Override
    public KeyArena.Slab allocateKeys(long lengthBytes) throws InterruptedException {
        DeviceBulkEngine member = members.get(nextKeyMember);
        nextKeyMember = (nextKeyMember + 1) % members.size();
        return inTurn(
                () -> {
                    if (!isExchanging()) {
                        Optional<KeyArena.Slab> slab =
                                member.storage().tryAllocateKeys(lengthBytes);
                        if (slab.isPresent()) {
                            return slab.get();
                        }
                        startExchange(NO_ROOM_FOR_KEYS);
                    }
                    return member.allocateKeys(lengthBytes);
                });
    }

    /** An action that may wait for a device. */
    @FunctionalInterface
    private interface Load<T> {
        T run() throws InterruptedException;
    }

    /** Runs an action while no other thread uses the storage of any device. */
    private <T> T inTurn(Load<T> action) throws InterruptedException {
        storages.writeLock().lockInterruptibly();
        try {
            loaders.throwFailure();
            return action.run();
        } finally {
            storages.writeLock().unlock();
        }
    }

    private int takeTurn() {
        int member = nextMember;
        nextMember = (nextMember + 1) % members.size();
        return member;
    }

    private boolean isExchanging() {
        return !exchanges.isEmpty();
    }

    /** Moves all rows that are on the devices, unless another thread has. Called in turn. */
    private Map<JoinSide, RunExchange> startExchange(String reason) throws InterruptedException {
        if (isExchanging()) {
            return exchanges;
        }
        exchangeReason = reason;
        Map<JoinSide, RunExchange> started = exchangeMemory.createExchanges(storages.writeLock());
        Map<JoinSide, List<DeviceRuns.Lent>> loaded = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            loaded.put(side, members.stream().map(member -> member.storage().lend(side)).toList());
        }
        for (JoinSide side : JoinSide.values()) {
            for (int m = 0; m < members.size(); m++) {
                started.get(side).exchange(m, loaded.get(side).get(m));
            }
        }
        members.forEach(member -> member.storage().endLoan());
        exchanges = started;
        return started;
    }

    @Override
    public void endLoading() throws InterruptedException {
        loaders.finish();
        members.forEach(member -> member.device().awaitCopies());
        JoinSide small = isExchanging() ? null : plan.smallSide();
        if (small != null && replicate(small)) {
            replicated = small;
        } else {
            startExchange(small == null ? plan.notSmallReason() : NO_ROOM_FOR_ALL);
        }
        for (RunExchange exchange : exchanges.values()) {
            exchange.finish();
        }
        exchangeMemory.close();
        Map<BulkWait, List<Long>> waitsNs = new EnumMap<>(BulkWait.class);
        for (BulkWait wait : BulkWait.values()) {
            waitsNs.put(wait, members.stream().map(member -> member.waitedNs(wait)).toList());
        }
        loadWaitsNs = waitsNs;
    }

    @Override
    public BulkJoinPlan start(boolean isAscending) throws InterruptedException {
        threads = new BulkMemberThreads(members);
        List<BulkJoinPlan> plans = threads.awaitStarts();
        return replicated == null
                ? plan.repartitioned(exchangeReason, mostOwnedRows(), members, plans)
                : plan.replicated(replicated, members, plans);
    }

    /**
     * Copies the rows of an input to all devices.
     *
     * @return false if a device has no room; then nothing is copied, and nothing is reserved
     */
    private boolean replicate(JoinSide side) throws InterruptedException {
        List<DeviceRuns.Lent> loaded = new ArrayList<>();
        for (DeviceBulkEngine member : members) {
            DeviceRuns runs = member.storage().joinedRuns(side);
            long others = plan.rowCount(side) - runs.rowCount();
            if (!member.storage().reserveReplica(side, others)) {
                members.forEach(reserved -> reserved.storage().cancelReplica(side));
                return false;
            }
            loaded.add(new DeviceRuns.Lent(List.copyOf(runs.addresses()), runs.rowCount()));
        }
        for (int owner = 0; owner < members.size(); owner++) {
            for (int sender = 0; sender < members.size(); sender++) {
                if (sender != owner) {
                    DeviceRuns.Lent rows = loaded.get(sender);
                    members.get(owner).storage().joinedRuns(side).append(rows.runs(), rows.rows());
                }
            }
        }
        return true;
    }

    private long mostOwnedRows() {
        long most = 0;
        for (int m = 0; m < members.size(); m++) {
            int member = m;
            most =
                    Math.max(
                            most,
                            exchanges.values().stream()
                                    .mapToLong(exchange -> exchange.ownedRows().get(member))
                                    .sum());
        }
        return most;
    }

    @Override
    public @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        return threads.next(timeoutNs);
    }

    @Override
    public boolean isExhausted() {
        return threads.isExhausted();
    }

    @Override
    public int waitingResults() {
        return threads.waitingResults();
    }

    @Override
    public long memoryBytes() {
        return members.stream().mapToLong(DeviceBulkEngine::memoryBytes).sum();
    }

    @Override
    public long fileBytes() {
        return members.stream().mapToLong(DeviceBulkEngine::fileBytes).sum();
    }

    /** A thread waits for each device, while inputs are loaded and afterwards. */
    @Override
    public long waitedNs(BulkWait wait) {
        List<Long> loadNs = loadWaitsNs.getOrDefault(wait, List.of());
        long mostLoadNs = 0;
        long mostNs = 0;
        for (int m = 0; m < members.size(); m++) {
            long memberNs = members.get(m).waitedNs(wait);
            long memberLoadNs = loadNs.isEmpty() ? memberNs : loadNs.get(m);
            mostLoadNs = Math.max(mostLoadNs, memberLoadNs);
            mostNs = Math.max(mostNs, memberNs - memberLoadNs);
        }
        return mostLoadNs + mostNs;
    }

    @Override
    public void stop() {
        loaders.close();
        if (threads != null) {
            threads.close();
        }
    }

    @Override
    public void close() {
        stop();
        members.forEach(GroupBulkEngine::awaitKernels);
        // copies of the other devices read the pinned memory of the first one
        List<DeviceBulkEngine> lastFirst = new ArrayList<>(members);
        Collections.reverse(lastFirst);
        Closing.all(lastFirst, DeviceBulkEngine::close);
    }

    /** Kernels read memory of other devices, which must not be freed before. */
    private static void awaitKernels(DeviceBulkEngine member) {
        try {
            member.device().awaitKernels();
        } catch (GpuUnavailableException e) {
            // the device drops its memory, or waits again, when it is closed
        }
    }
}
