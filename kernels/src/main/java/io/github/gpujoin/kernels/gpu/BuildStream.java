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
import java.util.List;
import java.util.stream.IntStream;

/**
 * Streams the build rows of one dimension to the devices of a group as they arrive. Columns are
 * copied into one of two pinned buffers of a device; the runs of a full buffer are copied to the
 * device while the other one is filled. A buffer holds one run at first and more of them in a
 * larger dimension, because a copy call takes as long as the bus needs for some runs if many
 * threads make one. Variable-width columns stay on the host, each row as {@code int32 lengthBytes}
 * and the bytes.
 *
 * <p>If the devices can read each other's memory, each buffer is copied to one of them, in turn,
 * and crosses one bus only. Otherwise each buffer is copied to all.
 *
 * <p>Device memory is allocated in extents of many runs, because each allocation stops the serving
 * kernel; copies do not. Not thread-safe, except for {@link #lengthBytes}.
 */
final class BuildStream implements AutoCloseable {

    private static final int MIN_EXTENT_RUNS = 16;
    private static final int MAX_EXTENT_RUNS = 256;

    /** Runs of a device after which its buffers hold {@link #LARGE_BUFFER_RUNS}. */
    private static final int LARGE_AFTER_RUNS = 16;

    private static final int LARGE_BUFFER_RUNS = 4;

    private static final long NO_COPY = -1;

    /** The runs of one device. */
    private final class DeviceRuns {

        private final CudaDriver driver;
        private final DeviceMemory memory;
        private final Buffers buffers;
        private final ArrayDeque<Long> free = new ArrayDeque<>();
        private final List<Long> used = new ArrayList<>();

        /** The pinned buffer that is filled, and the one whose copy may be in flight. */
        private long filled;

        private long copied;
        private int bufferRuns;
        private boolean mayGrow = true;

        /** Number of the last copy. */
        private long lastCopy = NO_COPY;

        DeviceRuns(DeviceLease lease, MemoryLimits limits) {
            this.driver = lease.driver();
            this.memory = lease.memory();
            this.buffers = memory.buffers(limits);
        }

        private void allocatePinned() {
            int runs = used.size() < LARGE_AFTER_RUNS ? 1 : LARGE_BUFFER_RUNS;
            try {
                filled = buffers.pinned(2 * bytesOf(runs));
                copied = filled + bytesOf(runs);
                bufferRuns = runs;
            } catch (GpuUnavailableException e) {
                if (filled == 0 || e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                mayGrow = false;
            }
        }

        /** Changes are sent whenever facts arrive, so that their buffers would not fill. */
        private boolean needsBuffers() {
            boolean isLarge = used.size() >= LARGE_AFTER_RUNS && runLayout.changeOffset() < 0;
            return filled == 0 || (isLarge && mayGrow && bufferRuns < LARGE_BUFFER_RUNS);
        }

        private void allocateExtent(int runs) {
            int doubled = Math.max(MIN_EXTENT_RUNS, Math.min(MAX_EXTENT_RUNS, used.size()));
            int extent = used.isEmpty() ? runs : doubled;
            long first = buffers.device((long) extent * runLayout.lengthBytes());
            for (int i = 0; i < extent; i++) {
                free.add(first + (long) i * runLayout.lengthBytes());
            }
        }

        /** Starts copies of pinned runs to free runs of the device, in one call if they adjoin. */
        private void startCopies(long pinned, int runs) {
            int done = 0;
            while (done < runs) {
                long first = free.remove();
                used.add(first);
                int adjoining = 1;
                while (done + adjoining < runs && free.element() == first + bytesOf(adjoining)) {
                    used.add(free.remove());
                    adjoining++;
                }
                lastCopy =
                        driver.startCopyToDevice(first, pinned + bytesOf(done), bytesOf(adjoining));
                done += adjoining;
            }
        }

        /**
         * Waits for the last copy alone. It started a buffer ago and has normally completed,
         * whereas other streams may always have copies queued behind it.
         */
        private void awaitLastCopy() {
            if (lastCopy != NO_COPY) {
                long startNs = System.nanoTime();
                while (!driver.hasCopied(lastCopy)) {
                    if (System.nanoTime() - startNs > timeoutNs) {
                        memory.lose();
                        throw new GpuUnavailableException(
                                GpuFailure.KERNEL_STALLED,
                                "Copy of build rows timed out: timeoutNs=" + timeoutNs);
                    }
                    Thread.onSpinWait();
                }
            }
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

    /** By member of the group. */
    private final List<DeviceRuns> devices = new ArrayList<>();

    /** The runs that each member reads; the same list for all if each run is on one of them. */
    private final List<List<Long>> runs = new ArrayList<>();

    /** Whether each run is copied to one device. */
    private final boolean isDivided;

    /** The device whose pinned run is filled. */
    private int current;

    /** The device with the last run, which may have fewer rows. */
    private int lastSent;

    private int pinnedRows;
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
        return devices.stream().mapToLong(device -> device.buffers.lengthBytes()).sum();
    }

    /**
     * Copies the rows of a chunk.
     *
     * @throws GpuUnavailableException if memory for them cannot be allocated
     */
    void append(Chunk chunk) {
        int row = 0;
        while (row < chunk.rowCount()) {
            DeviceRuns device = devices.get(current);
            if (pinnedRows == 0 && device.needsBuffers()) {
                group.whileStopped(timeoutNs, device::allocatePinned);
            }
            int rowOfRun = pinnedRows % runLayout.runRows();
            int count = Math.min(runLayout.runRows() - rowOfRun, chunk.rowCount() - row);
            copyColumns(chunk, row, count);
            pinnedRows += count;
            row += count;
            if (pinnedRows == device.bufferRuns * runLayout.runRows()) {
                send();
            }
        }
        rowCount += chunk.rowCount();
    }

    private long bytesOf(int runs) {
        return (long) runs * runLayout.lengthBytes();
    }

    private void copyColumns(Chunk chunk, int firstRow, int count) {
        long run = devices.get(current).filled + bytesOf(pinnedRows / runLayout.runRows());
        int rowOfRun = pinnedRows % runLayout.runRows();
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

    /** Starts to copy the runs of the filled buffer, and continues with another one. */
    private void send() {
        DeviceRuns filling = devices.get(current);
        List<DeviceRuns> targets = isDivided ? List.of(filling) : devices;
        int sent = (pinnedRows + runLayout.runRows() - 1) / runLayout.runRows();
        if (targets.stream().anyMatch(device -> device.free.size() < sent)) {
            group.whileStopped(timeoutNs, () -> allocateExtents(targets, sent));
        }
        targets.forEach(DeviceRuns::awaitLastCopy);
        copying = true;
        for (int i = 0; i < targets.size(); i++) {
            List<Long> used = targets.get(i).used;
            targets.get(i).startCopies(filling.filled, sent);
            runs.get(i).addAll(used.subList(used.size() - sent, used.size()));
        }
        long next = filling.copied;
        filling.copied = filling.filled;
        filling.filled = next;
        pinnedRows = 0;
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
        if (pinnedRows > 0) {
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
        boolean[] areCopied = new boolean[devices.size()];
        for (int i = 0; i < areCopied.length; i++) {
            areCopied[i] = !copying || hasCopied(devices.get(i));
        }
        boolean areAllCopied = IntStream.range(0, areCopied.length).allMatch(i -> areCopied[i]);
        for (int i = 0; i < areCopied.length; i++) {
            // Without peer access, all devices copy from the pinned runs of the first one.
            if (isDivided ? areCopied[i] : areAllCopied) {
                devices.get(i).buffers.close();
            } else {
                devices.get(i).buffers.abandon();
            }
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
        runs.forEach(List::clear);
    }

    /** Frees variable-width columns. The runs must have been freed or abandoned. */
    @Override
    public void close() {
        variableWidth.close();
    }
}
