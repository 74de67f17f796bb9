// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.GroupMerge;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins on a device and on the host together, each within its memory budget; build rows that fit
 * neither are spilled to the log.
 *
 * <p>The build side is divided by radix partition into {@linkplain PartitionGroup partition
 * groups}. A probe chunk goes to the engine of its partition group. It has rows of one partition,
 * or of many if there is one group. Results are emitted in the order of the probe chunks.
 *
 * <pre>
 *   probe chunk -- its partition group --+-- DEVICE   engine of the group, budgets of devices
 *                                        +-- HOST     engine of the group, host budget
 *                                        +-- SPILLED  temporary tables, host budget
 * </pre>
 *
 * <p>If the device fails, the engine continues without it: the groups of the device are spilled
 * until the host has tables for them, and no result is lost or repeated. Two cases throw {@link
 * IllegalStateException} instead, so that the job restarts from its last checkpoint: the device
 * held groups of an aggregating join, or it emitted more results of incomplete fact rows than
 * {@link FallbackDeduplicator} records.
 *
 * <p>Not thread-safe, except for {@link #stats()}, {@link #tiers()}, {@link #tierUsage()}, {@link
 * #memberSkew()}, {@link #fastestEngine()}, {@link #deviceFailure()}, {@link
 * #acceptsMixedPartitions()} and {@link #isSpilled}. Partition numbers are those of the chunks, not
 * relative to {@link HybridOptions#firstPartition()}.
 */
public final class HybridJoinEngine extends AbstractJoinEngine<HybridProbe> {

    private static final int MAX_IN_FLIGHT = 32;

    private final HybridOptions options;
    private final TierEngines device;
    private final TierEngines host;
    private final BuildChunks log;
    private final Consumer<EngineUnavailableException> onDeviceLost;
    private final PartitionBuildBytes rows;
    private final Placement placement;
    private final SpilledPartitionJoins spilledJoins;
    private final ArrayDeque<JoinEngine> retired = new ArrayDeque<>();

    /** Null if the join does not aggregate. */
    private final @Nullable GroupMerge groups;

    private final FallbackDeduplicator deduplicator;

    private volatile PlacementSnapshot snapshot = PlacementSnapshot.NONE;

    /**
     * @param device creates forkable engines for the device; null if there is none
     * @param host creates forkable engines for the host
     * @param log contains each build chunk before it is submitted
     * @param onDeviceLost receives the reason when the engine stops using the device, on the thread
     *     that calls the engine
     * @throws IllegalArgumentException if a dimension is a changelog
     */
    public HybridJoinEngine(
            JoinSpec spec,
            HybridOptions options,
            @Nullable JoinEngineFactory device,
            JoinEngineFactory host,
            BuildChunks log,
            Consumer<EngineUnavailableException> onDeviceLost) {
        super(spec, MAX_IN_FLIGHT);
        if (spec.hasChangelog()) {
            throw new IllegalArgumentException(
                    "A changelog dimension cannot be divided into partition groups: dimensions="
                            + spec.dimensions().stream().map(DimensionSpec::name).toList());
        }
        this.options = options;
        this.device = new TierEngines(MemoryTier.DEVICE, device);
        this.host = new TierEngines(MemoryTier.HOST, host);
        this.log = log;
        this.onDeviceLost = onDeviceLost;
        this.rows = new PartitionBuildBytes(options);
        this.placement =
                new Placement(
                        options,
                        spec.factSchema().fixedRowBytes(),
                        rows,
                        log,
                        this.device,
                        this.host,
                        this::finishMove,
                        this::loseDevice);
        this.groups = spec.isAggregating() ? new GroupMerge(spec.aggregation()) : null;
        this.spilledJoins =
                new SpilledPartitionJoins(
                        this::openSpilledJoin, engine -> groups.add(engine.drainGroups()));
        this.deduplicator = new FallbackDeduplicator(spec, device != null);
    }

    /**
     * Returns the memory tier of each partition group, in order; empty until the tables are built.
     * Thread-safe.
     */
    public List<MemoryTier> tiers() {
        return locations().stream().map(TableLocation::tier).toList();
    }

    /** Returns the location of each partition group, as {@link #tiers()} does its tier. */
    List<TableLocation> locations() {
        return snapshot.locations();
    }

    /**
     * Returns what each location holds, the fastest first, without empty ones; empty until the
     * tables are built. Thread-safe.
     */
    public List<TierUsage> tierUsage() {
        return snapshot.usage();
    }

    /**
     * Returns the probes of the busiest member of a device group against the mean of all members,
     * as last measured; 1 if no table is on one member alone. Thread-safe.
     */
    public double memberSkew() {
        return placement.memberSkew();
    }

    /**
     * Returns an engine of the device, or of the host if the device is not in use, to read its
     * statistics. This engine owns it. Null until the tables of its tier are built.
     */
    public @Nullable JoinEngine fastestEngine() {
        return device.isOpen() ? device.shared() : host.shared();
    }

    /** Returns why the device is not used; null if it is used or there is none. */
    public @Nullable EngineUnavailableException deviceFailure() {
        return device.failure();
    }

    /**
     * Returns whether the build rows of a partition are spilled, so that its probes should be
     * deferred. False until the tables are built. Thread-safe.
     *
     * @throws IllegalArgumentException if this subtask does not own the partition
     */
    public boolean isSpilled(int partition) {
        List<TableLocation> current = locations();
        return !current.isEmpty()
                && !current.get(placement.groupOf(rows.index(partition)).number()).hasTables();
    }

    /**
     * Returns whether a probe chunk may have rows of many partitions: there is one partition group,
     * and it has tables. Chunks submitted before a move are joined regardless. Thread-safe.
     */
    public boolean acceptsMixedPartitions() {
        List<TableLocation> current = locations();
        return current.size() == 1 && current.get(0).hasTables();
    }

    /** Returns the bytes of facts that justify building the tables of a spilled partition. */
    public long worthwhileFactBytes(int partition) {
        return SpillCost.worthwhileFactBytes(rows.bytes(rows.index(partition)));
    }

    // ------------------------------------------------------------------ device of the process

    /**
     * Divides the device equally among the subtasks of the process, until {@link #expect} tells
     * what each of them builds. Without either call the engine may fill the device.
     *
     * @param subtasks number of subtasks that share the device, this one included, at least 1
     */
    public void shareDeviceEqually(int subtasks) {
        placement.setDeviceShare(DeviceShare.equal(subtasks));
    }

    /**
     * Divides the device among the subtasks of the process by their build bytes, and tells the
     * engines of the device what the process builds. While BUILDING the build side may be divided
     * again; while JOINING partition groups move, from the next probe on. May be called again.
     */
    public void expect(BuildShare share) {
        placement.setDeviceShare(DeviceShare.of(share));
        device.expect(share);
    }

    // ------------------------------------------------------------------ build side

    /**
     * {@inheritDoc}
     *
     * <p>Counts bytes only; tables are built from the log after the last chunk.
     */
    @Override
    protected void append(int dimension, Chunk chunk) {
        if (dimension == options.partitionedDimension()) {
            rows.add(rows.index(chunk.partition()), EngineChecks.payloadBytes(chunk));
        }
    }

    /**
     * Counts build rows of the partitioned dimension that the log already contains, instead of a
     * submission of their chunks.
     *
     * @param bytes as {@link EngineChecks#payloadBytes} counts them
     * @throws IllegalStateException unless LOADING
     * @throws IllegalArgumentException if this subtask does not own the partition
     */
    public void addBuild(int partition, long rowCount, long bytes) {
        state().require(EngineState.LOADING);
        rows.add(rows.index(partition), bytes);
        countBuild(rowCount, bytes);
    }

    /**
     * {@inheritDoc}
     *
     * @throws EngineUnavailableException if the host has no room for the replicated dimensions
     */
    @Override
    protected boolean buildTables(long maxRows) {
        if (!openDevice(maxRows) || !host.openStep(spec(), log, maxRows)) {
            return false;
        }
        if (!placement.placeStep(maxRows)) {
            return false;
        }
        publishSnapshot();
        return true;
    }

    /** Returns whether the device is open or out of use. */
    private boolean openDevice(long maxRows) {
        try {
            return device.openStep(spec(), log, maxRows);
        } catch (EngineUnavailableException e) {
            device.lose(e);
            deduplicator.onDeviceFailure();
            onDeviceLost.accept(e);
            return true;
        }
    }

    private void publishSnapshot() {
        snapshot = PlacementSnapshot.of(placement, device, host);
    }

    /** Moves the group to its new tier. The last batch of its old engine stays readable. */
    private void finishMove(PartitionGroup partitionGroup) {
        drainGroupsOf(partitionGroup);
        JoinEngine old = partitionGroup.move();
        if (old != null) {
            retired.add(old);
        }
        if (state() == EngineState.BUILDING) {
            closeRetired();
            return;
        }
        publishSnapshot();
        feed(partitionGroup);
    }

    // ------------------------------------------------------------------ probe side

    @Override
    protected HybridProbe open(InFlightProbe pending) {
        int partition = pending.chunk().partition();
        int index = rows.index(partition);
        return new HybridProbe(pending, placement.groupOf(index), options.firstPartition() + index);
    }

    @Override
    protected void queued(Chunk chunk) {
        PartitionGroup partitionGroup = placement.groupOf(rows.index(chunk.partition()));
        placement.probed(partitionGroup, chunk.rowCount());
        feed(partitionGroup);
    }

    /**
     * Counts facts that are deferred now and submitted later with others of their partition, so
     * that placement sees the partition's demand.
     */
    public void announceDeferred(int partition, long rowCount) {
        placement.announceDeferred(placement.groupOf(rows.index(partition)), rowCount);
    }

    /**
     * Submits chunks of a partition group to its engine, unless the group is moving.
     *
     * <p>A host engine works only when it is polled. It gets the oldest chunk only, so that its
     * group can move at any other time.
     */
    private void feed(PartitionGroup partitionGroup) {
        if (!partitionGroup.tier().hasTables() || partitionGroup.isMoving()) {
            return;
        }
        try {
            for (HybridProbe probe : queue()) {
                if (partitionGroup.tier() == MemoryTier.HOST && probe != queue().head()) {
                    return;
                }
                if (probe.partitionGroup() == partitionGroup && !probe.isSubmitted()) {
                    if (!partitionGroup
                            .engine()
                            .submitProbe(probe.chunk(), probe.completedRows())) {
                        return;
                    }
                    probe.markSubmitted();
                }
            }
        } catch (EngineUnavailableException e) {
            loseDevice(partitionGroup, e);
        }
    }

    @Override
    protected @Nullable ResultBatch nextBatch() {
        spilledJoins.closeIfUnused(queue());
        closeRetired();
        HybridProbe head = queue().head();
        if (head == null || awaitsDrain()) {
            return null;
        }
        ResultBatch batch = null;
        try {
            batch =
                    head.partitionGroup().tier().hasTables()
                            ? pollGroupOf(head)
                            : spilledJoins.poll(head);
        } catch (EngineUnavailableException e) {
            loseDevice(head.partitionGroup(), e);
        }
        return batch == null ? null : emit(head, batch);
    }

    private @Nullable ResultBatch pollGroupOf(HybridProbe head) {
        PartitionGroup partitionGroup = head.partitionGroup();
        if (!head.isSubmitted()) {
            feed(partitionGroup);
        }
        if (!head.isSubmitted()) {
            return null;
        }
        ResultBatch batch = partitionGroup.engine().poll();
        if (batch == null && partitionGroup.engine().awaitsDrain()) {
            drainGroupsOf(partitionGroup);
        }
        return batch;
    }

    private SpilledPartitionJoin openSpilledJoin(HybridProbe first) {
        return new SpilledPartitionJoin(
                spec(),
                options.partitionedDimension(),
                first,
                host,
                log,
                this::retireSpilledJoin,
                placement::makeRoomOnHost,
                options.memoryWaitNs());
    }

    private void retireSpilledJoin(JoinEngine engine) {
        retired.add(engine);
        if (groups != null && state() == EngineState.JOINING) {
            groups.add(engine.drainGroups());
        }
    }

    private ResultBatch emit(HybridProbe head, ResultBatch polled) {
        PartitionGroup partitionGroup = head.partitionGroup();
        ResultBatch batch =
                deduplicator.deduplicate(polled, partitionGroup.tier() == MemoryTier.DEVICE);
        if (spec().isAggregating()
                && partitionGroup.tier().hasTables()
                && batch.completedRows() > head.completedRows()) {
            partitionGroup.setHasGroups(true);
        }
        queue().delivered(batch);
        if (batch.isLast()) {
            partitionGroup.removeSubmitted();
            placement.step();
            feed(partitionGroup);
        }
        return batch;
    }

    // ------------------------------------------------------------------ groups

    @Override
    public boolean awaitsDrain() {
        return groups != null && groups.isFull();
    }

    @Override
    protected GroupRows drainedGroups() {
        if (queue().size() == 0) {
            placement.groups().forEach(this::drainGroupsOf);
            spilledJoins.drainGroups();
        }
        return groups.drain();
    }

    private void drainGroupsOf(PartitionGroup partitionGroup) {
        if (partitionGroup.engine() == null
                || !partitionGroup.hasGroups() && !partitionGroup.engine().awaitsDrain()) {
            return;
        }
        try {
            groups.add(partitionGroup.engine().drainGroups());
            // A device may have aggregated more of a chunk than was polled.
            partitionGroup.setHasGroups(partitionGroup.hasSubmitted());
        } catch (EngineUnavailableException e) {
            loseDevice(partitionGroup, e);
        }
    }

    // ------------------------------------------------------------------ device failure

    private void loseDevice(PartitionGroup failed, EngineUnavailableException e) {
        if (failed.tier() != MemoryTier.DEVICE) {
            fail();
            throw e;
        }
        loseDevice(e);
    }

    /** Continues without the device, from the last emitted results. */
    private void loseDevice(EngineUnavailableException e) {
        List<PartitionGroup> lost =
                placement.groups().stream()
                        .filter(group -> group.tier() == MemoryTier.DEVICE)
                        .toList();
        if (lost.stream().anyMatch(PartitionGroup::hasGroups)) {
            fail();
            throw new IllegalStateException(
                    "A failed device held groups of joined facts. The job restarts"
                            + " from the last checkpoint.",
                    e);
        }
        deduplicator.onDeviceFailure();
        placement.deviceLost(e);
        for (HybridProbe probe : queue()) {
            if (lost.contains(probe.partitionGroup())) {
                probe.clearSubmitted();
            }
        }
        lost.forEach(this::spillLost);
        onDeviceLost.accept(e);
        publishSnapshot();
    }

    private void spillLost(PartitionGroup partitionGroup) {
        partitionGroup.clearSubmitted();
        partitionGroup.stay();
        partitionGroup.spill();
        retired.add(partitionGroup.move());
    }

    /** Closes engines whose last batch is no longer read. */
    private void closeRetired() {
        while (!retired.isEmpty()) {
            retired.remove().close();
        }
        deduplicator.closeFilterIfDone();
    }

    // ------------------------------------------------------------------ statistics

    @Override
    protected long tableBytes() {
        return snapshot.tableBytes();
    }

    @Override
    protected void release() {
        try (host;
                device;
                placement;
                deduplicator) {
            spilledJoins.close();
            closeRetired();
        }
    }
}
