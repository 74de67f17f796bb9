package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ProbeQueue;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;

/**
 * Joins on a GPU: tables in device memory, facts through a ring in mapped host memory or in device
 * memory ({@link RingMemory}), results through mapped host memory, served by the device's one
 * persistent kernel (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable Networks",
 * section 4).
 *
 * <p>Asynchronous: {@link #poll()} returns null while the kernel works. A chunk is cut into
 * segments, which blocks of the kernel join side by side; results come back in order. Carried bytes
 * stay on the host. One thread calls at a time.
 *
 * <p>Changes of a dimension are applied when facts come behind them, all together: the serving
 * kernel has to stand still for that, for all engines of the device.
 *
 * <p>A device that fails leaves the engine FAILED and throws {@link GpuUnavailableException}; what
 * was pending is still in {@link #snapshot()}, for another engine to go on with.
 */
public final class GpuJoinEngine extends AbstractJoinEngine<GpuJoinEngine.Probe>
        implements ForkableJoinEngine {

    private static final int MAX_IN_FLIGHT = 64;

    private final GpuOptions options;
    private final DeviceLease lease;
    private final Buffers buffers;
    private final FactSegments facts;
    private final GpuTables tables;
    private boolean holdsTables = true;

    /** Whether all build rows are on the device. */
    private boolean isFlushed;

    private final SegmentSizer sizer;
    private SegmentPipe pipe;
    private JoinPlan joinPlan;

    /** Null where results are given as rows. */
    private GpuGroups groups;

    private ResultBatch emptyBatch;
    private long emptyAddress;
    private int plan = -1;

    /** A chunk in flight, and how far it is cut into segments. */
    static final class Probe extends ProbeQueue.Probe {
        int nextRow;

        Probe(PendingProbe pending) {
            super(pending);
            this.nextRow = firstRow();
        }

        boolean isCut() {
            return nextRow == chunk().rowCount();
        }
    }

    /**
     * @throws GpuUnavailableException where there is no device for this join
     */
    public GpuJoinEngine(JoinSpec spec, GpuOptions options) {
        this(spec, options, DeviceLease.acquire(options));
    }

    /**
     * @param lease released with the engine, or here where the join does not fit
     */
    GpuJoinEngine(JoinSpec spec, GpuOptions options, DeviceLease lease) {
        this(spec, options, lease, null);
    }

    /**
     * @param shared tables of another engine, retained for this one; null for tables of its own
     */
    private GpuJoinEngine(JoinSpec spec, GpuOptions options, DeviceLease lease, GpuTables shared) {
        super(spec, MAX_IN_FLIGHT);
        this.options = options;
        this.lease = lease;
        this.buffers = lease.memory().buffers(options.memory());
        this.facts = new FactSegments(spec);
        this.sizer =
                new SegmentSizer(
                        options.segmentRows(),
                        spec.aggregates()
                                ? DeviceLease.SERVE_THREADS * GroupDescriptor.ADDED_PER_THREAD
                                : options.segmentRows());
        try {
            JoinPlan.requireFits(spec, facts);
        } catch (GpuUnavailableException e) {
            lease.release();
            throw e;
        }
        this.tables = shared != null ? shared : new GpuTables(spec, lease, options);
    }

    /**
     * {@inheritDoc}
     *
     * @throws GpuUnavailableException where its buffers do not fit, or the device is lost
     */
    @Override
    public GpuJoinEngine fork() {
        requireForkable();
        lease.retain();
        GpuJoinEngine fork = new GpuJoinEngine(spec(), options, lease, tables.retain());
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
        return new GpuJoinEngine(spec(), options, lease, tables.forkLoading(dimension, options));
    }

    /** Device memory only. */
    @Override
    public long availableBytes() {
        return lease.memory().availableDeviceBytes(options.memory());
    }

    /** The device, as this process drives it. */
    @Override
    public Object tablePlace() {
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

    /** Rows of a dimension that does not change are no more than appended. */
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
                        layOutAnew();
                    }
                });
    }

    /** By another layout object readers tell that addresses of carried bytes mean nothing more. */
    private void layOutAnew() {
        ResultLayout layout = resultLayout();
        pipe.layOut(layout);
        emptyBatch = new ResultBatch(layout, emptyAddress);
    }

    private ResultLayout resultLayout() {
        return new ResultLayout(spec(), spec().aggregates() ? 1 : options.segmentRows());
    }

    /**
     * {@inheritDoc} A step makes one table, whatever its size: a device inserts several thousand
     * million rows a second. Between two steps the serving kernel goes on for other engines.
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

    /** Where something does not fit, others get back what did. */
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
        ResultLayout layout = resultLayout();
        int segmentBytes = facts.lengthBytes(options.segmentRows());
        SegmentSlots slots =
                new SegmentSlots(
                        lease.driver(),
                        buffers,
                        options.ringMemory(),
                        options.slots(),
                        segmentBytes,
                        layout);
        if (spec().aggregates()) {
            groups = new GpuGroups(spec().aggregation(), lease.driver(), buffers, lease.blocks());
        }
        plan = lease.takePlan();
        joinPlan = new JoinPlan(spec(), facts, layout, tables.tables(), false, groups);
        joinPlan.write(lease.driver(), buffers, slots, lease.planAddress(plan));
        pipe = new SegmentPipe(lease, plan, slots, facts, sizer, layout, options.stallTimeoutNs());
        emptyAddress = slots.resultAddress(0, 0);
        emptyBatch = new ResultBatch(layout, emptyAddress);
    }

    @Override
    protected Probe open(PendingProbe pending) {
        return new Probe(pending);
    }

    @Override
    protected void queued(Chunk chunk) {
        if (tables.hasChanges()) {
            applyChanges();
        }
        fillPipe();
    }

    /** Cuts queued chunks into segments while there are slots. */
    private void fillPipe() {
        for (Probe probe : queue()) {
            while (!probe.isCut()) {
                if (!pipe.hasRoom()) {
                    return;
                }
                int left = probe.chunk().rowCount() - probe.nextRow;
                int rows = Math.min(sizer.rows(), left);
                pipe.add(probe.chunk(), probe.nextRow, rows);
                probe.nextRow += rows;
            }
        }
    }

    @Override
    protected ResultBatch nextBatch() {
        ResultBatch[] batch = new ResultBatch[1];
        orFail(() -> batch[0] = polled());
        if (batch[0] != null) {
            queue().delivered(batch[0]);
        }
        return batch[0];
    }

    private ResultBatch polled() {
        pipe.releaseLent();
        if (pipe.groupsFull()) {
            return null;
        }
        fillPipe();
        Probe head = queue().head();
        if (head != null && head.completedRows() == head.chunk().rowCount()) {
            emptyBatch.set(head.chunk(), 0, head.completedRows());
            return emptyBatch;
        }
        return pipe.poll();
    }

    @Override
    public boolean awaitsTake() {
        return pipe != null && pipe.groupsFull();
    }

    /** {@inheritDoc} The device's kernel stands still meanwhile, for all its engines. */
    @Override
    protected GroupRows takenGroups() {
        GroupRows[] taken = new GroupRows[1];
        orFail(
                () -> {
                    lease.whileStopped(options.stallTimeoutNs(), () -> taken[0] = groups.take());
                    pipe.groupsTaken();
                });
        return taken[0];
    }

    /** Which table each dimension has; empty while LOADING. */
    List<TableKind> tableKinds() {
        return tables.tables().stream().map(GpuTable::kind).toList();
    }

    /** Device time of all steps polled, summed over blocks; 0 while LOADING. */
    long deviceBusyNs() {
        return pipe == null ? 0 : pipe.deviceBusyNs();
    }

    /**
     * Memory of this engine's device; of all its engines in this process, so not to be added up.
     */
    public MemoryUse memoryUse() {
        return lease.memory().use();
    }

    /** Counts up while the device's kernel waits for work; 0 once the device is closed. */
    public long kernelHeartbeat() {
        return lease.heartbeatIfOpen();
    }

    /** What each lane of partitions has taken of the device's kernel, of all its engines. */
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
            lease.release();
        }
    }

    private void freeDevice() {
        buffers.close();
        if (holdsTables) {
            tables.release();
            holdsTables = false;
        }
        if (plan >= 0) {
            lease.freePlan(plan);
            plan = -1;
        }
    }
}
