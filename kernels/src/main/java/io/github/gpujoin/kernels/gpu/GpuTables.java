package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The build sides of a join, from their first chunk to their last use: streamed to the device, then
 * made into tables, which several engines may share. Tables of dimensions that change are of one
 * engine. Not thread-safe until the tables are made, but for {@link #lengthBytes}.
 */
final class GpuTables {

    private final JoinSpec spec;
    private final DeviceLease lease;
    private final long timeoutNs;
    private final Buffers buffers;
    private final List<BuildStream> streams = new ArrayList<>();
    private final List<GpuTable> tables = new ArrayList<>();

    /** By dimension. */
    private final Map<Integer, GpuChangingTable> changing = new TreeMap<>();

    private final AtomicInteger holders = new AtomicInteger(1);

    /** Device memory of the tables of dimensions that do not change, as far as they are built. */
    private volatile long builtBytes;

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
        for (int d = 0; d < streams.size(); d++) {
            DimensionSpec side = spec.dimensions().get(d);
            if (side.changes()) {
                changing.put(
                        d, new GpuChangingTable(side, lease, buffers, streams.get(d), timeoutNs));
            }
        }
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
        if (changing.containsKey(dimension)) {
            changing.get(dimension).append(chunk);
        } else {
            streams.get(dimension).append(chunk);
        }
    }

    /** Whether changes wait to be applied. */
    boolean hasChanges() {
        return changing.values().stream().anyMatch(GpuChangingTable::hasChanges);
    }

    /** Whether changes are to be applied before more of them come. */
    boolean isFullOfChanges() {
        return changing.values().stream().anyMatch(GpuChangingTable::isFull);
    }

    /** To be called before {@link #applyChanges}; more rows of any dimension may come after. */
    void flushChanges() {
        changing.values().forEach(GpuChangingTable::flush);
    }

    /**
     * Applies changes that were flushed, while the serving kernel stands still.
     *
     * @return whether a table, or carried bytes of one, lie elsewhere now
     */
    boolean applyChanges() {
        boolean moved = false;
        for (Map.Entry<Integer, GpuChangingTable> entry : changing.entrySet()) {
            moved |= entry.getValue().apply();
            if (!tables.isEmpty()) {
                tables.set(entry.getKey(), entry.getValue().table());
            }
        }
        return moved;
    }

    /** To be called after the last chunk, before {@link #build}. */
    void flush() {
        streams.forEach(BuildStream::flush);
    }

    /** Makes the tables, while the serving kernel stands still. */
    void build() {
        while (!isBuilt()) {
            buildNext();
        }
    }

    boolean isBuilt() {
        return tables.size() == streams.size();
    }

    /** Makes the next table, while the serving kernel stands still. */
    void buildNext() {
        int d = tables.size();
        if (d == 0) {
            applyChanges();
        }
        if (changing.containsKey(d)) {
            tables.add(changing.get(d).table());
        } else if (isShared(d)) {
            tables.add(base.tables.get(d));
        } else {
            boolean once = JoinPlan.isOnce(spec.dimensions().get(d));
            BuildStream stream = streams.get(d);
            GpuTable table = GpuTableBuilder.build(lease, buffers, stream, once, timeoutNs);
            tables.add(table);
            builtBytes += table.lengthBytes();
            stream.freeRuns();
        }
    }

    /** One for each dimension, once they are built. */
    List<GpuTable> tables() {
        return tables;
    }

    /**
     * Device memory of the tables built here, and before that device and pinned memory of the rows
     * that tables are made of.
     */
    long lengthBytes() {
        long rowBytes =
                IntStream.range(0, streams.size())
                        .filter(d -> !changing.containsKey(d))
                        .mapToLong(d -> streams.get(d).lengthBytes())
                        .sum();
        long changingBytes =
                changing.values().stream().mapToLong(GpuChangingTable::lengthBytes).sum();
        return builtBytes + rowBytes + changingBytes;
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
            builtBytes = 0;
            streams.forEach(BuildStream::freeRuns);
            changing.values().forEach(GpuChangingTable::free);
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
            changing.values().forEach(GpuChangingTable::abandon);
            buffers.abandon();
            streams.forEach(BuildStream::close);
            if (base != null) {
                base.abandon();
            }
        }
    }
}
