package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The build sides of a join, from their first chunk to their last use: streamed to the device, then
 * made into tables, which several engines may share. Not thread-safe until the tables are made.
 */
final class GpuTables {

    private final JoinSpec spec;
    private final DeviceLease lease;
    private final long timeoutNs;
    private final Buffers buffers;
    private final List<BuildStream> streams = new ArrayList<>();
    private final List<GpuTable> tables = new ArrayList<>();
    private final AtomicInteger holders = new AtomicInteger(1);

    /**
     * Has the tables of all dimensions but {@link #ownDimension}; null where all are built here.
     */
    private final GpuTables base;

    private final int ownDimension;

    GpuTables(JoinSpec spec, DeviceLease lease, GpuOptions options) {
        this(spec, lease, options, null, -1);
    }

    private GpuTables(
            JoinSpec spec,
            DeviceLease lease,
            GpuOptions options,
            GpuTables base,
            int ownDimension) {
        this.base = base;
        this.ownDimension = ownDimension;
        this.spec = spec;
        this.lease = lease;
        this.timeoutNs = options.stallTimeoutNs();
        this.buffers = lease.memory().buffers(options.memory());
        spec.dimensions().stream()
                .map(BuildRowLayout::new)
                .map(row -> new BuildStream(lease, options.memory(), row, timeoutNs))
                .forEach(streams::add);
    }

    /** Takes rows of one dimension, and has these finished tables of the others. */
    GpuTables forkLoading(int dimension, GpuOptions options) {
        return new GpuTables(spec, lease, options, retain(), dimension);
    }

    private boolean isShared(int dimension) {
        return base != null && dimension != ownDimension;
    }

    void append(int dimension, Chunk chunk) {
        if (isShared(dimension)) {
            throw new IllegalArgumentException(
                    "an engine builds no table that it shares: dimension=" + dimension);
        }
        streams.get(dimension).append(chunk);
    }

    /** To be called after the last chunk, before {@link #build}. */
    void flush() {
        streams.forEach(BuildStream::flush);
    }

    /** Makes the tables, while the serving kernel stands still. */
    void build() {
        for (int d = 0; d < streams.size(); d++) {
            if (isShared(d)) {
                tables.add(base.tables.get(d));
                continue;
            }
            boolean once = JoinPlan.isOnce(spec.dimensions().get(d));
            BuildStream stream = streams.get(d);
            tables.add(GpuTableBuilder.build(lease, buffers, stream, once, timeoutNs));
            stream.freeRuns();
        }
    }

    /** One for each dimension, once they are built. */
    List<GpuTable> tables() {
        return tables;
    }

    /**
     * Memory of the tables built here, of carried bytes, and before that of the rows that tables
     * are made of.
     */
    long lengthBytes() {
        return IntStream.range(0, tables.size())
                        .filter(d -> !isShared(d))
                        .mapToLong(d -> tables.get(d).lengthBytes())
                        .sum()
                + streams.stream().mapToLong(BuildStream::lengthBytes).sum();
    }

    /** These tables for one more holder, who releases or abandons them too. */
    GpuTables retain() {
        holders.incrementAndGet();
        return this;
    }

    /** One holder less; the last one frees all memory. While the serving kernel stands still. */
    void release() {
        if (holders.decrementAndGet() == 0) {
            tables.clear();
            streams.forEach(BuildStream::freeRuns);
            buffers.close();
            streams.forEach(BuildStream::close);
            if (base != null) {
                base.release();
            }
        }
    }

    /**
     * As {@link #release} of a lost device: its memory is forgotten, see {@link Buffers#abandon}.
     */
    void abandon() {
        if (holders.decrementAndGet() == 0) {
            streams.forEach(BuildStream::abandonRuns);
            buffers.abandon();
            streams.forEach(BuildStream::close);
            if (base != null) {
                base.abandon();
            }
        }
    }
}
