// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
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

    /** Maximum of runs of a partition that are adjacent in host memory, and so copied together. */
    private static final int EXTENT_RUNS = 4;

    /** Host memory for further runs of a partition is at most this share of what it has. */
    private static final int EXTENT_SHARE = 2;

    /** A run that is being copied to the host. */
    private record Leaving(long copy, long run) {}

    private final BulkDevice device;
    private final BulkRunLayout layout;
    private final RunStore store;
    private final int partitions;
    private final RunDivision division;
    private final RunAreas areas;

    private final Deque<Long> free = new ArrayDeque<>();
    private final Deque<Leaving> leaving = new ArrayDeque<>();

    /** The run of each partition to which rows are appended; 0 if there is none. */
    private final long[] openRuns;

    /** Rows of each open run, fewer than a full one has. */
    private final int[] openRows;

    private final List<List<StoredRun>> stored = new ArrayList<>();

    /** Host memory for the next runs of each partition. */
    private final RunStore.Extent[] extents;

    /**
     * @param memory of the device, freed after {@link #finish}
     * @param partitions from 1 to {@link RunDivision#MAX_PARTS}
     */
    RunPartitioner(
            BulkDevice device,
            BulkAllocator memory,
            BulkRunLayout layout,
            RunStore store,
            int partitions) {
        this.device = device;
        this.layout = layout;
        this.store = store;
        this.partitions = partitions;
        this.openRuns = new long[partitions];
        this.openRows = new int[partitions];
        this.extents = new RunStore.Extent[partitions];
        Arrays.fill(extents, RunStore.Extent.NONE);
        for (int p = 0; p < partitions; p++) {
            stored.add(new ArrayList<>());
        }
        int areaRuns = areaRuns(partitions);
        this.areas = new RunAreas(device, memory, layout, areaRuns, this::divide);
        int poolRuns = poolRuns(partitions);
        long pool = memory.allocate((long) poolRuns * layout.lengthBytes());
        for (int run = 0; run < poolRuns; run++) {
            free.add(pool + (long) run * layout.lengthBytes());
        }
        this.division =
                new RunDivision(
                        device,
                        memory,
                        layout,
                        RunDivision.PARTITION_SHIFT,
                        partitions,
                        areaRuns,
                        targetRuns(partitions));
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
        return RunAreas.AREAS * areaRuns(partitions) + poolRuns(partitions) + 1;
    }

    @Override
    public DeviceCopy add(long pinnedRun, int rows) throws InterruptedException {
        return areas.add(pinnedRun, rows);
    }

    /**
     * Divides runs in device memory, which the caller may free afterwards.
     *
     * @param rows of all runs, of which only the last may not be full
     */
    void divideAll(List<Long> runs, long rows) throws InterruptedException {
        division.forEachPart(runs, rows, this::divide);
    }

    private void divide(List<Long> runs, int rows) throws InterruptedException {
        int[] counts = division.count(runs, rows);
        List<List<Long>> targets = assignRuns(counts);
        division.divide(runs, rows, openRows, targets);
        for (int p = 0; p < partitions; p++) {
            appended(p, targets.get(p), counts[p]);
        }
    }

    /** Assigns to each partition its open run, and as many further runs as it needs. */
    private List<List<Long>> assignRuns(int[] counts) throws InterruptedException {
        List<List<Long>> targets = new ArrayList<>();
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
        return targets;
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
        List<StoredRun> before = stored.get(partition);
        RunStore.Extent extent = extents[partition];
        boolean isFirst = extent.runs() == 0;
        if (isFirst) {
            int runs = Math.max(1, Math.min(EXTENT_RUNS, before.size() / EXTENT_SHARE));
            extent = store.reserve(bytes, runs);
        }
        if (extent.runs() == 0) {
            before.add(store.addToFile(run, bytes, rows));
            free.add(run);
            return;
        }
        long address = extent.address();
        extents[partition] = new RunStore.Extent(address + bytes, extent.runs() - 1);
        leaving.add(new Leaving(device.startCopyToHost(address, run, bytes), run));
        before.add(new StoredRun(address, 0, rows, !isFirst));
    }

    /** Stores all rows, and returns the runs of each partition. */
    List<List<StoredRun>> finish() throws InterruptedException {
        areas.finish();
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
