// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Joins on a GPU. Tables are in device memory; facts are read from a ring in mapped host memory or
 * in device memory ({@link RingMemory}); results are written to mapped host memory. The persistent
 * kernel of the device does the work (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable
 * Networks", section 4).
 *
 * <p>Asynchronous: {@link #poll()} returns null while the kernel works. The engine cuts a chunk
 * into segments, which thread blocks join concurrently; results are returned in order.
 * Variable-width columns stay on the host. One thread calls at a time.
 *
 * <p>Changes of a changelog dimension accumulate until the next facts arrive or their buffer is
 * full. Applying them stops the serving kernel for all engines of the device, as {@link #fork()},
 * {@link #buildStep}, {@link #drainGroups()} and {@link #close()} do for a moment.
 *
 * <p>If the device fails, the engine enters FAILED and throws {@link GpuUnavailableException}.
 * {@link #snapshot()} still contains the pending probes, so that another engine can continue with
 * them.
 */
public final class GpuJoinEngine extends AbstractJoinEngine<SegmentCutter.Probe>
        implements ForkableJoinEngine {

    private static final int MAX_IN_FLIGHT = 64;

    private final GpuOptions options;
    private final DeviceLease lease;
    private final MemoryLimits limits;
    private final Buffers buffers;
    private final FactSegments facts;
    private final GpuTables tables;
    private boolean holdsTables = true;

    /** Whether all build rows have been copied to the device. */
    private boolean isFlushed;

    /** Whether the kernel can read chunks in slots. */
    private final boolean readsInPlace;

    private @Nullable SegmentPipe pipe;
    private @Nullable SegmentCutter cutter;
    private JoinPlan joinPlan;
    private ResultFormat format;

    /** Null if the join does not aggregate. */
    private GpuGroups groups;

    private ResultBatch emptyBatch;
    private long emptyAddress;
    private int plan = -1;

    /** Whether there may be device memory to decode rows. */
    private boolean mayDecode = true;

    /**
     * Creates an engine whose host memory is limited by {@link GpuOptions#memory()} only. The first
     * engine of a device opens the device and loads its kernels.
     *
     * @throws GpuUnavailableException if the device of the options cannot run this join
     */
    public GpuJoinEngine(JoinSpec spec, GpuOptions options) {
        this(spec, options, MemoryReservations.unlimited());
    }

    /**
     * @param hostMemory from which pinned memory and variable-width columns are reserved
     * @throws GpuUnavailableException if no device can run this join
     */
    GpuJoinEngine(JoinSpec spec, GpuOptions options, MemoryReservations hostMemory) {
        this(spec, options, hostMemory, DeviceLease.acquire(options), null);
    }

    /**
     * @param lease released when the engine closes, or here if the kernels do not support the join
     */
    GpuJoinEngine(JoinSpec spec, GpuOptions options, DeviceLease lease) {
        this(spec, options, MemoryReservations.unlimited(), lease, null);
    }

    /**
     * @param shared tables of another engine, retained for this one; null to build tables
     */
    GpuJoinEngine(
            JoinSpec spec,
            GpuOptions options,
            MemoryReservations hostMemory,
            DeviceLease lease,
            @Nullable GpuTables shared) {
        super(checked(spec, lease), MAX_IN_FLIGHT);
        this.options = options;
        this.lease = lease;
        this.limits = new MemoryLimits(options.memory(), hostMemory);
        this.buffers = lease.memory().buffers(limits);
        this.facts = new FactSegments(spec, options.encodeSegments());
        this.readsInPlace =
                options.ringMemory() == RingMemory.HOST && !facts.chunkColumns().isEmpty();
        try {
            JoinPlan.requireFits(spec, facts);
        } catch (GpuUnavailableException e) {
            lease.release();
            throw e;
        }
        this.tables = shared != null ? shared : new GpuTables(spec, lease, options, limits);
    }

    /** Releases the lease of a join that no engine takes. */
    private static JoinSpec checked(JoinSpec spec, DeviceLease lease) {
        try {
            EngineChecks.integerGroups(spec);
            return spec;
        } catch (IllegalArgumentException e) {
            lease.release();
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
        lease.retain();
        GpuJoinEngine fork =
                new GpuJoinEngine(spec(), options, limits.hostMemory(), lease, tables.retain());
        try {
            lease.whileStopped(options.stallTimeoutNs(), fork::openPipe);
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
        lease.retain();
        return new GpuJoinEngine(
                spec(),
                options,
                limits.hostMemory(),
                lease,
                tables.forkLoading(dimension, options, limits));
    }

    /** {@inheritDoc} Counts device memory only. */
    @Override
    public long availableBytes() {
        return lease.memory().availableDeviceBytes(options.memory());
    }

    /** {@inheritDoc} Engines of one lease share it. */
    @Override
    public Object tableLocation() {
        return lease;
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
        lease.whileStopped(
                options.stallTimeoutNs(),
                () -> {
                    if (tables.applyChanges() && pipe != null) {
                        joinPlan.writeTables(lease.driver());
                        replaceLayout();
                    }
                });
    }

    /**
     * Replaces the layout object, by which readers notice that addresses of variable-width columns
     * are no longer valid.
     */
    private void replaceLayout() {
        ResultFormat.Reader reader = format.newReader();
        pipe.replaceReader(reader);
        emptyBatch = new ResultBatch(reader.layout(), emptyAddress);
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
        Runnable step = isLast ? this::openPipe : tables::buildNext;
        allOrNothing(() -> lease.whileStopped(options.stallTimeoutNs(), step));
        return isLast;
    }

    /** Runs an allocation; if memory is exhausted, frees all memory of this engine for others. */
    private void allOrNothing(Runnable allocation) {
        try {
            allocation.run();
        } catch (GpuUnavailableException e) {
            if (e.failure() == GpuFailure.OUT_OF_DEVICE_MEMORY) {
                lease.whileStopped(options.stallTimeoutNs(), this::freeDevice);
            }
            throw e;
        }
    }

    private void openPipe() {
        format = ResultFormat.of(spec(), tables.tables(), options, buffers);
        ResultFormat.Reader reader = format.newReader();
        int segmentBytes = facts.plainBytes(options.segmentRows());
        SegmentSlots slots =
                new SegmentSlots(
                        lease.driver(),
                        buffers,
                        options.ringMemory(),
                        options.slots(),
                        segmentBytes,
                        format);
        if (spec().isAggregating()) {
            groups = new GpuGroups(spec().aggregation(), lease.driver(), buffers, lease.blocks());
        }
        plan = lease.plans().reserve();
        joinPlan = new JoinPlan(spec(), facts, format, tables.tables(), false, groups);
        joinPlan.write(
                lease.driver(),
                buffers,
                lease.plans().decoding(),
                slots,
                lease.plans().address(plan));
        SegmentSizer sizer =
                new SegmentSizer(
                        options.segmentRows(),
                        spec().isAggregating()
                                ? DeviceLease.SERVE_THREADS * GroupDescriptor.ADDED_PER_THREAD
                                : options.segmentRows());
        pipe = new SegmentPipe(lease, plan, slots, facts, sizer, reader, options.stallTimeoutNs());
        cutter =
                new SegmentCutter(
                        pipe,
                        sizer,
                        lease.registrations(),
                        facts,
                        segmentBytes,
                        readsInPlace,
                        this::decodes,
                        options.stallTimeoutNs());
        emptyAddress = slots.resultAddress(0, 0);
        emptyBatch = new ResultBatch(reader.layout(), emptyAddress);
    }

    @Override
    protected SegmentCutter.Probe open(InFlightProbe pending) {
        return new SegmentCutter.Probe(pending);
    }

    /**
     * Returns whether the kernel has memory to decode rows, which the first encoded chunk needs.
     */
    private boolean decodes() {
        if (!joinPlan.decodes() && mayDecode) {
            try {
                lease.whileStopped(
                        options.stallTimeoutNs(),
                        () ->
                                joinPlan.enableDecoding(
                                        lease.driver(),
                                        buffers,
                                        lease.plans().decoding(),
                                        lease.plans().address(plan)));
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                mayDecode = false;
            }
        }
        return joinPlan.decodes();
    }

    @Override
    protected void queued(Chunk chunk) {
        if (tables.hasChanges()) {
            applyChanges();
        }
        cutter.cut(queue());
    }

    /** {@inheritDoc} The kernel does, in its own copy. */
    @Override
    public boolean verifiesSlots() {
        return readsInPlace;
    }

    /** Returns the bytes of facts that the CPU copied for the kernel. Thread-safe. */
    public long payloadBytesCopied() {
        return pipe == null ? 0 : pipe.copiedBytes();
    }

    @Override
    protected @Nullable ResultBatch nextBatch() {
        ResultBatch[] batch = new ResultBatch[1];
        orFail(() -> batch[0] = pollPipe());
        if (batch[0] != null) {
            queue().delivered(batch[0]);
        }
        return batch[0];
    }

    private @Nullable ResultBatch pollPipe() {
        pipe.releaseBatch();
        if (pipe.groupsFull()) {
            return null;
        }
        cutter.cut(queue());
        SegmentCutter.Probe head = queue().head();
        if (head != null && head.completedRows() == head.chunk().rowCount()) {
            emptyBatch.set(head.chunk(), 0, head.completedRows());
            return emptyBatch;
        }
        return pipe.poll();
    }

    @Override
    public boolean awaitsDrain() {
        return pipe != null && pipe.groupsFull();
    }

    /** {@inheritDoc} Stops the serving kernel for all engines of the device. */
    @Override
    protected GroupRows drainedGroups() {
        GroupRows[] drained = new GroupRows[1];
        orFail(
                () -> {
                    lease.whileStopped(options.stallTimeoutNs(), () -> drained[0] = groups.drain());
                    pipe.resumeAfterDrain();
                });
        return drained[0];
    }

    /** Returns the kind of table of each dimension; empty while LOADING. */
    List<TableKind> tableKinds() {
        return tables.tables().stream().map(GpuTable::kind).toList();
    }

    /** Returns the device time of all completed steps, summed over blocks; 0 while LOADING. */
    long deviceBusyNs() {
        return pipe == null ? 0 : pipe.deviceBusyNs();
    }

    /**
     * Returns the memory use of the device. All engines of the process on this device share the
     * figure, so do not sum it over engines. Thread-safe.
     */
    public MemoryUse memoryUse() {
        return lease.memory().use();
    }

    /**
     * Returns a counter that increases while the kernel of the device waits for work; 0 once the
     * device is closed. Thread-safe.
     */
    public long kernelHeartbeat() {
        return lease.heartbeatIfOpen();
    }

    /** Returns the load of each lane of the kernel, summed over all engines of the device. */
    public List<LaneLoad> laneLoads() {
        return lease.ring().laneLoads();
    }

    @Override
    protected long tableBytes() {
        return tables.lengthBytes();
    }

    @Override
    protected void release() {
        try {
            if (pipe != null) {
                pipe.awaitSteps();
            }
            lease.whileStopped(options.stallTimeoutNs(), this::freeDevice);
        } catch (GpuUnavailableException e) {
            if (holdsTables) {
                tables.abandon();
            }
            buffers.abandon();
        } finally {
            try {
                if (pipe != null) {
                    pipe.releaseChunks();
                }
            } finally {
                lease.release();
            }
        }
    }

    private void freeDevice() {
        buffers.close();
        if (holdsTables) {
            tables.release();
            holdsTables = false;
        }
        if (plan >= 0) {
            lease.plans().free(plan);
            plan = -1;
        }
    }
}
