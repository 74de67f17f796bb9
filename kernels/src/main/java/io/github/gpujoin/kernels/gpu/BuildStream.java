// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Streams the build rows of one dimension to the device as they arrive. Columns are copied into one
 * of two pinned runs; a full run is copied to the device while the other one is filled.
 * Variable-width columns stay on the host, each row as {@code int32 lengthBytes} and the bytes.
 *
 * <p>Device memory is allocated in extents of many runs, because each allocation stops the serving
 * kernel; copies do not. Not thread-safe, except for {@link #lengthBytes}.
 */
final class BuildStream implements AutoCloseable {

    private static final int MIN_EXTENT_RUNS = 16;
    private static final int MAX_EXTENT_RUNS = 256;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final long timeoutNs;
    private final BuildRowLayout rowLayout;
    private final BuildRunLayout runLayout;
    private final Buffers buffers;
    private final Allocator host;
    private final List<Long> runs = new ArrayList<>();
    private final ArrayDeque<Long> freeRuns = new ArrayDeque<>();
    private final long[] pinnedRuns = new long[2];
    private int pinnedRun;
    private int pinnedRows;
    private boolean copying;
    private long rowCount;
    private PagedMemory variableWidth;
    private long variableWidthBytes;

    /**
     * @param timeoutNs time within which the serving kernel must stop
     */
    BuildStream(DeviceLease lease, MemoryLimits limits, BuildRowLayout rowLayout, long timeoutNs) {
        this.lease = lease;
        this.driver = lease.driver();
        this.timeoutNs = timeoutNs;
        this.rowLayout = rowLayout;
        this.runLayout = new BuildRunLayout(rowLayout);
        this.buffers = lease.memory().buffers(limits);
        this.host = lease.memory().hostWithin(limits);
        this.variableWidth = newVariableWidth();
    }

    BuildRowLayout rowLayout() {
        return rowLayout;
    }

    BuildRunLayout runLayout() {
        return runLayout;
    }

    /** Returns the device addresses of the runs, in order of arrival. */
    List<Long> runs() {
        return runs;
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
        return buffers.lengthBytes();
    }

    /**
     * Copies the rows of a chunk.
     *
     * @throws GpuUnavailableException if memory for them cannot be allocated
     */
    void append(Chunk chunk) {
        int row = 0;
        while (row < chunk.rowCount()) {
            if (pinnedRuns[0] == 0) {
                lease.whileStopped(timeoutNs, this::allocatePinnedRuns);
            }
            int count = Math.min(runLayout.runRows() - pinnedRows, chunk.rowCount() - row);
            copyColumns(chunk, row, count);
            pinnedRows += count;
            row += count;
            if (pinnedRows == runLayout.runRows()) {
                send();
            }
        }
        rowCount += chunk.rowCount();
    }

    private void allocatePinnedRuns() {
        long address = buffers.pinned(2L * runLayout.lengthBytes());
        pinnedRuns[0] = address;
        pinnedRuns[1] = address + runLayout.lengthBytes();
    }

    private void copyColumns(Chunk chunk, int firstRow, int count) {
        long run = pinnedRuns[pinnedRun];
        for (int c = 0; c < runLayout.chunkColumnCount(); c++) {
            long target = run + runLayout.offset(c);
            copy(chunk, runLayout.chunkColumn(c), runLayout.widthBytes(c), firstRow, count, target);
        }
        if (runLayout.changeOffset() >= 0) {
            long target = run + runLayout.changeOffset();
            copy(chunk, runLayout.changeColumn(), Integer.BYTES, firstRow, count, target);
        }
        if (runLayout.variableWidthOffset() >= 0) {
            long refs = run + runLayout.variableWidthOffset() + (long) Long.BYTES * pinnedRows;
            for (int i = 0; i < count; i++) {
                Memory.putLong(
                        refs + (long) Long.BYTES * i, copyVariableWidth(chunk, firstRow + i));
            }
        }
    }

    private void copy(
            Chunk chunk, int column, long widthBytes, int firstRow, int count, long array) {
        long source = chunk.columnStart(column) + widthBytes * firstRow;
        long target = array + widthBytes * pinnedRows;
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

    /** Starts the copy of the filled run, and continues with the other run. */
    private void send() {
        if (freeRuns.isEmpty()) {
            lease.whileStopped(timeoutNs, this::allocateExtent);
        }
        // The copy of the other run started a whole run ago and has normally completed.
        driver.awaitCopies();
        copying = true;
        long run = freeRuns.remove();
        driver.startCopyToDevice(run, pinnedRuns[pinnedRun], runLayout.lengthBytes());
        runs.add(run);
        pinnedRun ^= 1;
        pinnedRows = 0;
    }

    private void allocateExtent() {
        int doubled = Math.max(MIN_EXTENT_RUNS, Math.min(MAX_EXTENT_RUNS, runs.size()));
        int extent = runs.isEmpty() ? 1 : doubled;
        long first = buffers.device((long) extent * runLayout.lengthBytes());
        for (int i = 0; i < extent; i++) {
            freeRuns.add(first + (long) i * runLayout.lengthBytes());
        }
    }

    /** Sends the partly filled run, and waits until all runs are on the device. */
    void flush() {
        if (pinnedRows > 0) {
            send();
        }
        awaitCopies();
    }

    private void awaitCopies() {
        if (copying) {
            driver.awaitCopies();
            copying = false;
        }
    }

    /** Discards flushed rows and reuses their runs. Variable-width columns stay. */
    void rewind() {
        freeRuns.addAll(runs);
        runs.clear();
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

    /** Frees the runs while the serving kernel is stopped. Variable-width columns stay. */
    void freeRuns() {
        try {
            awaitCopies();
            buffers.close();
        } catch (GpuUnavailableException e) {
            buffers.abandon();
        }
        runs.clear();
    }

    /** Drops device and pinned memory, see {@link Buffers#abandon}. Variable-width columns stay. */
    void abandonRuns() {
        buffers.abandon();
        runs.clear();
    }

    /** Frees variable-width columns. The runs must have been freed or abandoned. */
    @Override
    public void close() {
        variableWidth.close();
    }
}
