package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;

/**
 * Builds a table of the rows that a stream has brought to the device, while the serving kernel
 * stands still, and chooses its kind by what the rows show. Where no key repeats, or only one row
 * of a key matters: the smaller one of UNIQUE and GROUPED. Where keys repeat a few times: CHAINED,
 * the smallest of all. Else GROUPED.
 */
final class GpuTableBuilder implements AutoCloseable {

    /** Rows of a key that a chain is walked for. */
    static final int MAX_CHAINED_ROWS = 4;

    private static final int THREADS = 256;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;
    private static final long COUNTERS_BYTES = 2 * Long.BYTES;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final Buffers owner;
    private final Buffers scratch;
    private final BuildStream stream;
    private final BuildRowLayout layout;
    private final long rowCount;
    private final long timeoutNs;
    private final int blocks;
    private final long dimension;
    private final long counters;
    private final long runs;

    private GpuTableBuilder(DeviceLease lease, Buffers owner, BuildStream stream, long timeoutNs) {
        this.lease = lease;
        this.driver = lease.driver();
        this.owner = owner;
        this.scratch = owner.sibling();
        this.stream = stream;
        this.layout = stream.rowLayout();
        this.rowCount = stream.rowCount();
        this.timeoutNs = timeoutNs;
        this.blocks = driver.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
        try {
            this.dimension = scratch.device(PlanDescriptor.DIMENSION_BYTES);
            this.counters = scratch.device(COUNTERS_BYTES);
            this.runs = copyRunsDescriptor();
        } catch (Throwable e) {
            scratch.close();
            throw e;
        }
    }

    /**
     * @param owner of the table's memory
     * @param stream flushed
     * @param once whether a fact row meets one match at most
     */
    static GpuTable build(
            DeviceLease lease, Buffers owner, BuildStream stream, boolean once, long timeoutNs) {
        try (GpuTableBuilder builder = new GpuTableBuilder(lease, owner, stream, timeoutNs)) {
            GpuTable unique = builder.buildUnique(once);
            return unique != null ? unique : builder.buildRepeated();
        }
    }

    private long copyRunsDescriptor() {
        BuildRunLayout runLayout = stream.runLayout();
        long lengthBytes = runLayout.descriptorBytes(stream.runs().size());
        long device = scratch.device(lengthBytes);
        try (Region region = Region.allocateZeroed(lengthBytes)) {
            runLayout.writeDescriptor(region.address(), device, stream.runs());
            driver.copyToDevice(device, region.address(), lengthBytes);
        }
        return device;
    }

    /** Null where keys repeat and all their rows matter, or where another kind is smaller. */
    private GpuTable buildUnique(boolean once) {
        if (!once && TableKind.smallestOfUniqueKeys(layout.rowBytes()) != TableKind.UNIQUE) {
            return null;
        }
        try (Buffers slots = owner.sibling()) {
            GpuTable unique = emptyTable(TableKind.UNIQUE, slots);
            clearCounters();
            run("gpujoin_insert_unique", unique, runs, rowCount, counters);
            if (!once && readCounter(0) > 0) {
                return null;
            }
            slots.moveTo(owner);
            return unique;
        }
    }

    private GpuTable buildRepeated() {
        try (Buffers slots = owner.sibling();
                Buffers places = owner.sibling()) {
            GpuTable groups = emptyTable(TableKind.GROUPED, slots);
            long placesAddress = places.device(rowCount * PlanDescriptor.GROUP_PLACE_BYTES);
            long largest = findGroups(groups, placesAddress);
            if (largest == 1 || largest > MAX_CHAINED_ROWS) {
                GpuTable grouped = withRows(groups);
                run("gpujoin_group_write", grouped, runs, rowCount, placesAddress);
                slots.moveTo(owner);
                return grouped;
            }
        }
        GpuTable chained = withRows(emptyTable(TableKind.CHAINED, owner));
        run("gpujoin_insert_chained", chained, runs, rowCount);
        return chained;
    }

    /** A table with empty slots and no rows beside them. */
    private GpuTable emptyTable(TableKind kind, Buffers slotsOwner) {
        long slotsBytes = kind.slotsBytes(rowCount, layout.rowBytes());
        long slots = slotsOwner.device(slotsBytes);
        if (slotsBytes > 0) {
            driver.fillDevice(slots, (byte) -1, slotsBytes);
        }
        return new GpuTable(kind, layout, rowCount, slots, slots);
    }

    private GpuTable withRows(GpuTable table) {
        long rows = owner.device(table.kind().rowsBytes(rowCount, layout.rowBytes()));
        return new GpuTable(table.kind(), layout, rowCount, rows, table.slots());
    }

    /** Finds each row's place among the rows of its key; returns the most rows of a key. */
    private long findGroups(GpuTable table, long places) {
        clearCounters();
        run("gpujoin_group_join", table, runs, rowCount, places);
        run("gpujoin_group_place", table, counters, counters + Long.BYTES);
        return readCounter(1);
    }

    /** Runs a build kernel, whose first argument is the table, to its end. */
    private void run(String kernel, GpuTable table, long... more) {
        if (rowCount == 0) {
            return;
        }
        long[] arguments = new long[1 + more.length];
        arguments[0] = dimension;
        System.arraycopy(more, 0, arguments, 1, more.length);
        try (Region region = Region.allocateZeroed(PlanDescriptor.DIMENSION_BYTES)) {
            table.write(region.address());
            driver.copyToDevice(dimension, region.address(), region.lengthBytes());
        }
        driver.launch(kernel, blocks, THREADS, arguments);
        lease.awaitIdle(timeoutNs);
    }

    private void clearCounters() {
        driver.fillDevice(counters, (byte) 0, COUNTERS_BYTES);
    }

    private long readCounter(int counter) {
        try (Region region = Region.allocate(COUNTERS_BYTES)) {
            driver.copyToHost(region.address(), counters, COUNTERS_BYTES);
            return Memory.getLong(region.address() + (long) Long.BYTES * counter);
        }
    }

    /** Frees scratch memory. */
    @Override
    public void close() {
        scratch.close();
    }
}
