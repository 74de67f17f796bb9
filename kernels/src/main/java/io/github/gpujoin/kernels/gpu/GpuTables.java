package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

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

    GpuTables(JoinSpec spec, DeviceLease lease, GpuOptions options) {
        this.spec = spec;
        this.lease = lease;
        this.timeoutNs = options.stallTimeoutNs();
        this.buffers = lease.memory().buffers(options.memory());
        spec.dimensions().stream()
                .map(BuildRowLayout::new)
                .map(row -> new BuildStream(lease, options.memory(), row, timeoutNs))
                .forEach(streams::add);
    }

    void append(int dimension, Chunk chunk) {
        streams.get(dimension).append(chunk);
    }

    /** To be called after the last chunk, before {@link #build}. */
    void flush() {
        streams.forEach(BuildStream::flush);
    }

    /** Makes the tables, while the serving kernel stands still. */
    void build() {
        for (int d = 0; d < streams.size(); d++) {
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

    /** Memory of tables, of carried bytes, and before that of the rows that tables are made of. */
    long lengthBytes() {
        return tables.stream().mapToLong(GpuTable::lengthBytes).sum()
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
        }
    }
}
