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

    /** A slab takes at most this share of the room. */
    private static final int SLAB_SHARE = 16;

    /** Runs that one launch appends. */
    private static final int APPENDED_RUNS = 32;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final BulkRunLayout layout;
    private final List<Long> runs = new ArrayList<>();
    private final Deque<Free> free = new ArrayDeque<>();
    private long rowCount;

    /** Memory for rows of other devices; null if there is none. */
    private @Nullable BulkMemory replicaMemory;

    /** Runs of that memory, the last free ones until rows are appended. */
    private long replicaRuns;

    /**
     * Memory of a run.
     *
     * @param isAfterAnother whether the memory before belongs to another run of the same allocation
     */
    private record Free(long address, boolean isAfterAnother) {}

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
        return layout.lengthBytes() * missingRuns(rows);
    }

    private long missingRuns(long rows) {
        return Math.max(0, runsFor(rowCount + rows) - runs.size() - free.size());
    }

    /**
     * Slabs double the input, because the driver takes a millisecond for each, and longer for
     * devices with access to others. The unused share of the room stays small.
     */
    private long slabRuns(long missing, long roomBytes) {
        long mostRuns = roomBytes / SLAB_SHARE / layout.lengthBytes();
        return Math.max(missing, Math.min(runs.size(), mostRuns));
    }

    private static long runsFor(long rows) {
        return (rows + BulkRunLayout.RUN_ROWS - 1) / BulkRunLayout.RUN_ROWS;
    }

    /**
     * Allocates the memory of further rows.
     *
     * @param roomBytes that may be allocated, at least {@link #neededBytes}
     * @return false if it is refused
     */
    boolean reserve(long rows, long roomBytes) {
        long missing = missingRuns(rows);
        if (missing == 0) {
            return true;
        }
        long slab = slabRuns(missing, roomBytes);
        return addSlab(memory, slab) || (slab > missing && addSlab(memory, missing));
    }

    private boolean addSlab(BulkMemory owner, long slabRuns) {
        Optional<Long> slab =
                BulkAllocator.ifRoom(() -> owner.allocate(slabRuns * layout.lengthBytes()));
        for (long run = 0; slab.isPresent() && run < slabRuns; run++) {
            free.add(new Free(slab.get() + run * layout.lengthBytes(), run > 0));
        }
        return slab.isPresent();
    }

    /**
     * Reserves memory for rows of other devices, until {@link #freeReplica}.
     *
     * @return false if it is refused
     */
    boolean reserveReplica(long rows) {
        long missing = missingRuns(rows);
        replicaMemory = device.newMemory();
        if (missing > 0 && !addSlab(replicaMemory, missing)) {
            return false;
        }
        replicaRuns = missing;
        return true;
    }

    /** Frees the memory of {@link #reserveReplica}, of which no row was stored in any. */
    void cancelReplica() {
        for (; replicaRuns > 0; replicaRuns--) {
            free.removeLast();
        }
        freeReplica();
    }

    /** Frees the rows of other devices, and so all that are appended to their memory. */
    void freeReplica() {
        if (replicaMemory != null) {
            replicaMemory.close();
        }
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

    /** Adds runs, for which memory is {@linkplain #reserve reserved}. All before are full. */
    @Override
    public DeviceCopy add(long pinnedRuns, int rows) {
        long copy = RunSink.NO_COPY;
        long source = pinnedRuns;
        for (long missing = runsFor(rows); missing > 0; ) {
            long first = free.remove().address();
            runs.add(first);
            long count = 1;
            while (count < missing && isFreeAfter(first + (count - 1) * layout.lengthBytes())) {
                runs.add(free.remove().address());
                count++;
            }
            long bytes = count * layout.lengthBytes();
            copy = device.startCopy(first, source, bytes);
            source += bytes;
            missing -= count;
        }
        rowCount += rows;
        return new DeviceCopy.Started(device, copy);
    }

    /** Returns whether the next free run is adjacent to a run in the same allocation. */
    private boolean isFreeAfter(long run) {
        Free next = free.element();
        return next.isAfterAnother() && next.address() == run + layout.lengthBytes();
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
            runs.add(free.remove().address());
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
        lent.forEach(run -> free.add(new Free(run, false)));
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
