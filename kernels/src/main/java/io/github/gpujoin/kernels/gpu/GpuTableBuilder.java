// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds a table from the rows that a stream has copied to the device, while the serving kernel is
 * stopped.
 *
 * <p>The multiplicity of the keys determines the kind of table. If keys are unique, or one row a
 * key suffices: the smaller of UNIQUE and GROUPED. If at most {@link #MAX_CHAINED_ROWS} rows share
 * a key: CHAINED, the smallest of all. Otherwise GROUPED.
 */
final class GpuTableBuilder implements AutoCloseable {

    /** Maximum rows of a key for which walking a chain is fast enough. */
    static final int MAX_CHAINED_ROWS = 4;

    private final CudaDriver driver;
    private final Buffers owner;
    private final Buffers scratch;
    private final BuildRowLayout layout;
    private final BuildRunLayout runLayout;
    private final long rowCount;
    private final TableKernels kernels;
    private final long runs;

    private GpuTableBuilder(DeviceLease lease, Buffers owner, BuildStream stream, long timeoutNs) {
        this.driver = lease.driver();
        this.owner = owner;
        this.scratch = owner.sibling();
        this.layout = stream.rowLayout();
        this.runLayout = stream.runLayout();
        this.rowCount = stream.rowCount();
        try {
            this.kernels = new TableKernels(lease, scratch, timeoutNs);
            this.runs = scratch.device(runLayout.descriptorBytes(stream.runs().size()));
            kernels.describe(stream, runs);
        } catch (Throwable e) {
            scratch.close();
            throw e;
        }
    }

    /**
     * Builds the table.
     *
     * @param owner receives the memory of the table
     * @param stream must be flushed
     * @param once whether a fact needs at most one match
     */
    static GpuTable build(
            DeviceLease lease, Buffers owner, BuildStream stream, boolean once, long timeoutNs) {
        try (GpuTableBuilder builder = new GpuTableBuilder(lease, owner, stream, timeoutNs)) {
            GpuTable unique = builder.buildUnique(once);
            return unique != null ? unique : builder.buildRepeated();
        }
    }

    /** Returns null if keys repeat and all their rows matter, or if another kind is smaller. */
    private @Nullable GpuTable buildUnique(boolean once) {
        if (!once && TableKind.smallestOfUniqueKeys(layout.rowBytes()) != TableKind.UNIQUE) {
            return null;
        }
        try (Buffers slots = owner.sibling()) {
            GpuTable unique = emptyTable(TableKind.UNIQUE, slots);
            kernels.clearCounters();
            run("gpujoin_insert_unique", unique, runs, rowCount, kernels.counter(0));
            if (!once && kernels.readCounter(0) > 0) {
                return null;
            }
            slots.moveTo(owner);
            return withRanges(unique);
        }
    }

    private GpuTable buildRepeated() {
        try (Buffers slots = owner.sibling();
                Buffers positions = owner.sibling()) {
            GpuTable groups = emptyTable(TableKind.GROUPED, slots);
            long positionsAddress =
                    positions.device(rowCount * PlanDescriptor.GROUP_POSITION_BYTES);
            long largest = findGroups(groups, positionsAddress);
            boolean isUnique = largest <= 1; // 0 without rows
            if (isUnique || largest > MAX_CHAINED_ROWS) {
                GpuTable grouped = withRows(groups);
                run("gpujoin_group_write", grouped, runs, rowCount, positionsAddress);
                slots.moveTo(owner);
                return isUnique ? withRanges(grouped) : grouped;
            }
        }
        GpuTable chained = withRows(emptyTable(TableKind.CHAINED, owner));
        run("gpujoin_insert_chained", chained, runs, rowCount);
        return chained;
    }

    private GpuTable emptyTable(TableKind kind, Buffers slotsOwner) {
        return GpuTable.empty(driver, slotsOwner, kind, layout, rowCount);
    }

    private GpuTable withRows(GpuTable table) {
        return table.withRows(owner.device(table.kind().rowsBytes(rowCount, layout.rowBytes())));
    }

    /** Finds the rank of each row among the rows of its key; returns the maximum rows of a key. */
    private long findGroups(GpuTable table, long positions) {
        kernels.clearCounters();
        run("gpujoin_group_join", table, runs, rowCount, positions);
        run("gpujoin_group_allocate", table, kernels.counter(0), kernels.counter(1));
        return kernels.readCounter(1);
    }

    /** Returns a table with unique keys with the ranges of its columns. */
    private GpuTable withRanges(GpuTable table) {
        long lengthBytes = (long) runLayout.columnCount() * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        try (Buffers memory = owner.sibling();
                Region region = Region.allocate(lengthBytes)) {
            for (int c = 0; c < runLayout.columnCount(); c++) {
                PayloadRange.writeEmpty(region.address(), c);
            }
            if (rowCount > 0 && runLayout.columnCount() > 1) {
                long ranges = memory.device(lengthBytes);
                driver.copyToDevice(ranges, region.address(), lengthBytes);
                kernels.launch("gpujoin_payload_ranges", runs, rowCount, ranges);
                kernels.await();
                driver.copyToHost(region.address(), ranges, lengthBytes);
            }
            return table.withUniqueKeys(
                    IntStream.range(1, runLayout.columnCount())
                            .mapToObj(c -> PayloadRange.read(region.address(), c))
                            .toList());
        }
    }

    /** Runs a build kernel, whose first argument is the table, and waits for its end. */
    private void run(String kernel, GpuTable table, long... more) {
        if (rowCount == 0) {
            return;
        }
        long[] arguments = new long[1 + more.length];
        arguments[0] = kernels.describe(0, table);
        System.arraycopy(more, 0, arguments, 1, more.length);
        kernels.launch(kernel, arguments);
        kernels.await();
    }

    /** Frees scratch memory. */
    @Override
    public void close() {
        scratch.close();
    }
}
