// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Builds a table on every device of a group from the rows that a stream has copied there, while the
 * serving kernels are stopped. Every device gets all rows, or those of a shard. Each kernel runs on
 * all devices at the same time, and ends on all before the next one starts.
 *
 * <p>The multiplicity of the keys determines the kind of table. If keys are unique, or one row a
 * key suffices: the smaller of UNIQUE and GROUPED. If at most {@link #MAX_CHAINED_ROWS} rows share
 * a key: CHAINED, the smallest of all, but not for shards. Otherwise GROUPED.
 */
final class GpuTableBuilder implements AutoCloseable {

    /** Maximum rows of a key for which walking a chain is fast enough. */
    static final int MAX_CHAINED_ROWS = 4;

    /** What a build uses on one device. */
    private final class Site {

        private final CudaDriver driver;
        private final Buffers owner;
        private final Buffers scratch;
        private final TableKernels kernels;

        /** Descriptors of all runs, and of those in the memory of this device. */
        private final long runs;

        private final long ownRuns;
        private final long ownRowCount;

        /** Memory of the table that is built, until it is the table to keep. */
        private Buffers slots;

        private final GpuTable.Shards shards;

        /** Rows of the table or of the shard. */
        private long rowCount;

        private GpuTable table;

        /** Device memory of a PayloadRange a column. */
        private long ranges;

        Site(
                DeviceLease lease,
                Buffers owner,
                BuildStream stream,
                int member,
                GpuTable.Shards shards,
                long timeoutNs) {
            this.shards = shards;
            this.rowCount = stream.rowCount();
            this.driver = lease.driver();
            this.owner = owner;
            this.scratch = owner.sibling();
            try {
                this.kernels = new TableKernels(lease, scratch, timeoutNs);
                this.runs = describe(stream.runs(member));
                List<Long> own = stream.ownRuns(member);
                this.ownRuns = own.size() == stream.runCount() ? runs : describe(own);
                this.ownRowCount = stream.ownRowCount(member);
            } catch (Throwable e) {
                scratch.close();
                throw e;
            }
        }

        private long describe(List<Long> described) {
            long descriptor = scratch.device(runLayout.descriptorBytes(described.size()));
            kernels.describe(runLayout, described, descriptor);
            return descriptor;
        }

        private void begin(TableKind kind) {
            slots = owner.sibling();
            table = GpuTable.empty(driver, slots, kind, layout, rowCount, shards);
        }

        private void discard() {
            if (slots != null) {
                slots.close();
            }
        }

        private void allocateRows() {
            long rowsBytes = table.kind().rowsBytes(rowCount, layout.rowBytes());
            table = table.withRows(slots.device(rowsBytes));
        }

        private GpuTable keep() {
            slots.moveTo(owner);
            return table;
        }
    }

    private final BuildRowLayout layout;
    private final BuildRunLayout runLayout;
    private final long rowCount;
    private final boolean isSharded;
    private final List<Site> sites = new ArrayList<>();

    private GpuTableBuilder(
            DeviceGroup group,
            List<Buffers> owners,
            BuildStream stream,
            boolean isSharded,
            long timeoutNs) {
        this.layout = stream.rowLayout();
        this.runLayout = stream.runLayout();
        this.rowCount = stream.rowCount();
        this.isSharded = isSharded;
        try {
            for (int i = 0; i < group.size(); i++) {
                GpuTable.Shards shards =
                        isSharded ? new GpuTable.Shards(group.size(), i, 0) : GpuTable.Shards.NONE;
                DeviceLease lease = group.members().get(i);
                sites.add(new Site(lease, owners.get(i), stream, i, shards, timeoutNs));
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Builds the table.
     *
     * @param owners receive the memory of the table, one for each member of the group
     * @param stream must be flushed
     * @param once whether a fact needs at most one match
     * @param isSharded whether each member gets a shard; only with peer access
     * @return the table as each member sees it
     */
    static List<GpuTable> build(
            DeviceGroup group,
            List<Buffers> owners,
            BuildStream stream,
            boolean once,
            boolean isSharded,
            long timeoutNs) {
        try (GpuTableBuilder builder =
                new GpuTableBuilder(group, owners, stream, isSharded, timeoutNs)) {
            if (!isSharded) {
                return builder.build(once);
            }
            builder.countRows();
            List<GpuTable> shards = builder.build(once);
            return ShardAddresses.allocate(group, owners).connect(shards);
        }
    }

    /** Counts the rows of each shard; each device reads the runs in its own memory. */
    private void countRows() {
        for (Site counted : sites) {
            GpuTable shard = GpuTable.unallocated(TableKind.UNIQUE, layout, counted.shards);
            sites.forEach(site -> site.table = shard);
            clearCounters();
            runOnOwn("gpujoin_count_shard", site -> site.kernels.counter(0));
            counted.rowCount = sites.stream().mapToLong(site -> site.kernels.readCounter(0)).sum();
        }
    }

    private List<GpuTable> build(boolean once) {
        boolean isUniqueSmallest =
                TableKind.smallestOfUniqueKeys(layout.rowBytes()) == TableKind.UNIQUE;
        if (once || isUniqueSmallest) {
            sites.forEach(site -> site.begin(TableKind.UNIQUE));
            clearCounters();
            run("gpujoin_insert_unique", site -> new long[] {site.kernels.counter(0)});
            if (once || readCounter(0) == 0) {
                return keepWithRanges();
            }
            sites.forEach(Site::discard);
        }
        return buildRepeated();
    }

    private List<GpuTable> buildRepeated() {
        sites.forEach(site -> site.begin(TableKind.GROUPED));
        long largest = findGroups();
        boolean isUnique = largest <= 1; // 0 without rows
        if (isUnique || largest > MAX_CHAINED_ROWS || isSharded) {
            sites.forEach(Site::allocateRows);
            run("gpujoin_group_write", site -> new long[0]);
            return isUnique ? keepWithRanges() : sites.stream().map(Site::keep).toList();
        }
        sites.forEach(Site::discard);
        sites.forEach(site -> site.begin(TableKind.CHAINED));
        sites.forEach(Site::allocateRows);
        run("gpujoin_insert_chained", site -> new long[0]);
        return sites.stream().map(Site::keep).toList();
    }

    /** Assigns a range of rows to each key; returns the maximum rows of a key. */
    private long findGroups() {
        clearCounters();
        run("gpujoin_group_count", site -> new long[0]);
        if (rowCount > 0) {
            for (Site site : sites) {
                site.kernels.launch(
                        "gpujoin_group_allocate",
                        site.kernels.describe(0, site.table),
                        site.kernels.counter(0),
                        site.kernels.counter(1));
            }
        }
        return readCounter(1);
    }

    /** Returns the tables, which have unique keys, with the ranges of their columns. */
    private List<GpuTable> keepWithRanges() {
        List<PayloadRange> ranges = ranges();
        return sites.stream().map(site -> site.keep().withUniqueKeys(ranges)).toList();
    }

    /** Each device reads the runs in its own memory. */
    private List<PayloadRange> ranges() {
        long lengthBytes = (long) runLayout.columnCount() * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        List<PayloadRange> ranges =
                new ArrayList<>(Collections.nCopies(runLayout.columnCount(), PayloadRange.EMPTY));
        if (rowCount > 0 && runLayout.columnCount() > 1) {
            try (Region region = Region.allocate(lengthBytes)) {
                for (int c = 0; c < runLayout.columnCount(); c++) {
                    PayloadRange.EMPTY.write(region.address(), c);
                }
                for (Site site : sites) {
                    site.ranges = site.scratch.device(lengthBytes);
                    site.driver.copyToDevice(site.ranges, region.address(), lengthBytes);
                }
                runOnOwn("gpujoin_payload_ranges", site -> site.ranges);
                for (Site site : sites) {
                    site.driver.copyToHost(region.address(), site.ranges, lengthBytes);
                    for (int c = 0; c < runLayout.columnCount(); c++) {
                        PayloadRange ofSite = PayloadRange.read(region.address(), c);
                        ranges.set(c, ranges.get(c).union(ofSite));
                    }
                }
            }
        }
        return ranges.stream().skip(1).map(PayloadRange::orZero).toList();
    }

    private void clearCounters() {
        sites.forEach(site -> site.kernels.clearCounters());
    }

    /** Waits for all launched kernels and returns the largest value of a counter. */
    private long readCounter(int counter) {
        return sites.stream().mapToLong(site -> site.kernels.readCounter(counter)).max().orElse(0);
    }

    /**
     * Runs a kernel that reads all build rows on all devices, and waits for its end.
     *
     * @param more arguments behind the table, the runs and the number of rows
     */
    private void run(String kernel, Function<Site, long[]> more) {
        if (rowCount == 0) {
            return;
        }
        for (Site site : sites) {
            long[] last = more.apply(site);
            long[] arguments = new long[3 + last.length];
            arguments[0] = site.kernels.describe(0, site.table);
            arguments[1] = site.runs;
            arguments[2] = rowCount;
            System.arraycopy(last, 0, arguments, 3, last.length);
            site.kernels.launch(kernel, arguments);
        }
        sites.forEach(site -> site.kernels.await());
    }

    /**
     * Runs a kernel on each device that reads the build rows in its memory, and waits for its end.
     *
     * @param last argument behind the table, the runs and the number of rows
     */
    private void runOnOwn(String kernel, ToLongFunction<Site> last) {
        for (Site site : sites) {
            if (site.ownRowCount > 0) {
                long table = site.kernels.describe(0, site.table);
                site.kernels.launch(
                        kernel, table, site.ownRuns, site.ownRowCount, last.applyAsLong(site));
            }
        }
        sites.forEach(site -> site.kernels.await());
    }

    /** Frees scratch memory, and tables that are not kept. */
    @Override
    public void close() {
        for (Site site : sites) {
            site.discard();
            site.scratch.close();
        }
    }
}
