// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.Arrays;

/**
 * Writes rows of one input to pinned runs. A full run goes to a sink, while the next rows go to
 * another one. Not thread-safe.
 */
final class RunStaging {

    private static final int RUNS = 2;

    private final BulkMemory memory;
    private final BulkRunLayout layout;
    private final RunSink sink;

    /** Pinned runs; 0 before {@link #reserve}. */
    private long pinned;

    /** The last copy of each pinned run. */
    private final DeviceCopy[] copies = new DeviceCopy[RUNS];

    private int filled;
    private long rowCount;

    RunStaging(BulkDevice device, BulkMemory memory, BulkRunLayout layout, RunSink sink) {
        this.memory = memory;
        this.layout = layout;
        this.sink = sink;
        Arrays.fill(copies, DeviceCopy.none(device));
    }

    /** Returns the number of rows, including those that the sink does not have yet. */
    long rowCount() {
        return rowCount;
    }

    /** Allocates the pinned runs, unless that was done. */
    void reserve() {
        if (pinned == 0) {
            pinned = memory.allocatePinned((long) RUNS * layout.lengthBytes());
        }
    }

    /**
     * Returns the rows that can be written before the next {@link #added}, at least 1. Waits while
     * the run to write is being copied.
     *
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no memory for
     *     them
     */
    int room() throws InterruptedException {
        reserve();
        if (rowOfRun() == 0) {
            copies[filled].await();
        }
        return BulkRunLayout.RUN_ROWS - rowOfRun();
    }

    /** Returns the address of the run to which rows are written. */
    long address() {
        return pinned + (long) filled * layout.lengthBytes();
    }

    /** Returns the position of the next row in the run. */
    int rowOfRun() {
        return (int) (rowCount % BulkRunLayout.RUN_ROWS);
    }

    /** Counts rows that were written, and passes on the run if it is full. */
    void added(int rows) throws InterruptedException {
        rowCount += rows;
        if (rowOfRun() == 0) {
            passRun(BulkRunLayout.RUN_ROWS);
        }
    }

    /** Passes on the last rows. */
    void finish() throws InterruptedException {
        if (rowOfRun() > 0) {
            passRun(rowOfRun());
        }
    }

    private void passRun(int rows) throws InterruptedException {
        copies[filled] = sink.add(address(), rows);
        filled = (filled + 1) % RUNS;
    }
}
