package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;

/**
 * The rows of a changelog dimension, at most one a key, in a UNIQUE table that kernels change in
 * place ({@code change.h}). Changes accumulate on the device until facts arrive or {@link #isFull},
 * and are then applied together while the serving kernel is stopped.
 *
 * <pre>
 *  chunks --> BuildStream --> runs --+--> gpujoin_change_claim, gpujoin_change_settle --> slots
 * </pre>
 *
 * <p>A deleted key keeps its slot until half of the slots are taken. Then the live rows move to a
 * table with room for 1.5 times the live rows and new changes. Variable-width columns stay on the
 * host; unreferenced bytes are freed when they may exceed the referenced ones.
 */
final class GpuChangingTable {

    /** Runs of changes that may accumulate. */
    private static final int MAX_RUNS = 64;

    private static final int MIN_ROWS = 1024;

    /** Bytes of variable-width columns below which a compaction does not pay off. */
    private static final long MIN_COMPACTION_BYTES = 1 << 20;

    /** Slots whose references are copied to the host at once. */
    private static final int REFERENCE_SLOTS = 1 << 17;

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
    private TableKernels kernels;

    private GpuTable table;
    private long takenSlots;
    private long workspaceAddress;
    private long workspaceBytes;
    private long carriedBytesBefore;
    private volatile long lengthBytes;

    /**
     * @param stream used by this table alone, closed by its owner
     * @param owner whose budget limits this table too
     * @param timeoutNs time within which kernels must end
     */
    GpuChangingTable(
            DimensionSpec dimension,
            DeviceLease lease,
            Buffers owner,
            BuildStream stream,
            long timeoutNs) {
        this.dimension = dimension;
        this.stream = stream;
        this.layout = stream.rowLayout();
        this.lease = lease;
        this.driver = lease.driver();
        this.timeoutNs = timeoutNs;
        this.slots = owner.sibling();
        this.scratch = owner.sibling();
        this.workspace = owner.sibling();
        this.table = new GpuTable(TableKind.UNIQUE, layout, 0, 0, 0);
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
        return stream.runs().size() >= MAX_RUNS;
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
        long runsBytes = stream.runLayout().descriptorBytes(stream.runs().size());
        long runs = workspace(runsBytes + Integer.BYTES * changes);
        long places = runs + runsBytes;
        kernels.describe(stream, runs);
        kernels.clearCounters();
        long device = kernels.describe(0, table);
        kernels.launch("gpujoin_change_claim", device, runs, changes, places, kernels.counter(0));
        kernels.launch("gpujoin_change_settle", device, runs, changes, places);
        takenSlots += kernels.readCounter(0);
        stream.rewind();
        if (layout.carriedOffset() >= 0
                && stream.carriedBytes() > 2 * carriedBytesBefore + MIN_COMPACTION_BYTES) {
            compactCarried();
            moved = true;
        }
        updateLength();
        return moved;
    }

    private void updateLength() {
        lengthBytes = table.lengthBytes() + stream.lengthBytes();
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
        if (2 * (takenSlots + changes) <= table.slotCount()) {
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
            takenSlots = rows;
        }
        return true;
    }

    private long countRows() {
        if (takenSlots == 0) {
            return 0;
        }
        kernels.clearCounters();
        kernels.launch("gpujoin_count_rows", kernels.describe(0, table), kernels.counter(0));
        return kernels.readCounter(0);
    }

    // ------------------------------------------------------------------ variable-width columns

    /**
     * Copies the referenced bytes of variable-width columns, and redirects the rows to the copies.
     */
    private void compactCarried() {
        PagedMemory live = stream.newCarried();
        long liveBytes = 0;
        try (Region refs = Region.allocate((long) Long.BYTES * REFERENCE_SLOTS)) {
            for (long first = 0; first < table.slotCount(); first += REFERENCE_SLOTS) {
                int count = (int) Math.min(REFERENCE_SLOTS, table.slotCount() - first);
                liveBytes += compactCarried(first, count, refs.address(), live);
            }
        } catch (Throwable e) {
            live.close();
            throw e;
        }
        stream.replaceCarried(live, liveBytes);
        carriedBytesBefore = liveBytes;
    }

    private long compactCarried(long firstSlot, int slotCount, long refs, PagedMemory live) {
        long refsBytes = (long) Long.BYTES * slotCount;
        long device = workspace(refsBytes);
        moveReferences("gpujoin_take_carried", firstSlot, slotCount, device);
        driver.copyToHost(refs, device, refsBytes);
        long liveBytes = 0;
        for (int slot = 0; slot < slotCount; slot++) {
            long from = Memory.getLong(refs + (long) Long.BYTES * slot);
            if (from != 0) {
                long bytes = 4L + Memory.getInt(from);
                long to = live.take(bytes);
                Memory.copy(null, from, null, to, bytes);
                Memory.putLong(refs + (long) Long.BYTES * slot, to);
                liveBytes += bytes;
            }
        }
        driver.copyToDevice(device, refs, refsBytes);
        moveReferences("gpujoin_put_carried", firstSlot, slotCount, device);
        return liveBytes;
    }

    private void moveReferences(String kernel, long firstSlot, int slotCount, long device) {
        long described = kernels.describe(0, table);
        kernels.launch(kernel, described, layout.carriedOffset(), firstSlot, slotCount, device);
        kernels.await();
    }

    // ------------------------------------------------------------------ release

    /** Frees all memory except the stream, while the serving kernel is stopped. */
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
