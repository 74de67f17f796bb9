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
 * Brings the build rows of one dimension to the device while they come: columns are copied into one
 * of two pinned runs, which goes to the device when it is full while the other one is filled. The
 * host keeps carried bytes only, as {@code int32 lengthBytes} and the bytes. Not thread-safe, but
 * for {@link #lengthBytes}.
 *
 * <p>Device memory grows by a quarter at a time, since the serving kernel has to stand still for
 * it; the copies run beside that kernel.
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
    private PagedMemory carried;
    private long carriedBytes;

    /**
     * @param timeoutNs for the serving kernel to stand still in
     */
    BuildStream(DeviceLease lease, MemoryBudget budget, BuildRowLayout rowLayout, long timeoutNs) {
        this.lease = lease;
        this.driver = lease.driver();
        this.timeoutNs = timeoutNs;
        this.rowLayout = rowLayout;
        this.runLayout = new BuildRunLayout(rowLayout);
        this.buffers = lease.memory().buffers(budget);
        this.host = lease.memory().hostWithin(budget);
        this.carried = newCarried();
    }

    BuildRowLayout rowLayout() {
        return rowLayout;
    }

    BuildRunLayout runLayout() {
        return runLayout;
    }

    /** Addresses of the runs on the device, in order of arrival. */
    List<Long> runs() {
        return runs;
    }

    long rowCount() {
        return rowCount;
    }

    /** Carried bytes that were copied to the host's memory. */
    long carriedBytes() {
        return carriedBytes;
    }

    /** Device and pinned memory together; carried bytes are in neither. */
    long lengthBytes() {
        return buffers.lengthBytes();
    }

    /**
     * Takes over the rows of a chunk.
     *
     * @throws GpuUnavailableException where they do not fit
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
        if (runLayout.carriedOffset() >= 0) {
            long refs = run + runLayout.carriedOffset() + (long) Long.BYTES * pinnedRows;
            for (int i = 0; i < count; i++) {
                Memory.putLong(refs + (long) Long.BYTES * i, copyCarried(chunk, firstRow + i));
            }
        }
    }

    private void copy(
            Chunk chunk, int column, long widthBytes, int firstRow, int count, long array) {
        long source = chunk.columnOffset(column) + widthBytes * firstRow;
        long target = array + widthBytes * pinnedRows;
        Memory.copy(chunk.array(), Memory.BYTES + source, null, target, widthBytes * count);
    }

    private long copyCarried(Chunk chunk, int row) {
        int start = chunk.carriedStart(row);
        int length = chunk.carriedEnd(row) - start;
        long address = carried.take(4L + length);
        carriedBytes += 4L + length;
        Memory.putInt(address, length);
        Memory.copy(chunk.array(), Memory.BYTES + start, null, address + 4, length);
        return address;
    }

    /** Starts the copy of the run that was filled, and goes on with the other one. */
    private void send() {
        if (freeRuns.isEmpty()) {
            lease.whileStopped(timeoutNs, this::allocateExtent);
        }
        // The other run's copy began a whole run ago: it is over, so this does not wait.
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

    /** Sends what is left, and waits until all runs are on the device. */
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

    /** Lets rows that were flushed go; their runs take the next ones. Carried bytes stay. */
    void rewind() {
        freeRuns.addAll(runs);
        runs.clear();
        rowCount = 0;
    }

    /** Memory for carried bytes within the budget; the caller closes what replaces none. */
    PagedMemory newCarried() {
        return new PagedMemory(host);
    }

    /** Has carried bytes lie elsewhere from now on, those that are referred to. */
    void replaceCarried(PagedMemory moved, long movedBytes) {
        carried.close();
        carried = moved;
        carriedBytes = movedBytes;
    }

    /**
     * Frees what the table was made of, while the serving kernel stands still; carried bytes stay.
     */
    void freeRuns() {
        try {
            awaitCopies();
            buffers.close();
        } catch (GpuUnavailableException e) {
            buffers.abandon();
        }
        runs.clear();
    }

    /** Forgets device and pinned memory, as in {@link Buffers#abandon}; carried bytes stay. */
    void abandonRuns() {
        buffers.abandon();
        runs.clear();
    }

    /** Frees carried bytes; runs must be freed or abandoned. */
    @Override
    public void close() {
        carried.close();
    }
}
