// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a changelog dimension, at most one a key, in a UNIQUE table that kernels change in
 * place ({@code change.h}). Changes accumulate on the device until facts arrive or {@link #isFull},
 * and are then applied together while the serving kernel is stopped.
 *
 * <pre>
 *  chunks --> BuildStream --> runs --+--> gpujoin_change_claim, gpujoin_change_settle --> slots
 * </pre>
 *
 * <p>A deleted key keeps its slot until half of the slots are occupied. Then the live rows move to
 * a table with room for 1.5 times the live rows and new changes. Variable-width columns stay on the
 * host. If unreferenced bytes may exceed the referenced ones, a compaction copies the latter, some
 * slots in each {@link #apply}, so that its time depends on the changes, not on the table. New
 * changes go to the copies' memory from the start of a compaction on, and the previous memory is
 * freed at its end.
 */
final class GpuChangingTable {

    /** Runs of changes that may accumulate. */
    private static final int MAX_RUNS = 64;

    private static final int MIN_ROWS = 1024;

    /** Bytes of variable-width columns below which a compaction does not pay off. */
    private static final long MIN_COMPACTION_BYTES = 1 << 20;

    /** Slots whose references are copied to the host at once. */
    static final int REFERENCE_SLOTS = 1 << 17;

    /**
     * Slots that a compaction visits for each change, at least {@link #REFERENCE_SLOTS} of them.
     */
    private static final int VISITS_PER_CHANGE = 8;

    private final DimensionSpec dimension;
    private final BuildStream stream;
    private final BuildRowLayout layout;
    private final DeviceLease lease;
    private final CudaDriver driver;
    private final long timeoutNs;
    private final Buffers slots;
    private final Buffers scratch;
    private final Buffers workspace;

    /** Null before the first changes are applied. */
    private @Nullable TableKernels kernels;

    private GpuTable table;
    private long occupiedSlots;
    private long workspaceAddress;
    private long workspaceBytes;
    private long variableWidthBytesBefore;

    /** Memory that the current compaction copies from. */
    private @Nullable PagedMemory compacted;

    /** Slot at which the compaction continues. */
    private long nextSlot;

    private volatile long lengthBytes;

    /**
     * @param limits of the changes and their variable-width columns
     * @param owner whose budget limits this table too
     * @param timeoutNs time within which kernels must end
     */
    GpuChangingTable(
            DimensionSpec dimension,
            DeviceLease lease,
            MemoryLimits limits,
            Buffers owner,
            long timeoutNs) {
        this.dimension = dimension;
        this.stream =
                new BuildStream(
                        DeviceGroup.of(lease), limits, new BuildRowLayout(dimension), timeoutNs);
        this.layout = stream.rowLayout();
        this.lease = lease;
        this.driver = lease.driver();
        this.timeoutNs = timeoutNs;
        this.slots = owner.sibling();
        this.scratch = owner.sibling();
        this.workspace = owner.sibling();
        this.table =
                new GpuTable(
                        TableKind.UNIQUE, layout, 0, 0, 0, true, GpuTable.Shards.NONE, List.of());
    }

    /** Returns the current table; {@link #apply} may replace it. */
    GpuTable table() {
        return table;
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

    /** Copies the rest of the changes to the device; required before {@link #apply}. */
    void flush() {
        stream.flush();
    }

    /**
     * Applies the flushed changes while the serving kernel is stopped.
     *
     * @return whether slots or variable-width columns moved to other addresses
     */
    boolean apply() {
        if (!hasChanges()) {
            return false;
        }
        if (kernels == null) {
            kernels = new TableKernels(lease, scratch, timeoutNs);
        }
        long changes = stream.rowCount();
        boolean moved = ensureFreeSlots(changes);
        long runsBytes = stream.runLayout().descriptorBytes(stream.runCount());
        long runs = workspace(runsBytes + Integer.BYTES * changes);
        long slotNumbers = runs + runsBytes;
        kernels.describe(stream, 0, runs);
        kernels.clearCounters();
        long device = kernels.describe(0, table);
        kernels.launch(
                "gpujoin_change_claim", device, runs, changes, slotNumbers, kernels.counter(0));
        kernels.launch("gpujoin_change_settle", device, runs, changes, slotNumbers);
        occupiedSlots += kernels.readCounter(0);
        stream.rewind();
        if (isCompacting() || needsCompaction()) {
            compactSome(Math.max(REFERENCE_SLOTS, VISITS_PER_CHANGE * changes));
            moved = true;
        }
        updateLength();
        return moved;
    }

    private void updateLength() {
        long compactedBytes = isCompacting() ? compacted.lengthBytes() : 0;
        lengthBytes = table.lengthBytes() + stream.lengthBytes() + compactedBytes;
    }

    /** Returns device memory with unspecified content, valid until the next call. */
    private long workspace(long bytes) {
        if (bytes > workspaceBytes) {
            workspace.close();
            workspaceBytes = 0;
            workspaceAddress = workspace.device(bytes);
            workspaceBytes = bytes;
        }
        return workspaceAddress;
    }

    // ------------------------------------------------------------------ slots

    /**
     * Keeps half of the slots free after the changes; returns whether the rows moved to a new
     * table.
     */
    private boolean ensureFreeSlots(long changes) {
        if (2 * (occupiedSlots + changes) <= table.slotCount()) {
            return false;
        }
        long rows = countRows();
        long needed = rows + changes;
        try (Buffers memory = slots.sibling()) {
            GpuTable next =
                    GpuTable.empty(
                            driver,
                            memory,
                            TableKind.UNIQUE,
                            layout,
                            Math.max(MIN_ROWS, needed + needed / 2));
            if (rows > 0) {
                kernels.launch(
                        "gpujoin_move_rows", kernels.describe(0, table), kernels.describe(1, next));
                kernels.await();
            }
            slots.close();
            memory.moveTo(slots);
            table = next;
            occupiedSlots = rows;
            nextSlot = 0;
        }
        return true;
    }

    private long countRows() {
        if (occupiedSlots == 0) {
            return 0;
        }
        kernels.clearCounters();
        kernels.launch("gpujoin_count_rows", kernels.describe(0, table), kernels.counter(0));
        return kernels.readCounter(0);
    }

    // ------------------------------------------------------------------ variable-width columns

    /** Returns whether a compaction is in progress. */
    boolean isCompacting() {
        return compacted != null;
    }

    private boolean needsCompaction() {
        return layout.variableWidthOffset() >= 0
                && stream.variableWidthBytes()
                        > 2 * variableWidthBytesBefore + MIN_COMPACTION_BYTES;
    }

    /** Starts or continues a compaction, and frees the previous memory behind the last slot. */
    private void compactSome(long slotCount) {
        if (!isCompacting()) {
            compacted = stream.renewVariableWidth();
            nextSlot = 0;
        }
        long end = Math.min(table.slotCount(), nextSlot + slotCount);
        try (Region refs = Region.allocate((long) Long.BYTES * REFERENCE_SLOTS)) {
            while (nextSlot < end) {
                int count = (int) Math.min(REFERENCE_SLOTS, end - nextSlot);
                copyReferenced(nextSlot, count, refs.address());
                nextSlot += count;
            }
        }
        if (nextSlot == table.slotCount()) {
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

    /**
     * Copies the referenced bytes of variable-width columns, and redirects the rows to the copies.
     */
    private void copyReferenced(long firstSlot, int slotCount, long refs) {
        long refsBytes = (long) Long.BYTES * slotCount;
        long device = workspace(refsBytes);
        moveReferences("gpujoin_read_references", firstSlot, slotCount, device);
        driver.copyToHost(refs, device, refsBytes);
        for (int slot = 0; slot < slotCount; slot++) {
            long ref = refs + (long) Long.BYTES * slot;
            long from = Memory.getLong(ref);
            if (from != 0) {
                Memory.putLong(ref, stream.copyVariableWidth(from));
            }
        }
        driver.copyToDevice(device, refs, refsBytes);
        moveReferences("gpujoin_write_references", firstSlot, slotCount, device);
    }

    private void moveReferences(String kernel, long firstSlot, int slotCount, long device) {
        long described = kernels.describe(0, table);
        kernels.launch(
                kernel, described, layout.variableWidthOffset(), firstSlot, slotCount, device);
        kernels.await();
    }

    // ------------------------------------------------------------------ release

    /** Frees all memory while the serving kernel is stopped. */
    void free() {
        stream.freeRuns();
        closeCompacted();
        workspace.close();
        scratch.close();
        slots.close();
        stream.close();
    }

    /** Drops the memory of a lost device, see {@link Buffers#abandon}. */
    void abandon() {
        stream.abandonRuns();
        closeCompacted();
        workspace.abandon();
        scratch.abandon();
        slots.abandon();
        stream.close();
    }
}
