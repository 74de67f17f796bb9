// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;

/**
 * Measures the serving kernel and the bus without host threads in the way. Facts are written to
 * pinned slots once and posted repeatedly (and copied each time, if the ring is in device memory);
 * results are read where the kernel wrote them. Tables, plans and steps are those of {@link
 * GpuJoinEngine}. For one thread.
 *
 * <p>Call {@link #submitBuild} for all build rows, {@link #finishBuild()} once, then {@link #feed}.
 * Every method that uses the device throws {@link GpuUnavailableException} if the device fails.
 */
public final class SegmentReplay implements AutoCloseable {

    private final JoinSpec spec;
    private final GpuOptions options;
    private final FactSegments facts;
    private final DeviceGroup group;
    private final GpuTables tables;
    private boolean built;
    private boolean closed;

    /**
     * @param furtherColumns fixed-width fact columns to transfer besides the keys
     * @throws GpuUnavailableException if no device can run this join
     */
    public SegmentReplay(JoinSpec spec, GpuOptions options, List<Integer> furtherColumns) {
        this(spec, options, furtherColumns, DeviceGroup.acquire(options));
    }

    /**
     * @param group released when the replay closes, or here if the kernels do not support the join
     */
    SegmentReplay(
            JoinSpec spec, GpuOptions options, List<Integer> furtherColumns, DeviceGroup group) {
        this.spec = spec;
        this.options = options.ofOneJoin();
        this.facts = new FactSegments(spec, options.encodeSegments(), furtherColumns);
        this.group = group;
        try {
            JoinPlan.requireFits(spec, facts);
        } catch (GpuUnavailableException e) {
            group.release();
            throw e;
        }
        this.tables = new GpuTables(spec, group, options, MemoryLimits.of(options.memory()));
    }

    /** Appends build rows to a dimension, before {@link #finishBuild()}. */
    public void submitBuild(int dimension, Chunk chunk) {
        tables.append(dimension, chunk);
    }

    /**
     * Builds all tables. Call it once, before the first feed.
     *
     * @throws GpuUnavailableException if the tables do not fit the device
     */
    public void finishBuild() {
        tables.flush();
        group.whileStopped(options.stallTimeoutNs(), tables::build);
        built = true;
    }

    /** Returns the device memory of all tables in bytes, summed over the devices. */
    public long tableBytes() {
        return tables.lengthBytes();
    }

    /** Returns the number of thread blocks of a serving kernel. */
    public int blocks() {
        return group.first().blocks();
    }

    /** Returns the options of this replay. */
    public GpuOptions options() {
        return options;
    }

    /** Returns the bytes on the bus of a plain segment with this number of rows. */
    public int plainBytes(int rowCount) {
        return facts.plainBytes(rowCount);
    }

    /**
     * Writes each chunk to its own slot.
     *
     * @param chunks one segment each, none empty
     * @param inFlight segments in flight at once, at most the number of chunks
     * @param output what the kernel writes to host memory
     * @return the feed, which the caller closes before this object
     * @throws IllegalStateException before {@link #finishBuild()}
     * @throws IllegalArgumentException if there are too many chunks for the kernel's ring of steps,
     *     {@code inFlight} is out of range, or results of this join cannot be packed
     */
    public SegmentFeed feed(List<Chunk> chunks, int inFlight, StepOutput output) {
        return feed(0, chunks, inFlight, output);
    }

    /**
     * Does the same on another device than the first.
     *
     * @param member index of the device in the options
     */
    public SegmentFeed feed(int member, List<Chunk> chunks, int inFlight, StepOutput output) {
        if (!built) {
            throw new IllegalStateException("Tables are not built. Call finishBuild() first.");
        }
        if (output == StepOutput.PACKED_RESULTS
                && !PackedResults.supports(spec, tables.tables(member))) {
            throw new IllegalArgumentException(
                    "Results cannot be packed, since a fact may have several. Measure "
                            + StepOutput.PLAIN_RESULTS
                            + ".");
        }
        DeviceLease lease = group.members().get(member);
        Buffers buffers = lease.memory().buffers(options.memory());
        SegmentFeed.Join join =
                new SegmentFeed.Join(
                        spec,
                        facts,
                        tables.tables(member),
                        output,
                        options.segmentRows(),
                        options.ringMemory(),
                        options.share());
        return new SegmentFeed(lease, buffers, join, chunks, inFlight);
    }

    /** Frees all memory. Feeds must be closed before. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            group.whileStopped(options.stallTimeoutNs(), tables::release);
        } catch (GpuUnavailableException e) {
            tables.abandon();
        } finally {
            group.release();
        }
    }
}
