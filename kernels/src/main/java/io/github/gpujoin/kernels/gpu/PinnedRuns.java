// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Two pinned buffers of build rows: one is filled while the runs of the other one are copied to
 * devices. A buffer holds one run at first and more of them in a larger dimension, because a copy
 * call takes as long as the bus needs for some runs if many threads make one. Not thread-safe.
 */
final class PinnedRuns {

    private static final int LARGE_BUFFER_RUNS = 4;

    /** A buffer with the copies that may still read it. */
    private record Buffer(long address, List<BooleanSupplier> copies) {}

    private final BuildRunLayout layout;
    private final Buffers memory;
    private Buffer filled;
    private Buffer copied;
    private int bufferRuns;
    private boolean mayGrow;
    private int rowCount;

    /**
     * @param mayGrow whether buffers may hold more than one run
     */
    PinnedRuns(BuildRunLayout layout, Buffers memory, boolean mayGrow) {
        this.layout = layout;
        this.memory = memory;
        this.mayGrow = mayGrow;
    }

    /** Returns whether {@link #allocate} is due; only while the filled buffer has no rows. */
    boolean needsMemory(boolean isLarge) {
        return filled == null
                || (rowCount == 0 && isLarge && mayGrow && bufferRuns < LARGE_BUFFER_RUNS);
    }

    /**
     * Allocates both buffers. Keeps smaller ones if there is no memory for larger ones, and those
     * that copies may read.
     *
     * @throws GpuUnavailableException if there is no memory for the first buffers
     */
    void allocate() {
        int runs = filled == null ? 1 : LARGE_BUFFER_RUNS;
        try {
            long first = memory.pinned(2 * bytesOf(runs));
            filled = new Buffer(first, new ArrayList<>());
            copied = new Buffer(first + bytesOf(runs), new ArrayList<>());
            bufferRuns = runs;
        } catch (GpuUnavailableException e) {
            if (filled == null || e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                throw e;
            }
            mayGrow = false;
        }
    }

    /** Returns the rows of the filled buffer. */
    int rowCount() {
        return rowCount;
    }

    /** Returns the runs with rows of the filled buffer. */
    int runCount() {
        return (rowCount + layout.runRows() - 1) / layout.runRows();
    }

    boolean isFull() {
        return rowCount == bufferRuns * layout.runRows();
    }

    /** Returns the address of the filled buffer. */
    long address() {
        return filled.address;
    }

    /** Returns the address of the run to which the next row belongs. */
    long nextRun() {
        return filled.address + bytesOf(rowCount / layout.runRows());
    }

    /** Returns the number of rows in {@link #nextRun}. */
    int rowOfRun() {
        return rowCount % layout.runRows();
    }

    /** Counts rows that were written to {@link #nextRun}, not more than it has room for. */
    void added(int rows) {
        rowCount += rows;
    }

    /** Records a copy of the filled buffer, which has ended once it returns true. */
    void isCopied(BooleanSupplier copy) {
        filled.copies.add(copy);
    }

    /** Continues with the other buffer, whose copies must have ended before it is written. */
    void swap() {
        Buffer next = copied;
        copied = filled;
        filled = next;
        rowCount = 0;
    }

    /**
     * Returns whether the filled buffer may be written. The copies of this buffer alone count:
     * other streams may always have copies queued behind them.
     */
    boolean isFree() {
        filled.copies.removeIf(BooleanSupplier::getAsBoolean);
        return filled.copies.isEmpty();
    }

    long lengthBytes() {
        return memory.lengthBytes();
    }

    /** Frees the buffers, which no copy reads any more, while the serving kernel is stopped. */
    void free() {
        memory.close();
    }

    /** Drops the buffers, see {@link Buffers#abandon}. */
    void abandon() {
        memory.abandon();
    }

    private long bytesOf(int runs) {
        return (long) runs * layout.lengthBytes();
    }
}
