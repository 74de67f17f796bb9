// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs of one input that stay in device memory: copied from the host, or appended row by row from
 * runs of a device. Memory is allocated for several runs at once. Not thread-safe.
 */
final class DeviceRuns implements RunSink {

    private static final long SLAB_BYTES = 64L << 20;

    /** Runs that one launch appends. */
    private static final int APPENDED_RUNS = 32;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final BulkRunLayout layout;
    private final List<Long> runs = new ArrayList<>();
    private final Deque<Long> free = new ArrayDeque<>();
    private long rowCount;

    /** Created by the first {@link #reserveAppend}. */
    private @Nullable RunDivision appending;

    DeviceRuns(BulkDevice device, BulkMemory memory, BulkRunLayout layout) {
        this.device = device;
        this.memory = memory;
        this.layout = layout;
    }

    BulkRunLayout layout() {
        return layout;
    }

    long rowCount() {
        return rowCount;
    }

    /** Returns the device addresses of the runs, of which all but the last are full. */
    List<Long> addresses() {
        return runs;
    }

    /** Returns the device memory that further rows need in addition. */
    long neededBytes(long rows) {
        return layout.lengthBytes() * slabRuns(rows);
    }

    /** Small inputs use a run each; then slabs grow, so that the unused share stays small. */
    private long slabRuns(long rows) {
        long missing = runsFor(rowCount + rows) - runs.size() - free.size();
        long slab = Math.min(SLAB_BYTES / layout.lengthBytes(), (runs.size() + 3) / 4);
        return missing <= 0 ? 0 : Math.max(missing, slab);
    }

    private static long runsFor(long rows) {
        return (rows + BulkRunLayout.RUN_ROWS - 1) / BulkRunLayout.RUN_ROWS;
    }

    /**
     * Allocates the memory of further rows.
     *
     * @return false if it is refused
     */
    boolean reserve(long rows) {
        long slabRuns = slabRuns(rows);
        if (slabRuns == 0) {
            return true;
        }
        Optional<Long> slab =
                BulkAllocator.ifRoom(() -> memory.allocate(slabRuns * layout.lengthBytes()));
        for (long run = 0; slab.isPresent() && run < slabRuns; run++) {
            free.add(slab.get() + run * layout.lengthBytes());
        }
        return slab.isPresent();
    }

    /** Reserves what {@link #append} needs beside the memory of the rows. */
    boolean reserveAppend() {
        if (appending == null) {
            appending = BulkAllocator.ifRoom(this::createAppending).orElse(null);
        }
        return appending != null;
    }

    private RunDivision createAppending() {
        return new RunDivision(
                device,
                memory,
                layout,
                RunDivision.PARTITION_SHIFT,
                1,
                APPENDED_RUNS,
                APPENDED_RUNS + 1);
    }

    /** Adds a run, for which memory is {@linkplain #reserve reserved}. All before it are full. */
    @Override
    public DeviceCopy add(long pinnedRun, int rows) {
        long run = free.remove();
        long copy = device.startCopy(run, pinnedRun, layout.lengthBytes());
        runs.add(run);
        rowCount += rows;
        return new DeviceCopy(device, copy);
    }

    /**
     * Appends the rows of runs that the device can read, after {@link #reserve} and {@link
     * #reserveAppend}. Their order changes.
     *
     * @param rows of all runs, of which only the last may not be full
     */
    void append(List<Long> sources, long rows) throws InterruptedException {
        appending.forEachPart(sources, rows, this::appendPart);
    }

    private void appendPart(List<Long> sources, int rows) {
        int firstRun = (int) (rowCount / BulkRunLayout.RUN_ROWS);
        int nextRow = (int) (rowCount % BulkRunLayout.RUN_ROWS);
        while (runs.size() < runsFor(rowCount + rows)) {
            runs.add(free.remove());
        }
        List<Long> targets = runs.subList(firstRun, runs.size());
        appending.divide(sources, rows, new int[] {nextRow}, List.of(targets));
        rowCount += rows;
    }

    /** Runs that another owner reads. */
    record Lent(List<Long> runs, long rows) {}

    /** Removes all runs. The caller {@linkplain #giveBack gives} them back. */
    Lent lend() {
        Lent lent = new Lent(List.copyOf(runs), rowCount);
        runs.clear();
        rowCount = 0;
        return lent;
    }

    /** Receives the memory of lent runs that are no longer read. */
    void giveBack(List<Long> lent) {
        free.addAll(lent);
    }

    /** Returns all rows, with the addresses of the runs on the device. */
    BulkRows rows() {
        return rowCount == 0
                ? new BulkRows(layout, 0, 0)
                : new BulkRows(layout, copyAddresses(), rowCount);
    }

    private long copyAddresses() {
        long bytes = (long) Long.BYTES * runs.size();
        long addresses = memory.allocate(bytes);
        try (Region region = Region.allocate(bytes)) {
            for (int i = 0; i < runs.size(); i++) {
                Memory.putLong(region.address() + (long) Long.BYTES * i, runs.get(i));
            }
            device.copyToDevice(addresses, region);
        }
        return addresses;
    }
}
