// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.List;

/**
 * Divides rows of one input by bits of their hash: the kernels of {@code run_division.cuh} with
 * their tables in device memory. The kernels may read and write the memory of other devices to
 * which theirs has access. Not thread-safe.
 */
final class RunDivision {

    /** The same number as in {@code run_division.cuh}. */
    static final int MAX_PARTS = 256;

    /** Lowest bit of the hash that chooses the partition of a join beyond device memory. */
    static final int PARTITION_SHIFT = 32;

    /** Lowest bit of the hash that chooses the member of a group. */
    static final int MEMBER_SHIFT = 40;

    private static final int COUNT_THREADS = 512;
    private static final int DIVIDE_THREADS = 512;

    /** Rows that a block divides at once. */
    private static final int TILE_ROWS = 4096;

    private static final int COLUMN_BYTES = 2 * Integer.BYTES;

    /** Where the tables of a launch are, from their start. */
    private record Tables(long targets, long counts, long nextRows, long firstRuns) {

        static Tables of(int maxSources, int maxTargets, int parts) {
            long targets = (long) Long.BYTES * maxSources;
            long counts = targets + (long) Long.BYTES * maxTargets;
            // whole words, so that a kernel copies them, see WordCopies
            long column = wholeWords((long) Integer.BYTES * parts);
            return new Tables(targets, counts, counts + column, counts + 2 * column);
        }

        private static long wholeWords(long bytes) {
            return (bytes + Long.BYTES - 1) & -Long.BYTES;
        }

        long columnBytes() {
            return firstRuns - nextRows;
        }

        long lengthBytes() {
            return firstRuns + columnBytes();
        }
    }

    private final BulkDevice device;
    private final BulkRunLayout layout;
    private final int shift;
    private final int parts;
    private final int maxSources;
    private final Tables tables;
    private final long tablesAddress;
    private final long columnsAddress;
    private final int columnCount;

    /**
     * @param memory of the tables
     * @param shift {@link #PARTITION_SHIFT} or {@link #MEMBER_SHIFT}
     * @param parts from 1 to {@link #MAX_PARTS}
     * @param maxSources maximum runs that are divided at once
     * @param maxTargets maximum runs of all parts to which their rows are appended
     */
    RunDivision(
            BulkDevice device,
            BulkAllocator memory,
            BulkRunLayout layout,
            int shift,
            int parts,
            int maxSources,
            int maxTargets) {
        this.device = device;
        this.layout = layout;
        this.shift = shift;
        this.parts = parts;
        this.maxSources = maxSources;
        this.tables = Tables.of(maxSources, maxTargets, parts);
        this.tablesAddress = memory.allocate(tables.lengthBytes());
        List<BulkRunLayout.Source> columns = layout.columns();
        this.columnCount = columns.size();
        this.columnsAddress = memory.allocate((long) COLUMN_BYTES * columnCount);
        copyColumns(columns);
    }

    /** Returns the device memory that a division needs, with its alignment. */
    static long memoryBytes(BulkRunLayout layout, int parts, int maxSources, int maxTargets) {
        return BulkArena.alignedBytes(Tables.of(maxSources, maxTargets, parts).lengthBytes())
                + BulkArena.alignedBytes((long) COLUMN_BYTES * layout.columns().size());
    }

    private void copyColumns(List<BulkRunLayout.Source> columns) {
        try (Region region = Region.allocate((long) COLUMN_BYTES * columnCount)) {
            long at = region.address();
            for (BulkRunLayout.Source column : columns) {
                Memory.putInt(at, (int) column.offset());
                Memory.putInt(at + Integer.BYTES, column.widthBytes());
                at += COLUMN_BYTES;
            }
            device.copyToDevice(columnsAddress, region);
        }
    }

    /** Receives runs that are divided at once, of which only the last may not be full. */
    @FunctionalInterface
    interface Divide {
        void divide(List<Long> runs, int rows) throws InterruptedException;
    }

    /**
     * Cuts a list of runs into lists that can be divided at once.
     *
     * @param rows of all runs, of which only the last may not be full
     */
    void forEachPart(List<Long> runs, long rows, Divide action) throws InterruptedException {
        for (int from = 0; from < runs.size(); from += maxSources) {
            int to = Math.min(runs.size(), from + maxSources);
            long before = (long) BulkRunLayout.RUN_ROWS * from;
            long most = (long) BulkRunLayout.RUN_ROWS * (to - from);
            action.divide(runs.subList(from, to), (int) Math.min(most, rows - before));
        }
    }

    /**
     * Returns the number of rows of each part.
     *
     * @param rows of all runs, at least 1; only the last run may not be full
     */
    int[] count(List<Long> runs, int rows) {
        int[] counts = new int[parts];
        try (Region region = Region.allocateZeroed(tables.lengthBytes())) {
            putAddresses(region.address(), runs);
            device.copyToDevice(tablesAddress, region);
            device.launch(
                    () ->
                            launch(
                                    "count",
                                    rows,
                                    COUNT_THREADS,
                                    new long[] {tablesAddress + tables.counts()}));
            device.copyToHost(region, tablesAddress);
            for (int part = 0; part < parts; part++) {
                counts[part] = Memory.getInt(region.address() + tables.counts() + 4L * part);
            }
        }
        return counts;
    }

    /**
     * Appends the rows to runs of their parts, and waits until other devices and copies may read
     * them.
     *
     * @param rows of all runs, at least 1; only the last run may not be full
     * @param nextRows rows in the first target of each part before
     * @param targets runs of each part
     */
    void divide(List<Long> runs, int rows, int[] nextRows, List<List<Long>> targets) {
        try (Region region = Region.allocateZeroed(tables.lengthBytes())) {
            long host = region.address();
            putAddresses(host, runs);
            int first = 0;
            for (int part = 0; part < parts; part++) {
                Memory.putInt(host + tables.nextRows() + 4L * part, nextRows[part]);
                Memory.putInt(host + tables.firstRuns() + 4L * part, first);
                putAddresses(host + tables.targets() + 8L * first, targets.get(part));
                first += targets.get(part).size();
            }
            device.copyToDevice(tablesAddress, region);
        }
        device.run(
                () ->
                        launch(
                                "divide",
                                rows,
                                DIVIDE_THREADS,
                                new long[] {
                                    tablesAddress + tables.nextRows(),
                                    tablesAddress + tables.firstRuns(),
                                    tablesAddress + tables.targets()
                                },
                                new long[] {columnsAddress},
                                new long[] {columnCount}));
    }

    /** Returns the next row of each part after {@link #divide}, from its first target on. */
    int[] nextRows() {
        int[] nextRows = new int[parts];
        try (Region region = Region.allocate(tables.columnBytes())) {
            device.copyToHost(region, tablesAddress + tables.nextRows());
            for (int part = 0; part < parts; part++) {
                nextRows[part] = Memory.getInt(region.address() + 4L * part);
            }
        }
        return nextRows;
    }

    private static void putAddresses(long at, List<Long> addresses) {
        for (int i = 0; i < addresses.size(); i++) {
            Memory.putLong(at + (long) Long.BYTES * i, addresses.get(i));
        }
    }

    private void launch(String kernel, int rows, int threads, long[]... arguments) {
        long[][] all = new long[1 + arguments.length][];
        all[0] = new long[] {tablesAddress, rows, parts, shift};
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        String name = "gpujoin_bulk_" + kernel + "_" + Byte.SIZE * layout.wordBytes();
        int blocks = (rows + TILE_ROWS - 1) / TILE_ROWS;
        device.driver().launchWithSharedMemory(name, blocks, threads, 0, all);
    }
}
