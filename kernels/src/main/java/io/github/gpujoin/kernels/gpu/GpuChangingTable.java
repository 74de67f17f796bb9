// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a changelog dimension, at most one a key, in a UNIQUE table that kernels change in
 * place. On several devices each one has a shard and changes the rows of its keys. Changes are
 * copied to one device each, accumulate there until facts arrive or {@link #isFull}, and are then
 * applied together while the serving kernels are stopped.
 *
 * <pre>
 *                            +--> runs of device 0 --+    +--> ChangingShard 0
 *  chunks --> BuildStream ---+                       +----+
 *                            +--> runs of device 1 --+    +--> ChangingShard 1
 * </pre>
 *
 * <p>Variable-width columns of all shards stay on the host. If unreferenced bytes may exceed the
 * referenced ones, a compaction copies the latter, some slots in each {@link #apply}, so that its
 * time depends on the changes, not on the table. New changes go to the copies' memory from the
 * start of a compaction on, and the previous memory is freed at its end.
 */
final class GpuChangingTable {

    /** Runs of changes that may accumulate. */
    private static final int MAX_RUNS = 64;

    /** Bytes of variable-width columns below which a compaction does not pay off. */
    private static final long MIN_COMPACTION_BYTES = 1 << 20;

    /** Slots whose references are copied to the host at once. */
    static final int REFERENCE_SLOTS = 1 << 17;

    /**
     * Slots that a compaction visits for each change, at least {@link #REFERENCE_SLOTS} of them.
     */
    private static final int VISITS_PER_CHANGE = 8;

    private final DimensionSpec dimension;
    private final DeviceGroup group;
    private final BuildStream stream;

    /** By member of the group. */
    private final List<ChangingShard> shards = new ArrayList<>();

    /** Own the addresses of the shards, by member of the group. */
    private final List<Buffers> addressOwners;

    /** Null before the shards are connected, and if there is one. */
    private @Nullable ShardAddresses addresses;

    /** The table as each member sees it; empty before the shards are connected. */
    private List<GpuTable> tables = List.of();

    private long variableWidthBytesBefore;

    /** Memory that the current compaction copies from. */
    private @Nullable PagedMemory compacted;

    private volatile long lengthBytes;

    /**
     * @param group of one device, or of devices that can access each other's memory
     * @param limits of the changes and their variable-width columns
     * @param owners whose budgets limit this table too, by member of the group
     * @param timeoutNs time within which kernels must end
     */
    GpuChangingTable(
            DimensionSpec dimension,
            DeviceGroup group,
            MemoryLimits limits,
            List<Buffers> owners,
            long timeoutNs) {
        this.dimension = dimension;
        this.group = group;
        this.stream = new BuildStream(group, limits, new BuildRowLayout(dimension), timeoutNs);
        this.addressOwners = owners.stream().map(Buffers::sibling).toList();
        for (int i = 0; i < group.size(); i++) {
            shards.add(
                    new ChangingShard(
                            group.members().get(i),
                            i,
                            stream.rowLayout(),
                            group.size() == 1
                                    ? GpuTable.Shards.NONE
                                    : new GpuTable.Shards(group.size(), i, 0),
                            owners.get(i),
                            timeoutNs));
        }
    }

    /**
     * Returns the current table as each member sees it; {@link #apply} may replace it. Call it
     * first while the serving kernels are stopped.
     */
    List<GpuTable> tables() {
        if (tables.isEmpty()) {
            connect();
        }
        return tables;
    }

    private void connect() {
        List<GpuTable> own = shards.stream().map(ChangingShard::table).toList();
        if (group.size() > 1 && addresses == null) {
            addresses = ShardAddresses.allocate(group, addressOwners);
        }
        tables = addresses == null ? own : addresses.connect(own);
    }

    /** Returns the bytes of slots and changes. Callable by any thread. */
    long lengthBytes() {
        return lengthBytes;
    }

    // ------------------------------------------------------------------ changes

    /** Adds changes, to be applied after the earlier ones. */
    void append(Chunk chunk) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            RowChange.of(chunk.getInt(dimension.changeColumn(), row));
        }
        stream.append(chunk);
        updateLength();
    }

    boolean hasChanges() {
        return stream.rowCount() > 0;
    }

    /** Returns whether the changes must be applied before more are added. */
    boolean isFull() {
        return stream.runCount() >= MAX_RUNS;
    }

    /** Copies the rest of the changes to the devices; required before {@link #apply}. */
    void flush() {
        stream.flush();
    }

    /**
     * Applies the flushed changes while the serving kernels are stopped.
     *
     * @return whether slots or variable-width columns moved to other addresses
     */
    boolean apply() {
        if (!hasChanges()) {
            return false;
        }
        long changes = stream.rowCount();
        boolean moved = false;
        for (ChangingShard shard : shards) {
            moved |= shard.prepare(stream);
        }
        shards.forEach(shard -> shard.start(stream));
        // Each device reads the runs of all, so none is reused before all have ended.
        shards.forEach(ChangingShard::finish);
        stream.rewind();
        if (moved) {
            connect();
        }
        if (isCompacting() || needsCompaction()) {
            compactSome(Math.max(REFERENCE_SLOTS, VISITS_PER_CHANGE * changes));
            moved = true;
        }
        updateLength();
        return moved;
    }

    private void updateLength() {
        long slotBytes = shards.stream().mapToLong(shard -> shard.table().lengthBytes()).sum();
        long compactedBytes = isCompacting() ? compacted.lengthBytes() : 0;
        lengthBytes = slotBytes + stream.lengthBytes() + compactedBytes;
    }

    // ------------------------------------------------------------------ variable-width columns

    /** Returns whether a compaction is in progress. */
    boolean isCompacting() {
        return compacted != null;
    }

    private boolean needsCompaction() {
        return stream.rowLayout().variableWidthOffset() >= 0
                && stream.variableWidthBytes()
                        > 2 * variableWidthBytesBefore + MIN_COMPACTION_BYTES;
    }

    /** Starts or continues a compaction, and frees the previous memory behind the last slot. */
    private void compactSome(long slotCount) {
        if (!isCompacting()) {
            compacted = stream.renewVariableWidth();
            shards.forEach(ChangingShard::startCompaction);
        }
        long left = slotCount;
        try (Region refs = Region.allocate((long) Long.BYTES * REFERENCE_SLOTS)) {
            for (ChangingShard shard : shards) {
                left -= shard.compact(left, refs.address(), stream::copyVariableWidth);
            }
        }
        if (shards.stream().allMatch(ChangingShard::isCompacted)) {
            closeCompacted();
            variableWidthBytesBefore = stream.variableWidthBytes();
        }
    }

    private void closeCompacted() {
        if (isCompacting()) {
            compacted.close();
            compacted = null;
        }
    }

    // ------------------------------------------------------------------ release

    /** Frees all memory while the serving kernels are stopped. */
    void free() {
        stream.freeRuns();
        closeCompacted();
        shards.forEach(ChangingShard::free);
        addressOwners.forEach(Buffers::close);
        stream.close();
    }

    /** Drops the memory of a lost device, see {@link Buffers#abandon}. */
    void abandon() {
        stream.abandonRuns();
        closeCompacted();
        shards.forEach(ChangingShard::abandon);
        addressOwners.forEach(Buffers::abandon);
        stream.close();
    }
}
