// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Divides the rows of one input by partition on the device, and stores the runs of each partition
 * outside it. Rows of equal keys are in the same partition.
 *
 * <pre>
 *  pinned run -> area of runs -> open run of each partition -> host memory or file
 *             copy            kernels                    copy
 * </pre>
 *
 * <p>While the kernels divide the runs of one area, copies fill the other one, and full runs are
 * copied to the host. Not thread-safe.
 */
final class RunPartitioner implements RunSink {

    /** The same number as in {@code run_division.cuh}. */
    static final int MAX_PARTITIONS = 256;

    private static final int AREAS = 2;
    private static final int COUNT_THREADS = 512;
    private static final int DIVIDE_THREADS = 512;

    /** Rows that a block divides at once. */
    private static final int TILE_ROWS = 4096;

    private static final int COLUMN_BYTES = 2 * Integer.BYTES;

    /** A run that is being copied to the host. */
    private record Leaving(long copy, long run) {}

    /** Where the tables of a launch are, from their start. */
    private record Tables(long sources, long targets, long counts, long nextRows, long firstRuns) {

        static Tables of(int partitions) {
            long targets = (long) Long.BYTES * areaRuns(partitions);
            long counts = targets + (long) Long.BYTES * targetRuns(partitions);
            long column = (long) Integer.BYTES * partitions;
            return new Tables(0, targets, counts, counts + column, counts + 2 * column);
        }

        long lengthBytes() {
            long end = firstRuns + (firstRuns - nextRows);
            return (end + Long.BYTES - 1) & -Long.BYTES;
        }
    }

    private final BulkDevice device;
    private final BulkRunLayout layout;
    private final RunStore store;
    private final int partitions;
    private final int areaRuns;

    /** First run of each area. */
    private final long[] areas = new long[AREAS];

    private final int[] areaRows = new int[AREAS];
    private final long[] lastCopies = {NO_COPY, NO_COPY};
    private int area;

    private final Tables tables;
    private final long tablesAddress;
    private final long columnsAddress;
    private final int columnCount;

    private final Deque<Long> free = new ArrayDeque<>();
    private final Deque<Leaving> leaving = new ArrayDeque<>();

    /** The run of each partition to which rows are appended; 0 if there is none. */
    private final long[] openRuns;

    /** Rows of each open run, fewer than a full one has. */
    private final int[] openRows;

    private final List<List<StoredRun>> stored = new ArrayList<>();

    /**
     * @param memory owner of the device memory, freed after {@link #finish}
     * @param partitions a power of two
     */
    RunPartitioner(
            BulkDevice device,
            BulkMemory memory,
            BulkRunLayout layout,
            RunStore store,
            int partitions) {
        this.device = device;
        this.layout = layout;
        this.store = store;
        this.partitions = partitions;
        this.areaRuns = areaRuns(partitions);
        this.openRuns = new long[partitions];
        this.openRows = new int[partitions];
        for (int p = 0; p < partitions; p++) {
            stored.add(new ArrayList<>());
        }
        for (int a = 0; a < AREAS; a++) {
            areas[a] = memory.allocate((long) areaRuns * layout.lengthBytes());
        }
        int poolRuns = poolRuns(partitions);
        long pool = memory.allocate((long) poolRuns * layout.lengthBytes());
        for (int run = 0; run < poolRuns; run++) {
            free.add(pool + (long) run * layout.lengthBytes());
        }
        this.tables = Tables.of(partitions);
        this.tablesAddress = memory.allocate(tables.lengthBytes());
        List<BulkRunLayout.Source> columns = layout.columns();
        this.columnCount = columns.size();
        this.columnsAddress = memory.allocate((long) COLUMN_BYTES * columnCount);
        copyColumns(columns);
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

    private static int areaRuns(int partitions) {
        return Math.max(1, partitions / 2);
    }

    /**
     * Returns the maximum of runs to which the rows of an area are appended. Each partition may
     * have all rows of a run but one before, and need a run for its last row afterwards, so the
     * runs have room for less than the area and two more runs of each partition.
     */
    private static int targetRuns(int partitions) {
        return 2 * partitions + areaRuns(partitions) - 1;
    }

    /** The runs of a further area can leave meanwhile. */
    private static int poolRuns(int partitions) {
        return targetRuns(partitions) + areaRuns(partitions);
    }

    /** Returns the device memory of a partitioner, in runs, and some for its tables. */
    static int memoryRuns(int partitions) {
        return AREAS * areaRuns(partitions) + poolRuns(partitions) + 1;
    }

    @Override
    public long add(long pinnedRun, int rows) throws InterruptedException {
        int runs = (areaRows[area] + BulkRunLayout.RUN_ROWS - 1) / BulkRunLayout.RUN_ROWS;
        if (runs == areaRuns) {
            area = (area + 1) % AREAS;
            divideArea(area);
            runs = 0;
        }
        long run = areas[area] + (long) runs * layout.lengthBytes();
        lastCopies[area] = device.startCopy(run, pinnedRun, layout.lengthBytes());
        areaRows[area] += rows;
        return lastCopies[area];
    }

    private void divideArea(int divided) throws InterruptedException {
        int rows = areaRows[divided];
        device.awaitCopy(lastCopies[divided]);
        List<Long> runs = new ArrayList<>();
        for (int row = 0; row < rows; row += BulkRunLayout.RUN_ROWS) {
            runs.add(areas[divided] + (long) runs.size() * layout.lengthBytes());
        }
        divide(runs, rows);
        areaRows[divided] = 0;
    }

    /**
     * Divides runs in device memory, which the caller may free afterwards.
     *
     * @param rows of all runs, of which only the last may not be full
     */
    void divideAll(List<Long> runs, long rows) throws InterruptedException {
        for (int from = 0; from < runs.size(); from += areaRuns) {
            int to = Math.min(runs.size(), from + areaRuns);
            long before = (long) BulkRunLayout.RUN_ROWS * from;
            long most = (long) BulkRunLayout.RUN_ROWS * (to - from);
            divide(runs.subList(from, to), (int) Math.min(most, rows - before));
        }
    }

    private void divide(List<Long> runs, int rows) throws InterruptedException {
        if (rows == 0) {
            return;
        }
        List<List<Long>> targets = new ArrayList<>();
        int[] counts = new int[partitions];
        try (Region region = Region.allocateZeroed(tables.lengthBytes())) {
            long host = region.address();
            putAddresses(host + tables.sources(), runs);
            device.copyToDevice(tablesAddress, region);
            device.launch(
                    () ->
                            launch(
                                    "count",
                                    rows,
                                    COUNT_THREADS,
                                    new long[] {tablesAddress + tables.counts()}));
            device.copyToHost(region, tablesAddress);
            for (int p = 0; p < partitions; p++) {
                counts[p] = Memory.getInt(host + tables.counts() + 4L * p);
            }
            assignRuns(counts, targets);
            int first = 0;
            for (int p = 0; p < partitions; p++) {
                Memory.putInt(host + tables.nextRows() + 4L * p, openRows[p]);
                Memory.putInt(host + tables.firstRuns() + 4L * p, first);
                putAddresses(host + tables.targets() + 8L * first, targets.get(p));
                first += targets.get(p).size();
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
        for (int p = 0; p < partitions; p++) {
            appended(p, targets.get(p), counts[p]);
        }
    }

    private static void putAddresses(long at, List<Long> addresses) {
        for (int i = 0; i < addresses.size(); i++) {
            Memory.putLong(at + (long) Long.BYTES * i, addresses.get(i));
        }
    }

    private void launch(String kernel, int rows, int threads, long[]... arguments) {
        long[][] all = new long[1 + arguments.length][];
        all[0] = new long[] {tablesAddress + tables.sources(), rows, partitions};
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        String name = "gpujoin_bulk_" + kernel + "_" + Byte.SIZE * layout.wordBytes();
        int blocks = (rows + TILE_ROWS - 1) / TILE_ROWS;
        device.driver().launchWithSharedMemory(name, blocks, threads, 0, all);
    }

    /** Assigns to each partition its open run, and as many further runs as it needs. */
    private void assignRuns(int[] counts, List<List<Long>> targets) throws InterruptedException {
        for (int p = 0; p < partitions; p++) {
            List<Long> runs = new ArrayList<>();
            if (openRuns[p] != 0) {
                runs.add(openRuns[p]);
            }
            while ((long) runs.size() * BulkRunLayout.RUN_ROWS < openRows[p] + counts[p]) {
                runs.add(acquireRun());
            }
            targets.add(runs);
        }
    }

    private long acquireRun() throws InterruptedException {
        if (free.isEmpty()) {
            Leaving oldest = leaving.element();
            device.awaitCopyToHost(oldest.copy());
            leaving.remove();
            return oldest.run();
        }
        return free.remove();
    }

    /** Stores the full runs of a partition, and keeps the last one open. */
    private void appended(int partition, List<Long> runs, int count) throws InterruptedException {
        int rows = openRows[partition] + count;
        int full = rows / BulkRunLayout.RUN_ROWS;
        for (long run : runs.subList(0, full)) {
            store(partition, run, BulkRunLayout.RUN_ROWS);
        }
        openRows[partition] = rows % BulkRunLayout.RUN_ROWS;
        openRuns[partition] = full < runs.size() ? runs.get(full) : 0;
    }

    private void store(int partition, long run, int rows) throws InterruptedException {
        int bytes = layout.lengthBytes();
        long address = store.reserve(bytes);
        if (address == 0) {
            stored.get(partition).add(store.addToFile(run, bytes, rows));
            free.add(run);
        } else {
            leaving.add(new Leaving(device.startCopyToHost(address, run, bytes), run));
            stored.get(partition).add(new StoredRun(address, 0, rows));
        }
    }

    /** Stores all rows, and returns the runs of each partition. */
    List<List<StoredRun>> finish() throws InterruptedException {
        for (int i = 1; i <= AREAS; i++) {
            divideArea((area + i) % AREAS);
        }
        for (int p = 0; p < partitions; p++) {
            if (openRuns[p] != 0) {
                store(p, openRuns[p], openRows[p]);
            }
        }
        while (!leaving.isEmpty()) {
            device.awaitCopyToHost(leaving.element().copy());
            leaving.remove();
        }
        return stored;
    }
}
