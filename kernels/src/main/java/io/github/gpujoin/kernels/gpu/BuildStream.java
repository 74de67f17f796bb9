// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Streams the build rows of one dimension to the devices of a group as they arrive. Columns are
 * copied into {@linkplain PinnedRuns pinned runs}, and those to devices. Variable-width columns
 * stay on the host, each row as {@code int32 lengthBytes} and the bytes.
 *
 * <p>If the devices can read each other's memory, each pinned buffer is copied to one of them, in
 * turn, and crosses one bus only. Otherwise each buffer is copied to all.
 *
 * <p>Device memory is allocated in extents of many runs, because each allocation stops the serving
 * kernel; copies do not. Not thread-safe, except for {@link #lengthBytes}.
 */
final class BuildStream implements AutoCloseable {

    private static final int MIN_EXTENT_RUNS = 16;
    private static final int MAX_EXTENT_RUNS = 256;

    /** Runs of a dimension that is worth larger pinned buffers. */
    private static final int LARGE_RUNS = 16;

    /** The runs of one device. */
    private final class DeviceRuns {

        private final CudaDriver driver;
        private final DeviceMemory memory;
        private final Buffers buffers;
        private final ArrayDeque<Long> free = new ArrayDeque<>();
        private final List<Long> used = new ArrayList<>();

        /** First run of each extent. A copy must not cross the bounds of an allocation. */
        private final Set<Long> extents = new HashSet<>();

        DeviceRuns(DeviceLease lease, MemoryLimits limits) {
            this.driver = lease.driver();
            this.memory = lease.memory();
            this.buffers = memory.buffers(limits);
        }

        private void allocateExtent(int runs) {
            int doubled = Math.max(MIN_EXTENT_RUNS, Math.min(MAX_EXTENT_RUNS, used.size()));
            int extent = used.isEmpty() ? runs : doubled;
            long first = buffers.device(bytesOf(extent));
            extents.add(first);
            for (int i = 0; i < extent; i++) {
                free.add(first + bytesOf(i));
            }
        }

        /** Starts copies of pinned runs to free runs of the device, in one call if they adjoin. */
        private void startCopies(int runs) {
            int done = 0;
            while (done < runs) {
                long first = free.remove();
                used.add(first);
                int adjoining = 1;
                while (done + adjoining < runs && adjoins(first, adjoining, free.element())) {
                    used.add(free.remove());
                    adjoining++;
                }
                long copy =
                        driver.startCopyToDevice(
                                first, pinned.address() + bytesOf(done), bytesOf(adjoining));
                pinned.isCopied(() -> driver.hasCopied(copy));
                done += adjoining;
            }
        }

        private boolean adjoins(long first, int runs, long next) {
            return next == first + bytesOf(runs) && !extents.contains(next);
        }

        private void rewind() {
            free.addAll(used);
            used.clear();
        }
    }

    private final DeviceGroup group;
    private final long timeoutNs;
    private final BuildRowLayout rowLayout;
    private final BuildRunLayout runLayout;
    private final Allocator host;
    private final PinnedRuns pinned;

    /** By member of the group. */
    private final List<DeviceRuns> devices = new ArrayList<>();

    /** The runs that each member reads; the same list for all if each run is on one of them. */
    private final List<List<Long>> runs = new ArrayList<>();

    /** Whether each run is copied to one device. */
    private final boolean isDivided;

    /** The device to which the filled buffer is copied, if it is copied to one. */
    private int current;

    /** The device with the last run, which may have fewer rows. */
    private int lastSent;

    private boolean copying;
    private long rowCount;
    private PagedMemory variableWidth;
    private long variableWidthBytes;

    /**
     * @param timeoutNs time within which the serving kernels must stop
     */
    BuildStream(DeviceGroup group, MemoryLimits limits, BuildRowLayout rowLayout, long timeoutNs) {
        this.group = group;
        this.timeoutNs = timeoutNs;
        this.rowLayout = rowLayout;
        this.runLayout = new BuildRunLayout(rowLayout);
        this.host = group.first().memory().hostWithin(limits);
        // Changes are sent whenever facts arrive, so that larger buffers would not fill.
        this.pinned =
                new PinnedRuns(
                        runLayout,
                        group.first().memory().buffers(limits),
                        runLayout.changeOffset() < 0);
        this.isDivided = group.hasPeerAccess();
        List<Long> shared = new ArrayList<>();
        for (DeviceLease lease : group.members()) {
            devices.add(new DeviceRuns(lease, limits));
            runs.add(isDivided ? shared : new ArrayList<>());
        }
        this.variableWidth = newVariableWidth();
    }

    BuildRowLayout rowLayout() {
        return rowLayout;
    }

    BuildRunLayout runLayout() {
        return runLayout;
    }

    /**
     * Returns the addresses of the runs, in order of arrival.
     *
     * @param member index of the device that reads them
     */
    List<Long> runs(int member) {
        return runs.get(member);
    }

    /** Returns the addresses of the runs in the memory of a device, in order of arrival. */
    List<Long> ownRuns(int member) {
        return devices.get(member).used;
    }

    /**
     * Returns the rows in the memory of a device; of all devices together all rows, once if each
     * run is copied to one of them.
     */
    long ownRowCount(int member) {
        long missing = (long) runCount() * runLayout.runRows() - rowCount;
        boolean hasLastRun = !isDivided || member == lastSent;
        return (long) ownRuns(member).size() * runLayout.runRows() - (hasLastRun ? missing : 0);
    }

    int runCount() {
        return runs.get(0).size();
    }

    long rowCount() {
        return rowCount;
    }

    /** Returns the bytes of variable-width columns copied to host memory. */
    long variableWidthBytes() {
        return variableWidthBytes;
    }

    /** Returns the bytes of device and pinned memory together, without variable-width columns. */
    long lengthBytes() {
        return pinned.lengthBytes()
                + devices.stream().mapToLong(device -> device.buffers.lengthBytes()).sum();
    }

    /**
     * Copies the rows of a chunk.
     *
     * @throws GpuUnavailableException if memory for them cannot be allocated
     */
    void append(Chunk chunk) {
        int row = 0;
        while (row < chunk.rowCount()) {
            if (pinned.needsMemory(runCount() >= LARGE_RUNS)) {
                group.whileStopped(timeoutNs, pinned::allocate);
            }
            if (pinned.rowCount() == 0) {
                awaitFreeBuffer();
            }
            int room = runLayout.runRows() - pinned.rowOfRun();
            int count = Math.min(room, chunk.rowCount() - row);
            copyColumns(chunk, row, count);
            pinned.added(count);
            row += count;
            if (pinned.isFull()) {
                send();
            }
        }
        rowCount += chunk.rowCount();
    }

    private void awaitFreeBuffer() {
        long startNs = System.nanoTime();
        while (!pinned.isFree()) {
            if (System.nanoTime() - startNs > timeoutNs) {
                devices.forEach(device -> device.memory.lose());
                throw new GpuUnavailableException(
                        GpuFailure.KERNEL_STALLED,
                        "Copy of build rows timed out: timeoutNs=" + timeoutNs);
            }
            Thread.onSpinWait();
        }
    }

    private long bytesOf(int runs) {
        return (long) runs * runLayout.lengthBytes();
    }

    private void copyColumns(Chunk chunk, int firstRow, int count) {
        long run = pinned.nextRun();
        int rowOfRun = pinned.rowOfRun();
        for (int c = 0; c < runLayout.chunkColumnCount(); c++) {
            long target = run + runLayout.offset(c);
            int widthBytes = runLayout.widthBytes(c);
            target += (long) widthBytes * rowOfRun;
            copy(chunk, runLayout.chunkColumn(c), widthBytes, firstRow, count, target);
        }
        if (runLayout.changeOffset() >= 0) {
            long target = run + runLayout.changeOffset() + (long) Integer.BYTES * rowOfRun;
            copy(chunk, runLayout.changeColumn(), Integer.BYTES, firstRow, count, target);
        }
        if (runLayout.variableWidthOffset() >= 0) {
            long refs = run + runLayout.variableWidthOffset() + (long) Long.BYTES * rowOfRun;
            for (int i = 0; i < count; i++) {
                Memory.putLong(
                        refs + (long) Long.BYTES * i, copyVariableWidth(chunk, firstRow + i));
            }
        }
    }

    private static void copy(
            Chunk chunk, int column, long widthBytes, int firstRow, int count, long target) {
        long source = chunk.columnStart(column) + widthBytes * firstRow;
        Memory.copy(chunk.array(), source, null, target, widthBytes * count);
    }

    private long copyVariableWidth(Chunk chunk, int row) {
        long start = chunk.variableWidthStart(row);
        int length = (int) (chunk.variableWidthEnd(row) - start);
        long address = allocateVariableWidth(4L + length);
        Memory.putInt(address, length);
        Memory.copy(chunk.array(), start, null, address + 4, length);
        return address;
    }

    /** Starts to copy the runs of the filled buffer, and continues with the other one. */
    private void send() {
        List<DeviceRuns> targets = isDivided ? List.of(devices.get(current)) : devices;
        int sent = pinned.runCount();
        if (targets.stream().anyMatch(device -> device.free.size() < sent)) {
            group.whileStopped(timeoutNs, () -> allocateExtents(targets, sent));
        }
        copying = true;
        for (int i = 0; i < targets.size(); i++) {
            List<Long> used = targets.get(i).used;
            targets.get(i).startCopies(sent);
            runs.get(i).addAll(used.subList(used.size() - sent, used.size()));
        }
        pinned.swap();
        lastSent = current;
        current = isDivided ? (current + 1) % devices.size() : 0;
    }

    private static void allocateExtents(List<DeviceRuns> targets, int runs) {
        for (DeviceRuns device : targets) {
            if (device.free.size() < runs) {
                device.allocateExtent(runs);
            }
        }
    }

    /** Sends the partly filled buffer, and waits until all runs are on the device. */
    void flush() {
        if (pinned.rowCount() > 0) {
            send();
        }
        awaitCopies();
    }

    private void awaitCopies() {
        if (copying) {
            devices.forEach(device -> device.driver.awaitCopies());
            copying = false;
        }
    }

    /** Discards flushed rows and reuses their runs. Variable-width columns stay. */
    void rewind() {
        devices.forEach(DeviceRuns::rewind);
        runs.forEach(List::clear);
        current = 0;
        rowCount = 0;
    }

    private PagedMemory newVariableWidth() {
        return new PagedMemory(host);
    }

    /**
     * Stores variable-width columns in empty memory from now on. Rows keep their references.
     *
     * @return the previous memory, for the caller to close
     */
    PagedMemory renewVariableWidth() {
        PagedMemory previous = variableWidth;
        variableWidth = newVariableWidth();
        variableWidthBytes = 0;
        return previous;
    }

    /** Copies variable-width columns of a row, and returns the address of the copy. */
    long copyVariableWidth(long from) {
        long bytes = 4L + Memory.getInt(from);
        long to = allocateVariableWidth(bytes);
        Memory.copy(null, from, null, to, bytes);
        return to;
    }

    private long allocateVariableWidth(long bytes) {
        variableWidthBytes += bytes;
        return variableWidth.allocate(bytes);
    }

    /** Frees the runs while the serving kernels are stopped. Variable-width columns stay. */
    void freeRuns() {
        boolean areAllCopied = true;
        for (DeviceRuns device : devices) {
            if (!copying || hasCopied(device)) {
                device.buffers.close();
            } else {
                areAllCopied = false;
                device.buffers.abandon();
            }
        }
        if (areAllCopied) {
            pinned.free();
        } else {
            pinned.abandon();
        }
        copying = false;
        runs.forEach(List::clear);
    }

    /** Waits for the copies to a device; returns false if it is lost. */
    private static boolean hasCopied(DeviceRuns device) {
        if (device.memory.isLost()) {
            return false;
        }
        try {
            device.driver.awaitCopies();
            return true;
        } catch (GpuUnavailableException e) {
            return false;
        }
    }

    /** Drops device and pinned memory, see {@link Buffers#abandon}. Variable-width columns stay. */
    void abandonRuns() {
        devices.forEach(device -> device.buffers.abandon());
        pinned.abandon();
        runs.forEach(List::clear);
    }

    /** Frees variable-width columns. The runs must have been freed or abandoned. */
    @Override
    public void close() {
        variableWidth.close();
    }
}
