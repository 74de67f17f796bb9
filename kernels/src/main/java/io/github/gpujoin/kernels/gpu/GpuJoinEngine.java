// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupMerge;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins on the GPUs of a group. Tables are in the memory of each; facts are read from a ring in
 * mapped host memory or in device memory ({@link RingMemory}); results are written to mapped host
 * memory. The persistent kernel of each device does the work (Thostrup et al., "Distributed GPU
 * Joins on Fast RDMA-capable Networks", section 4).
 *
 * <p>Asynchronous: {@link #poll()} returns null while the kernels work. The engine cuts a chunk
 * into segments, which thread blocks join concurrently, each on the device with the fewest segments
 * in flight; results are returned in order. Variable-width columns stay on the host. One thread
 * calls at a time.
 *
 * <p>Changes of a changelog dimension accumulate until the next facts arrive or their buffer is
 * full. Applying them stops the serving kernels for all engines of the devices, as {@link #fork()},
 * {@link #buildStep}, {@link #drainGroups()} and {@link #close()} do for a moment.
 *
 * <p>If a device fails, the engine enters FAILED and throws {@link GpuUnavailableException}. {@link
 * #snapshot()} still contains the pending probes, so that another engine can continue with them.
 */
public final class GpuJoinEngine extends AbstractJoinEngine<SegmentCutter.Probe>
        implements ForkableJoinEngine {

    private static final Logger LOG = LoggerFactory.getLogger(GpuJoinEngine.class);
    private static final int MAX_IN_FLIGHT = 64;

    private final GpuOptions options;
    private final DeviceGroup group;
    private final MemoryLimits limits;

    /** By member of the group. */
    private final List<Buffers> buffers;

    private final FactSegments facts;
    private final GpuTables tables;
    private boolean holdsTables = true;

    /** Whether all build rows have been copied to the devices. */
    private boolean isFlushed;

    /** Whether the kernels can read chunks in slots. */
    private final boolean readsInPlace;

    /** Open members, all of the group while JOINING. */
    private final List<EngineMember> members = new ArrayList<>();

    private @Nullable SegmentDispatcher segments;
    private ResultBatch emptyBatch;

    /**
     * Creates an engine whose host memory is limited by {@link GpuOptions#memory()} only. The first
     * engine of a device opens the device and loads its kernels.
     *
     * @throws GpuUnavailableException if a device of the options cannot run this join
     */
    public GpuJoinEngine(JoinSpec spec, GpuOptions options) {
        this(spec, options, MemoryReservations.unlimited());
    }

    /**
     * @param hostMemory from which pinned memory and variable-width columns are reserved
     * @throws GpuUnavailableException if a device cannot run this join
     */
    GpuJoinEngine(JoinSpec spec, GpuOptions options, MemoryReservations hostMemory) {
        this(spec, options, hostMemory, DeviceGroup.acquire(options), null);
    }

    /**
     * @param lease released when the engine closes, or here if the kernels do not support the join
     */
    GpuJoinEngine(JoinSpec spec, GpuOptions options, DeviceLease lease) {
        this(spec, options, MemoryReservations.unlimited(), DeviceGroup.of(lease), null);
    }

    /**
     * @param group released when the engine closes, or here if the kernels do not support the join
     * @param shared tables of another engine, retained for this one; null to build tables
     */
    GpuJoinEngine(
            JoinSpec spec,
            GpuOptions options,
            MemoryReservations hostMemory,
            DeviceGroup group,
            @Nullable GpuTables shared) {
        super(checked(spec, group), MAX_IN_FLIGHT);
        this.options = options.ofOneJoin();
        this.group = group;
        this.limits = new MemoryLimits(options.memory(), hostMemory);
        this.buffers = group.buffers(limits);
        this.facts = new FactSegments(spec, options.encodeSegments());
        this.readsInPlace =
                options.ringMemory() == RingMemory.HOST && !facts.chunkColumns().isEmpty();
        try {
            JoinPlan.requireFits(spec, facts);
        } catch (GpuUnavailableException e) {
            group.release();
            throw e;
        }
        this.tables = shared != null ? shared : new GpuTables(spec, group, options, limits);
    }

    /** Releases the lease of a join that no engine takes. */
    private static JoinSpec checked(JoinSpec spec, DeviceGroup group) {
        try {
            EngineChecks.integerGroups(spec);
            return spec;
        } catch (IllegalArgumentException e) {
            group.release();
            throw e;
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws GpuUnavailableException if its buffers do not fit, or the device is lost
     */
    @Override
    public GpuJoinEngine fork() {
        requireForkable();
        group.retain();
        GpuJoinEngine fork =
                new GpuJoinEngine(spec(), options, limits.hostMemory(), group, tables.retain());
        try {
            group.whileStopped(options.stallTimeoutNs(), fork::openMembers);
            fork.joinAs(this);
            return fork;
        } catch (Throwable e) {
            fork.close();
            throw e;
        }
    }

    @Override
    public GpuJoinEngine forkLoading(int dimension) {
        requireForkable();
        return forkLoading(group, tables.forkLoading(dimension, limits));
    }

    @Override
    public GpuJoinEngine forkLoading(int dimension, int member) {
        requireForkable();
        return forkLoading(group.member(member), tables.forkLoading(dimension, limits, member));
    }

    private GpuJoinEngine forkLoading(DeviceGroup devices, GpuTables loading) {
        devices.retain();
        return new GpuJoinEngine(spec(), options, limits.hostMemory(), devices, loading);
    }

    @Override
    public TableMemory tableMemory() {
        boolean isBySize = options.spread() == TableSpread.BY_SIZE;
        return new TableMemory(
                group.availableDeviceBytes(options.memory()),
                isBySize && group.size() > 1,
                tables.canShard());
    }

    @Override
    public boolean isSharded(int dimension) {
        return tables.isSharded(dimension);
    }

    /** Returns the devices that join, such as {@code 0}, or {@code 0.1} for a virtual device. */
    public List<String> devices() {
        return group.members().stream().map(lease -> lease.device().toString()).toList();
    }

    /** {@inheritDoc} Counts the memory of all devices, since a table counts on each of them. */
    @Override
    public long capacityBytes() {
        return group.capacityBytes(options.memory());
    }

    /**
     * {@inheritDoc} Blocks of the kernels are assigned by it ({@link GridMode#HISTOGRAM}), and
     * tables of forks that all subtasks together cannot replicate are sharded.
     */
    @Override
    public void expect(BuildShare share) {
        tables.expect(share.processRows());
        group.members().forEach(lease -> lease.ring().expect(share));
    }

    /** {@inheritDoc} Engines of one group share it. */
    @Override
    public Object tableLocation() {
        return group;
    }

    @Override
    protected void append(int dimension, Chunk chunk) {
        if (state() == EngineState.JOINING) {
            appendChanges(dimension, chunk);
        } else {
            allOrNothing(() -> appendChanges(dimension, chunk));
        }
    }

    /** Appends build rows or changes; applies the changes if too many have accumulated. */
    private void appendChanges(int dimension, Chunk chunk) {
        tables.append(dimension, chunk);
        if (tables.isFullOfChanges()) {
            applyChanges();
        }
    }

    private void applyChanges() {
        tables.flushChanges();
        group.whileStopped(
                options.stallTimeoutNs(),
                () -> {
                    if (tables.applyChanges() && !members.isEmpty()) {
                        // Another layout tells readers that addresses of variable-width columns
                        // are no longer valid.
                        ResultLayout layout = members.get(0).newLayout();
                        members.forEach(member -> member.replaceTables(layout));
                        emptyBatch = new ResultBatch(layout, members.get(0).emptyAddress());
                    }
                });
    }

    /**
     * {@inheritDoc} One step builds one table of any size, since a device inserts several billion
     * rows a second. Between two steps the serving kernel runs for other engines.
     */
    @Override
    protected boolean buildTables(long maxRows) {
        if (!isFlushed) {
            allOrNothing(tables::flush);
            isFlushed = true;
            return false;
        }
        boolean isLast = tables.isBuilt();
        Runnable step = isLast ? this::openMembers : tables::buildNext;
        allOrNothing(() -> group.whileStopped(options.stallTimeoutNs(), step));
        return isLast;
    }

    /** Runs an allocation; if memory is exhausted, frees all memory of this engine for others. */
    private void allOrNothing(Runnable allocation) {
        try {
            allocation.run();
        } catch (GpuUnavailableException e) {
            if (e.failure() == GpuFailure.OUT_OF_DEVICE_MEMORY) {
                group.whileHeldStopped(options.stallTimeoutNs(), this::freeDevices);
            }
            throw e;
        }
    }

    private void openMembers() {
        ResultLayout layout = null;
        for (int i = 0; i < group.size(); i++) {
            EngineMember member =
                    new EngineMember(
                            spec(),
                            options,
                            group.members().get(i),
                            facts,
                            buffers.get(i),
                            tables.tables(i),
                            layout,
                            readsInPlace);
            members.add(member);
            layout = layout == null ? member.layout() : layout;
        }
        segments = new SegmentDispatcher(members);
        emptyBatch = new ResultBatch(layout, members.get(0).emptyAddress());
    }

    @Override
    protected SegmentCutter.Probe open(InFlightProbe pending) {
        return new SegmentCutter.Probe(pending);
    }

    @Override
    protected void queued(Chunk chunk) {
        if (tables.hasChanges()) {
            applyChanges();
        }
        segments.cut(queue());
    }

    /** {@inheritDoc} The kernel does, in its own copy. */
    @Override
    public boolean verifiesSlots() {
        return readsInPlace;
    }

    /** Returns the bytes of facts that the CPU copied for the kernel. Thread-safe. */
    public long payloadBytesCopied() {
        return segments == null ? 0 : segments.copiedBytes();
    }

    @Override
    protected @Nullable ResultBatch nextBatch() {
        ResultBatch[] batch = new ResultBatch[1];
        orFail(() -> batch[0] = pollSegments());
        if (batch[0] != null) {
            queue().delivered(batch[0]);
        }
        return batch[0];
    }

    private @Nullable ResultBatch pollSegments() {
        segments.releaseBatch();
        if (segments.groupsFull()) {
            return null;
        }
        segments.cut(queue());
        SegmentCutter.Probe head = queue().head();
        if (head != null && head.completedRows() == head.chunk().rowCount()) {
            emptyBatch.set(head.chunk(), 0, head.completedRows());
            return emptyBatch;
        }
        return segments.poll();
    }

    @Override
    public boolean awaitsDrain() {
        return segments != null && segments.groupsFull();
    }

    /** {@inheritDoc} Stops the serving kernels for all engines of the devices. */
    @Override
    protected GroupRows drainedGroups() {
        List<GroupRows> drained = new ArrayList<>();
        orFail(
                () -> {
                    group.whileStopped(
                            options.stallTimeoutNs(),
                            () -> members.forEach(member -> drained.add(member.drainGroups())));
                    segments.resumeAfterDrain();
                });
        if (drained.size() == 1) {
            return drained.get(0);
        }
        GroupMerge merge = new GroupMerge(spec().aggregation());
        drained.forEach(merge::add);
        return merge.drain();
    }

    /** Returns the kind of table of each dimension; empty while LOADING. */
    List<TableKind> tableKinds() {
        return tables.tables(0).stream().map(GpuTable::kind).toList();
    }

    /** Returns the device time of all completed steps, summed over blocks; 0 while LOADING. */
    long deviceBusyNs() {
        return segments == null ? 0 : segments.deviceBusyNs();
    }

    /**
     * Returns the memory use of the devices together. All engines of the process on these devices
     * share the figure, so do not sum it over engines. Thread-safe.
     */
    public MemoryUse memoryUse() {
        return group.members().stream()
                .map(lease -> lease.memory().use())
                .reduce(MemoryUse::plus)
                .orElseThrow();
    }

    /**
     * Returns the least of the counters of all devices, each of which increases while its kernel
     * waits for work; so it stands still soon after one of them. 0 once a device is closed.
     * Thread-safe.
     */
    public long kernelHeartbeat() {
        return group.members().stream().mapToLong(DeviceLease::heartbeatIfOpen).min().orElseThrow();
    }

    /**
     * Returns the load of each lane of the kernels, device by device, summed over all engines of
     * the devices.
     */
    public List<LaneLoad> laneLoads() {
        return group.members().stream()
                .flatMap(lease -> lease.ring().laneLoads().stream())
                .toList();
    }

    @Override
    protected long tableBytes() {
        return tables.lengthBytes();
    }

    @Override
    protected void release() {
        try {
            if (segments != null) {
                segments.awaitSteps();
            }
            group.whileHeldStopped(options.stallTimeoutNs(), this::freeDevices);
        } catch (GpuUnavailableException e) {
            freeHealthyDevices();
        } finally {
            try {
                if (segments != null) {
                    segments.releaseChunks();
                }
            } finally {
                group.release();
            }
        }
    }

    /**
     * Frees the memory of devices that work, and drops that of lost ones. Each failed attempt finds
     * one more device lost, so the last one has none to stop.
     */
    private void freeHealthyDevices() {
        for (int attempt = 0; attempt <= group.held().size(); attempt++) {
            try {
                group.whileHealthyStopped(options.stallTimeoutNs(), this::freeDevices);
                return;
            } catch (GpuUnavailableException e) {
                LOG.warn("Another device failed while memory was freed: {}", e.getMessage());
            }
        }
    }

    private void freeDevices() {
        buffers.forEach(Buffers::close);
        if (holdsTables) {
            holdsTables = false;
            tables.release();
        }
        members.forEach(EngineMember::freePlan);
        members.clear();
    }
}
