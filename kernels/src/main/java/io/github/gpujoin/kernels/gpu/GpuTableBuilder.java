package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;

/**
 * Builds a table of staged rows while the serving kernel stands still, and chooses its kind by what
 * the rows show: UNIQUE where no key repeats, or where only one row of a key matters; CHAINED where
 * keys repeat a few times, since it is the smallest; else GROUPED.
 */
final class GpuTableBuilder {

    /** Rows of a key that a chain is walked for. */
    static final int MAX_CHAINED_ROWS = 4;

    private static final int THREADS = 256;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final Buffers owner;
    private final BuildRowLayout layout;
    private final long rowCount;
    private final long timeoutNs;
    private final int blocks;

    private GpuTableBuilder(
            DeviceLease lease, Buffers owner, BuildStaging staging, long timeoutNs) {
        this.lease = lease;
        this.owner = owner;
        this.driver = lease.driver();
        this.layout = staging.layout();
        this.rowCount = staging.rowCount();
        this.timeoutNs = timeoutNs;
        this.blocks = driver.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
    }

    /**
     * Copies the rows and inserts them.
     *
     * @param owner of the table's memory
     * @param once whether a fact row meets one match at most
     */
    static GpuTable build(
            DeviceLease lease, Buffers owner, BuildStaging staging, boolean once, long timeoutNs) {
        GpuTableBuilder builder = new GpuTableBuilder(lease, owner, staging, timeoutNs);
        try (Buffers rows = owner.sibling();
                Buffers slots = owner.sibling()) {
            GpuTable unique = builder.table(TableKind.UNIQUE, rows, slots);
            builder.copyRows(staging, unique.rows());
            if (builder.insertUnique(unique) == 0 || once) {
                rows.moveTo(owner);
                slots.moveTo(owner);
                return unique;
            }
            slots.close();
            return builder.buildRepeated(rows, unique.rows());
        }
    }

    private GpuTable buildRepeated(Buffers rows, long rowsAddress) {
        try (Buffers slots = owner.sibling();
                Buffers places = owner.sibling()) {
            GpuTable grouped = table(TableKind.GROUPED, rowsAddress, slots);
            long placesAddress = places.device(rowCount * PlanDescriptor.GROUP_PLACE_BYTES);
            if (findGroups(grouped, placesAddress) > MAX_CHAINED_ROWS) {
                long target = owner.device(rowCount * layout.rowBytes());
                run("gpujoin_group_move", grouped, rowCount, placesAddress, target);
                slots.moveTo(owner);
                return new GpuTable(grouped.kind(), layout, rowCount, target, grouped.slots());
            }
        }
        rows.moveTo(owner);
        GpuTable chained = table(TableKind.CHAINED, rowsAddress, owner);
        run("gpujoin_insert_chained", chained, rowCount);
        return chained;
    }

    private GpuTable table(TableKind kind, Buffers rows, Buffers slots) {
        return table(kind, rows.device(rowCount * layout.rowBytes()), slots);
    }

    /** A table with empty slots. */
    private GpuTable table(TableKind kind, long rows, Buffers slots) {
        long slotsBytes = kind.slotsBytes(rowCount);
        GpuTable table = new GpuTable(kind, layout, rowCount, rows, slots.device(slotsBytes));
        if (slotsBytes > 0) {
            driver.fillDevice(table.slots(), (byte) -1, slotsBytes);
        }
        return table;
    }

    private void copyRows(BuildStaging staging, long rows) {
        long[] next = {rows};
        staging.rows()
                .forEach(
                        (address, lengthBytes) -> {
                            driver.copyToDevice(next[0], address, lengthBytes);
                            next[0] += lengthBytes;
                        });
    }

    /** Returns how many rows have a key that was there already. */
    private long insertUnique(GpuTable table) {
        try (Counters counters = new Counters()) {
            run("gpujoin_insert_unique", table, rowCount, counters.device);
            return counters.read(0);
        }
    }

    /** Finds each row's place among the rows of its key; returns the most rows of a key. */
    private long findGroups(GpuTable table, long places) {
        try (Counters counters = new Counters()) {
            run("gpujoin_group_join", table, rowCount, places);
            run("gpujoin_group_place", table, counters.device, counters.device + Long.BYTES);
            return counters.read(1);
        }
    }

    /** Runs a build kernel, whose first argument is the table, to its end. */
    private void run(String kernel, GpuTable table, long... more) {
        if (rowCount == 0) {
            return;
        }
        try (Buffers scratch = owner.sibling();
                Region region = Region.allocateZeroed(PlanDescriptor.DIMENSION_BYTES)) {
            long[] arguments = new long[1 + more.length];
            arguments[0] = scratch.device(region.lengthBytes());
            System.arraycopy(more, 0, arguments, 1, more.length);
            table.write(region.address());
            driver.copyToDevice(arguments[0], region.address(), region.lengthBytes());
            driver.launch(kernel, blocks, THREADS, arguments);
            lease.awaitIdle(timeoutNs);
        }
    }

    /** Two 8-byte counters on the device, zero at first. */
    private final class Counters implements AutoCloseable {
        private static final long LENGTH_BYTES = 2 * Long.BYTES;

        final Buffers buffers = owner.sibling();
        final long device = buffers.device(LENGTH_BYTES);

        Counters() {
            driver.fillDevice(device, (byte) 0, LENGTH_BYTES);
        }

        long read(int counter) {
            try (Region region = Region.allocate(LENGTH_BYTES)) {
                driver.copyToHost(region.address(), device, LENGTH_BYTES);
                return Memory.getLong(region.address() + 8L * counter);
            }
        }

        @Override
        public void close() {
            buffers.close();
        }
    }
}
