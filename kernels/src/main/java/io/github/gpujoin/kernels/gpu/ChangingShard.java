// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a changelog dimension on one device: all of them, or those whose keys the device
 * owns. Kernels of the device change them in place ({@code change.h}) while the serving kernels are
 * stopped. The device reads changes in the memory of all devices of the stream.
 *
 * <p>A deleted key keeps its slot until half of the slots are occupied. Then the live rows move to
 * new slots, with room for 1.5 times the live rows and new changes.
 */
final class ChangingShard {

    private static final int MIN_ROWS = 1024;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final int member;
    private final BuildRowLayout layout;
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

    /** Device address of the descriptor of the runs while changes are applied. */
    private long runs;

    /** Slot at which the compaction continues. */
    private long nextSlot;

    /**
     * @param member index of the device among those of the stream
     * @param shards whether this is one of several shards
     * @param owner whose limits apply to this memory too
     * @param timeoutNs time within which kernels must end
     */
    ChangingShard(
            DeviceLease lease,
            int member,
            BuildRowLayout layout,
            GpuTable.Shards shards,
            Buffers owner,
            long timeoutNs) {
        this.lease = lease;
        this.driver = lease.driver();
        this.member = member;
        this.layout = layout;
        this.timeoutNs = timeoutNs;
        this.slots = owner.sibling();
        this.scratch = owner.sibling();
        this.workspace = owner.sibling();
        this.table = GpuTable.unallocated(TableKind.UNIQUE, layout, shards);
    }

    /** Returns the current rows; {@link #prepare} may replace them. */
    GpuTable table() {
        return table;
    }

    // ------------------------------------------------------------------ changes

    /**
     * Makes room for the changes of a stream.
     *
     * @return whether the rows moved to other addresses
     */
    boolean prepare(BuildStream stream) {
        if (kernels == null) {
            kernels = new TableKernels(lease, scratch, timeoutNs);
        }
        runs = workspace(runsBytes(stream) + Integer.BYTES * stream.rowCount());
        kernels.describe(stream.runLayout(), stream.runs(member), runs);
        return ensureFreeSlots(stream.rowCount());
    }

    private static long runsBytes(BuildStream stream) {
        return stream.runLayout().descriptorBytes(stream.runCount());
    }

    /** Starts to apply the changes of a stream, all of which have room. */
    void start(BuildStream stream) {
        long changes = stream.rowCount();
        long slotNumbers = runs + runsBytes(stream);
        kernels.clearCounters();
        long device = kernels.describe(0, table);
        kernels.launch(
                "gpujoin_change_claim", device, runs, changes, slotNumbers, kernels.counter(0));
        kernels.launch("gpujoin_change_settle", device, runs, changes, slotNumbers);
    }

    /** Waits until the changes are applied. */
    void finish() {
        occupiedSlots += kernels.readCounter(0);
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

    /** Keeps half of the slots free after the changes; returns whether the rows moved. */
    private boolean ensureFreeSlots(long changes) {
        if (hasRoom(changes)) {
            return false;
        }
        long ownChanges = table.shards().count() == 0 ? changes : countChanges(changes);
        if (hasRoom(ownChanges)) {
            return false;
        }
        long rows = countRows();
        moveRows(rows, rows + ownChanges);
        return true;
    }

    private boolean hasRoom(long changes) {
        return 2 * (occupiedSlots + changes) <= table.slotCount();
    }

    private long countChanges(long changes) {
        kernels.clearCounters();
        kernels.launch(
                "gpujoin_count_shard",
                kernels.describe(0, table),
                runs,
                changes,
                kernels.counter(0));
        return kernels.readCounter(0);
    }

    private long countRows() {
        if (occupiedSlots == 0) {
            return 0;
        }
        kernels.clearCounters();
        kernels.launch("gpujoin_count_rows", kernels.describe(0, table), kernels.counter(0));
        return kernels.readCounter(0);
    }

    private void moveRows(long rows, long needed) {
        try (Buffers memory = slots.sibling()) {
            GpuTable next =
                    GpuTable.empty(
                            driver,
                            memory,
                            TableKind.UNIQUE,
                            layout,
                            Math.max(MIN_ROWS, needed + needed / 2),
                            table.shards());
            if (rows > 0) {
                kernels.launch(
                        "gpujoin_move_rows", kernels.describe(0, table), kernels.describe(1, next));
                kernels.await();
            }
            slots.close();
            memory.moveTo(slots);
            // A compaction that has visited all rows has redirected those that move.
            nextSlot = isCompacted() ? next.slotCount() : 0;
            table = next;
            occupiedSlots = rows;
        }
    }

    // ------------------------------------------------------------------ variable-width columns

    /** Starts a compaction at the first slot. */
    void startCompaction() {
        nextSlot = 0;
    }

    /** Returns whether the compaction has visited all slots. */
    boolean isCompacted() {
        return nextSlot == table.slotCount();
    }

    /**
     * Continues a compaction: replaces the references of the next slots.
     *
     * @param slotCount maximum slots to visit
     * @param refs host memory for {@link GpuChangingTable#REFERENCE_SLOTS} references
     * @param copy returns the address of a copy
     * @return the number of slots visited
     */
    long compact(long slotCount, long refs, LongUnaryOperator copy) {
        long first = nextSlot;
        long end = Math.min(table.slotCount(), first + slotCount);
        while (nextSlot < end) {
            int count = (int) Math.min(GpuChangingTable.REFERENCE_SLOTS, end - nextSlot);
            replaceReferences(nextSlot, count, refs, copy);
            nextSlot += count;
        }
        return end - first;
    }

    private void replaceReferences(
            long firstSlot, int slotCount, long refs, LongUnaryOperator copy) {
        long refsBytes = (long) Long.BYTES * slotCount;
        long device = workspace(refsBytes);
        moveReferences("gpujoin_read_references", firstSlot, slotCount, device);
        driver.copyToHost(refs, device, refsBytes);
        for (int slot = 0; slot < slotCount; slot++) {
            long ref = refs + (long) Long.BYTES * slot;
            long from = Memory.getLong(ref);
            if (from != 0) {
                Memory.putLong(ref, copy.applyAsLong(from));
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

    /** Frees all memory. */
    void free() {
        workspace.close();
        scratch.close();
        slots.close();
    }

    /** Drops the memory of a lost device, see {@link Buffers#abandon}. */
    void abandon() {
        workspace.abandon();
        scratch.abandon();
        slots.abandon();
    }
}
