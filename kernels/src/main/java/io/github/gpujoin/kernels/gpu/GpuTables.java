// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * The build sides of a join, from their first chunk to their last use: copied to the device, then
 * built into tables. Several engines may share tables, except those of changelog dimensions. Not
 * thread-safe until the tables are built, except for {@link #lengthBytes}.
 */
final class GpuTables {

    private final JoinSpec spec;
    private final DeviceLease lease;
    private final long timeoutNs;
    private final Buffers buffers;
    private final List<BuildStream> streams = new ArrayList<>();
    private final List<GpuTable> tables = new ArrayList<>();

    /** Changelog tables by dimension. */
    private final Map<Integer, GpuChangingTable> changing = new TreeMap<>();

    private final AtomicInteger holderCount = new AtomicInteger(1);

    /** Bytes of the tables built here, without those of changelog dimensions. */
    private volatile long builtBytes;

    /**
     * Provides the tables of all dimensions except {@link #ownDimension}; null if all are built
     * here.
     */
    private final @Nullable GpuTables base;

    private final int ownDimension;

    GpuTables(JoinSpec spec, DeviceLease lease, GpuOptions options, MemoryLimits limits) {
        this(spec, lease, options, limits, null, -1);
    }

    private GpuTables(
            JoinSpec spec,
            DeviceLease lease,
            GpuOptions options,
            MemoryLimits limits,
            @Nullable GpuTables base,
            int ownDimension) {
        this.base = base;
        this.ownDimension = ownDimension;
        this.spec = spec;
        this.lease = lease;
        this.timeoutNs = options.stallTimeoutNs();
        this.buffers = lease.memory().buffers(limits);
        spec.dimensions().stream()
                .map(BuildRowLayout::new)
                .map(row -> new BuildStream(lease, limits, row, timeoutNs))
                .forEach(streams::add);
        for (int d = 0; d < streams.size(); d++) {
            DimensionSpec side = spec.dimensions().get(d);
            if (side.isChangelog()) {
                changing.put(
                        d, new GpuChangingTable(side, lease, buffers, streams.get(d), timeoutNs));
            }
        }
    }

    /**
     * Returns tables that share all finished tables of this object except the one of a dimension.
     */
    GpuTables forkLoading(int dimension, GpuOptions options, MemoryLimits limits) {
        return new GpuTables(spec, lease, options, limits, retain(), dimension);
    }

    private boolean isShared(int dimension) {
        return base != null && dimension != ownDimension;
    }

    void append(int dimension, Chunk chunk) {
        if (isShared(dimension)) {
            throw new IllegalArgumentException(
                    "Build row for a shared table: dimension=" + dimension);
        }
        if (changing.containsKey(dimension)) {
            changing.get(dimension).append(chunk);
        } else {
            streams.get(dimension).append(chunk);
        }
    }

    /** Returns whether changes wait to be applied. */
    boolean hasChanges() {
        return changing.values().stream().anyMatch(GpuChangingTable::hasChanges);
    }

    /** Returns whether the changes must be applied before more are added. */
    boolean isFullOfChanges() {
        return changing.values().stream().anyMatch(GpuChangingTable::isFull);
    }

    /**
     * Copies the rest of the changes to the device; required before {@link #applyChanges}. More
     * rows of any dimension may follow.
     */
    void flushChanges() {
        changing.values().forEach(GpuChangingTable::flush);
    }

    /**
     * Applies flushed changes while the serving kernel is stopped.
     *
     * @return whether a table, or its variable-width columns, moved to other addresses
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

    /**
     * Copies the rest of the rows to the device; required after the last chunk and before {@link
     * #build}.
     */
    void flush() {
        streams.forEach(BuildStream::flush);
    }

    /** Builds all tables while the serving kernel is stopped. */
    void build() {
        while (!isBuilt()) {
            buildNext();
        }
    }

    boolean isBuilt() {
        return tables.size() == streams.size();
    }

    /** Builds the next table while the serving kernel is stopped. */
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

    /** Returns one table for each dimension, as far as they are built. */
    List<GpuTable> tables() {
        return tables;
    }

    /**
     * Returns the bytes of the tables built here. Before they are built, the device and pinned
     * memory of their build rows.
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

    /** Adds a holder, which must release or abandon the tables. */
    GpuTables retain() {
        holderCount.incrementAndGet();
        return this;
    }

    /**
     * Removes a holder; the last one frees all memory. Call it while the serving kernel is stopped.
     */
    void release() {
        if (holderCount.decrementAndGet() == 0) {
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
     * Like {@link #release}, but for a lost device: drops the memory, see {@link Buffers#abandon}.
     */
    void abandon() {
        if (holderCount.decrementAndGet() == 0) {
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
