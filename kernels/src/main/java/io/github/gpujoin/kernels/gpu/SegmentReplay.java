package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;

/**
 * Shows what the serving kernel and the bus do when no host thread is in their way: facts are put
 * in their pinned slots once and asked for over and over (and copied anew each time, to a ring in
 * device memory), and results stay where the kernel wrote them. Tables, plans and steps are those
 * of {@link GpuJoinEngine}. For measurements; used by one thread.
 */
public final class SegmentReplay implements AutoCloseable {

    private final JoinSpec spec;
    private final GpuOptions options;
    private final FactSegments facts;
    private final DeviceLease lease;
    private final GpuTables tables;
    private boolean built;
    private boolean closed;

    /**
     * @param furtherColumns fixed columns of the facts that cross the bus besides the keys
     * @throws GpuUnavailableException where there is no device for this join
     */
    public SegmentReplay(JoinSpec spec, GpuOptions options, List<Integer> furtherColumns) {
        this.spec = spec;
        this.options = options;
        this.facts = new FactSegments(spec, furtherColumns);
        JoinPlan.requireFits(spec, facts);
        this.lease = DeviceLease.acquire(options);
        this.tables = new GpuTables(spec, lease, options);
    }

    public void submitBuild(int dimension, Chunk chunk) {
        tables.append(dimension, chunk);
    }

    /** Builds all tables; to be called once, before the first feed. */
    public void finishBuild() {
        tables.flush();
        lease.whileStopped(options.stallTimeoutNs(), tables::build);
        built = true;
    }

    /** Device memory of all tables. */
    public long tableBytes() {
        return tables.lengthBytes();
    }

    /** Thread blocks that serve. */
    public int blocks() {
        return lease.blocks();
    }

    /** Where the kernel reads facts from. */
    public RingMemory ringMemory() {
        return options.ringMemory();
    }

    /** Bytes that a segment of so many rows has on the bus. */
    public int segmentBytes(int rowCount) {
        return facts.lengthBytes(rowCount);
    }

    /**
     * Puts each chunk in a slot of its own.
     *
     * @param chunks each one segment, none without rows
     * @param inFlight segments that are asked for at once, at most as many as there are chunks
     * @param countOnly whether matches are counted and not given
     */
    public SegmentFeed feed(List<Chunk> chunks, int inFlight, boolean countOnly) {
        if (!built) {
            throw new IllegalStateException("tables are built before they are probed");
        }
        Buffers buffers = lease.memory().buffers(options.memory());
        SegmentFeed.Join join =
                new SegmentFeed.Join(
                        spec,
                        facts,
                        tables.tables(),
                        countOnly,
                        options.segmentRows(),
                        options.ringMemory());
        return new SegmentFeed(lease, buffers, join, chunks, inFlight);
    }

    /** Gives everything back; feeds are closed before. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            lease.whileStopped(options.stallTimeoutNs(), tables::release);
        } catch (GpuUnavailableException e) {
            tables.abandon();
        } finally {
            lease.release();
        }
    }
}
