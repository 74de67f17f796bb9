// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The build sides of a join, from their first chunk to their last use: copied to the devices of a
 * group, then built into tables on each of them. Several engines may share tables, except those of
 * changelog dimensions. Not thread-safe until the tables are built, except for {@link
 * #lengthBytes}.
 */
final class GpuTables {

    private static final Logger LOG = LoggerFactory.getLogger(GpuTables.class);

    private final JoinSpec spec;
    private final DeviceGroup group;
    private final GpuOptions options;
    private final long timeoutNs;

    /** By member of the group, like all lists of lists. */
    private final List<Buffers> buffers;

    /** By dimension, except changelogs. */
    private final Map<Integer, BuildStream> streams = new TreeMap<>();

    private final List<List<GpuTable>> tables = new ArrayList<>();

    /** Changelog tables by dimension: one of all members, or one on each. */
    private final Map<Integer, List<GpuChangingTable>> changing = new TreeMap<>();

    /** Of the changelog dimensions whose keys are hashes. */
    private final Map<Integer, KeyFingerprints> fingerprints = new TreeMap<>();

    private final AtomicInteger holderCount = new AtomicInteger(1);

    /**
     * Rows of the dimension of a fork that all forks in the process have together; 0 if unknown.
     */
    private long processRows;

    /** Bytes of the tables built here, without those of changelog dimensions. */
    private volatile long builtBytes;

    /**
     * Provides the tables of all dimensions except {@link #ownDimension}; null if all are built
     * here.
     */
    private final @Nullable GpuTables base;

    /** Member of the group of {@link #base} that is the first one here. */
    private final int baseMember;

    private final int ownDimension;

    /** By dimension, as far as tables are built. */
    private volatile List<Boolean> areSharded = List.of();

    GpuTables(JoinSpec spec, DeviceGroup group, GpuOptions options, MemoryLimits limits) {
        this(spec, group, options, limits, null, 0, -1);
    }

    private GpuTables(
            JoinSpec spec,
            DeviceGroup group,
            GpuOptions options,
            MemoryLimits limits,
            @Nullable GpuTables base,
            int baseMember,
            int ownDimension) {
        this.base = base;
        this.baseMember = baseMember;
        this.ownDimension = ownDimension;
        this.spec = spec;
        this.group = group;
        this.options = options;
        this.timeoutNs = options.stallTimeoutNs();
        this.buffers = group.buffers(limits);
        group.members().forEach(lease -> tables.add(new ArrayList<>()));
        for (int d = 0; d < spec.dimensions().size(); d++) {
            DimensionSpec side = spec.dimensions().get(d);
            if (side.isChangelog()) {
                changing.put(d, changingTables(side, limits));
                if (side.isHashed()) {
                    Allocator host = group.first().memory().hostWithin(limits);
                    fingerprints.put(d, new KeyFingerprints(side, host));
                }
            } else {
                streams.put(d, new BuildStream(group, limits, new BuildRowLayout(side), timeoutNs));
            }
        }
    }

    /**
     * Each change is copied to one device and applied by the one that owns its key, if the devices
     * can access each other's memory. Otherwise each device has a whole table of its own.
     */
    private List<GpuChangingTable> changingTables(DimensionSpec side, MemoryLimits limits) {
        if (group.size() == 1 || (canShard() && options.spread() != TableSpread.REPLICATED)) {
            return List.of(new GpuChangingTable(side, group, limits, buffers, timeoutNs));
        }
        return IntStream.range(0, group.size())
                .mapToObj(
                        member ->
                                new GpuChangingTable(
                                        side,
                                        DeviceGroup.of(group.members().get(member)),
                                        limits,
                                        List.of(buffers.get(member)),
                                        timeoutNs))
                .toList();
    }

    /** Returns the changelog table of a dimension as each member sees it. */
    private List<GpuTable> changing(int dimension) {
        return changing.get(dimension).stream().flatMap(table -> table.tables().stream()).toList();
    }

    /**
     * Returns tables that share all finished tables of this object except the one of a dimension.
     */
    GpuTables forkLoading(int dimension, MemoryLimits limits) {
        GpuTables fork = new GpuTables(spec, group, options, limits, retain(), 0, dimension);
        fork.expect(processRows);
        return fork;
    }

    /** Does the same for tables on one member of the group. */
    GpuTables forkLoading(int dimension, MemoryLimits limits, int member) {
        return new GpuTables(
                spec, group.member(member), options, limits, retain(), member, dimension);
    }

    /**
     * Sets the number of rows of the dimension of later forks that the whole process will have on
     * these devices.
     */
    void expect(long processRows) {
        this.processRows = processRows;
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
            if (fingerprints.containsKey(dimension)) {
                fingerprints.get(dimension).apply(chunk);
            }
            changing.get(dimension).forEach(table -> table.append(chunk));
        } else {
            streams.get(dimension).append(chunk);
        }
    }

    /** Returns whether changes wait to be applied. */
    boolean hasChanges() {
        return allChanging().anyMatch(GpuChangingTable::hasChanges);
    }

    /** Returns whether the changes must be applied before more are added. */
    boolean isFullOfChanges() {
        return allChanging().anyMatch(GpuChangingTable::isFull);
    }

    private Stream<GpuChangingTable> allChanging() {
        return changing.values().stream().flatMap(List::stream);
    }

    /**
     * Copies the rest of the changes to the device; required before {@link #applyChanges}. More
     * rows of any dimension may follow.
     */
    void flushChanges() {
        allChanging().forEach(GpuChangingTable::flush);
    }

    /**
     * Applies flushed changes on all members while the serving kernels are stopped.
     *
     * @return whether a table, or its variable-width columns, moved to other addresses
     */
    boolean applyChanges() {
        boolean moved = false;
        for (int d : changing.keySet()) {
            for (GpuChangingTable table : changing.get(d)) {
                moved |= table.apply();
            }
            List<GpuTable> applied = changing(d);
            for (int member = 0; member < group.size(); member++) {
                if (!tables.get(member).isEmpty()) {
                    tables.get(member).set(d, applied.get(member));
                }
            }
        }
        return moved;
    }

    /**
     * Copies the rest of the rows to the devices; required after the last chunk and before {@link
     * #build}.
     */
    void flush() {
        streams.values().forEach(BuildStream::flush);
        flushChanges();
    }

    /** Builds all tables while the serving kernels are stopped. */
    void build() {
        while (!isBuilt()) {
            buildNext();
        }
    }

    boolean isBuilt() {
        return tables.get(0).size() == spec.dimensions().size();
    }

    /** Builds the next table on all members while the serving kernels are stopped. */
    void buildNext() {
        int d = tables.get(0).size();
        if (d == 0) {
            applyChanges();
        }
        if (changing.containsKey(d)) {
            List<GpuTable> applied = changing(d);
            add(applied);
            report(d, applied);
        } else if (isShared(d)) {
            add(
                    base.tables.subList(baseMember, baseMember + group.size()).stream()
                            .map(tables -> tables.get(d))
                            .toList());
        } else {
            build(d);
        }
        areSharded = tables.get(0).stream().map(table -> table.shards().count() > 0).toList();
    }

    /** Returns whether each member has a part of a table; false until it is built. Thread-safe. */
    boolean isSharded(int dimension) {
        List<Boolean> built = areSharded;
        return dimension < built.size() && built.get(dimension);
    }

    private void add(List<GpuTable> ofMembers) {
        for (int member = 0; member < group.size(); member++) {
            tables.get(member).add(ofMembers.get(member));
        }
    }

    private void build(int d) {
        BuildStream stream = streams.get(d);
        List<GpuTable> built =
                isTooLargeToReplicate(d) ? build(d, true) : buildReplicatedOrSharded(d);
        add(built);
        builtBytes += built.stream().mapToLong(GpuTable::lengthBytes).sum();
        report(d, built);
        stream.freeRuns();
    }

    private void report(int d, List<GpuTable> built) {
        if (group.size() > 1) {
            LOG.info(
                    "Table on several devices: dimension={}, spread={}, devices={}, rowsOfEach={}, bytesOfEach={}",
                    spec.dimensions().get(d).name(),
                    built.get(0).shards().count() > 0
                            ? TableSpread.SHARDED
                            : TableSpread.REPLICATED,
                    group.members().stream().map(DeviceLease::device).toList(),
                    built.stream().map(GpuTable::rowCount).toList(),
                    built.stream().map(GpuTable::lengthBytes).toList());
        }
    }

    /** Shards the table if there is no memory for the whole one. */
    private List<GpuTable> buildReplicatedOrSharded(int d) {
        try {
            return build(d, false);
        } catch (GpuUnavailableException e) {
            if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY || !canShard()) {
                throw e;
            }
            return build(d, true);
        }
    }

    private List<GpuTable> build(int d, boolean isSharded) {
        boolean once = JoinPlan.isOnce(spec.dimensions().get(d));
        return GpuTableBuilder.build(group, buffers, streams.get(d), once, isSharded, timeoutNs);
    }

    /** Returns whether a table may be divided over the members. */
    boolean canShard() {
        return options.spread() != TableSpread.REPLICATED
                && group.size() > 1
                && group.size() <= PlanDescriptor.MAX_SHARDS
                && group.hasPeerAccess();
    }

    /**
     * Whether to shard a table without an attempt to replicate it: all tables that this object, or
     * forks in the process, have yet to build would not fit each member.
     */
    private boolean isTooLargeToReplicate(int d) {
        if (!canShard()) {
            return false;
        }
        return options.spread() == TableSpread.SHARDED
                || bytesIfReplicated(d)
                        > Collections.min(group.availableDeviceBytes(options.memory()))
                || d == ownDimension
                        && tableBytes(d, processRows) > group.memberCapacityBytes(options.memory());
    }

    /**
     * Returns the bytes on each member if a table and all smaller ones are replicated, and the
     * larger ones sharded. Counts only tables that are not built yet.
     */
    private long bytesIfReplicated(int d) {
        long bytes = tableBytes(d, streams.get(d).rowCount());
        long all = 0;
        for (int other : streams.keySet()) {
            if (other >= d && !isShared(other)) {
                long needed = tableBytes(other, streams.get(other).rowCount());
                all += needed <= bytes ? needed : needed / group.size();
            }
        }
        return all;
    }

    private long tableBytes(int d, long rows) {
        int rowBytes = streams.get(d).rowLayout().rowBytes();
        TableKind kind = TableKind.smallestOfUniqueKeys(rowBytes);
        return kind.slotsBytes(rows, rowBytes) + kind.rowsBytes(rows, rowBytes);
    }

    /**
     * Returns one table for each dimension, as far as they are built.
     *
     * @param member index of the device that holds the tables
     */
    List<GpuTable> tables(int member) {
        return tables.get(member);
    }

    /**
     * Returns the bytes of the tables built here. Before they are built, the device and pinned
     * memory of their build rows.
     */
    long lengthBytes() {
        long rowBytes = streams.values().stream().mapToLong(BuildStream::lengthBytes).sum();
        long changingBytes = allChanging().mapToLong(GpuChangingTable::lengthBytes).sum();
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
            tables.forEach(List::clear);
            builtBytes = 0;
            streams.values().forEach(BuildStream::freeRuns);
            allChanging().forEach(GpuChangingTable::free);
            fingerprints.values().forEach(KeyFingerprints::close);
            buffers.forEach(Buffers::close);
            streams.values().forEach(BuildStream::close);
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
            streams.values().forEach(BuildStream::abandonRuns);
            allChanging().forEach(GpuChangingTable::abandon);
            fingerprints.values().forEach(KeyFingerprints::close);
            buffers.forEach(Buffers::abandon);
            streams.values().forEach(BuildStream::close);
            if (base != null) {
                base.abandon();
            }
        }
    }
}
