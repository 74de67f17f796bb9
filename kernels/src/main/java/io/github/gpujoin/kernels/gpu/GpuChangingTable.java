package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;

/**
 * The rows of a dimension that changes, one a key, in a UNIQUE table that kernels change in place
 * ({@code change.h}). Changes gather on the device until facts come, or until they are many, and
 * are then applied together, while the serving kernel stands still.
 *
 * <pre>
 *  chunks --> BuildStream --> runs --+--> gpujoin_change_claim, gpujoin_change_settle --> slots
 * </pre>
 *
 * <p>Keys whose row is deleted keep their slot until half of the slots are taken; then the rows
 * move to a table with room for as many again and a half. Carried bytes stay on the host; those
 * that no row refers to any more are let go of when they may be more than the others.
 */
final class GpuChangingTable {

    /** Runs of changes that may gather. */
    private static final int MAX_RUNS = 64;

    private static final int MIN_ROWS = 1024;

    /** Carried bytes up to which it is not worth while to look for dead ones. */
    private static final long MIN_COMPACTION_BYTES = 1 << 20;

    /** Slots whose references are on the host at once. */
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
     * @param stream of this table's own, closed by its owner
     * @param owner whose budget is this table's too
     * @param timeoutNs for kernels to end in
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

    /** The table as it is now; {@link #apply} may give another one. */
    GpuTable table() {
        return table;
    }

    /** Slots and changes; to be asked by any thread. */
    long lengthBytes() {
        return lengthBytes;
    }

    // ------------------------------------------------------------------ changes

    /** Takes changes, to be applied behind those before. */
    void append(Chunk chunk) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            RowChange.of(chunk.getInt(dimension.changeColumn(), row));
        }
        stream.append(chunk);
        count();
    }

    boolean hasChanges() {
        return stream.rowCount() > 0;
    }

    /** Whether no more changes should gather. */
    boolean isFull() {
        return stream.runs().size() >= MAX_RUNS;
    }

    /** To be called before {@link #apply}. */
    void flush() {
        stream.flush();
    }

    /**
     * Applies the changes that were flushed, while the serving kernel stands still.
     *
     * @return whether slots or carried bytes lie elsewhere now
     */
    boolean apply() {
        if (!hasChanges()) {
            return false;
        }
        if (kernels == null) {
            kernels = new TableKernels(lease, scratch, timeoutNs);
        }
        long changes = stream.rowCount();
        boolean moved = makeRoom(changes);
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
        count();
        return moved;
    }

    private void count() {
        lengthBytes = table.lengthBytes() + stream.lengthBytes();
    }

    /** Device memory of unspecified content, until the next call. */
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

    /** Keeps half of the slots free, whatever the changes are; whether the rows had to move. */
    private boolean makeRoom(long changes) {
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

    // ------------------------------------------------------------------ carried bytes

    /** Copies carried bytes that rows refer to, and has the rows refer to the copies. */
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

    // ------------------------------------------------------------------ the end

    /** Frees all memory but the stream's, while the serving kernel stands still. */
    void free() {
        workspace.close();
        scratch.close();
        slots.close();
    }

    /** Forgets the memory of a lost device, see {@link Buffers#abandon}. */
    void abandon() {
        workspace.abandon();
        scratch.abandon();
        slots.abandon();
    }
}
