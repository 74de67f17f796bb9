// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * A pinned run. The thread of the join claims its rows, any threads write them, and then a sink
 * receives it. {@link #written} is thread-safe; all else is for the thread of the join.
 */
final class StagedRun {

    private final long address;

    private final boolean isAfterAnother;
    private int claimedRows;

    /** Guarded by this object. */
    private int writtenRows;

    private DeviceCopy copy;

    /**
     * @param isAfterAnother whether the memory before belongs to another run of the same allocation
     * @param copy one that has ended
     */
    StagedRun(long address, boolean isAfterAnother, DeviceCopy copy) {
        this.address = address;
        this.isAfterAnother = isAfterAnother;
        this.copy = copy;
    }

    long address() {
        return address;
    }

    /** Returns whether the run starts where another one of the same allocation ends. */
    boolean isAfter(StagedRun other, long otherBytes) {
        return isAfterAnother && address == other.address + otherBytes;
    }

    int claimedRows() {
        return claimedRows;
    }

    int room() {
        return BulkRunLayout.RUN_ROWS - claimedRows;
    }

    /** Claims the next rows, and returns the first of them. */
    int claim(int rows) {
        int first = claimedRows;
        claimedRows += rows;
        return first;
    }

    /** Counts claimed rows that are written, or never will be because their task has failed. */
    synchronized void written(int rows) {
        writtenRows += rows;
        notifyAll();
    }

    synchronized boolean isWritten() {
        return writtenRows == claimedRows;
    }

    /** Waits until all claimed rows are written. */
    synchronized void awaitWritten() throws InterruptedException {
        while (writtenRows < claimedRows) {
            wait();
        }
    }

    /** Returns the last copy that reads the run. */
    DeviceCopy copy() {
        return copy;
    }

    /** Empties the run, which may be written again after a copy. */
    synchronized void passed(DeviceCopy lastCopy) {
        copy = lastCopy;
        claimedRows = 0;
        writtenRows = 0;
    }
}
