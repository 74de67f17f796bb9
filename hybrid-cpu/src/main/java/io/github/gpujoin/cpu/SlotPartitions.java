// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * The staged rows of a dimension with their keys, partitioned by ranges of {@code 2^shift} slots
 * that fit a core's cache. Rows of a partition keep their order of arrival.
 *
 * <p>Peak memory: the rows twice, less the staging pages already read. Not thread-safe.
 */
final class SlotPartitions implements Work, AutoCloseable {

    private static final long PARTITION_BYTES = 256 << 10;
    private static final int MAX_PARTITIONS = 1024;

    private final BuildStaging staging;
    private final RowLayout layout;
    private final SlotFunction slotFunction;
    private final int shift;

    /** End offset of each partition. */
    private final long[] ends;

    private final Work work =
            new Work.Sequence()
                    .then(this::countRows)
                    .thenRun(this::startPartitions)
                    .then(this::copyRows);

    private @Nullable Region rows;

    /**
     * Partitions the rows step by step, and empties the staging except for variable-width bytes.
     *
     * @param minShift smallest size of a partition in slots, as a power of two
     */
    SlotPartitions(BuildStaging staging, SlotFunction slotFunction, int minShift) {
        this.staging = staging;
        this.layout = staging.layout();
        this.slotFunction = slotFunction;
        int lastSlot = slotFunction.slots() - 1;
        long bytes = staging.rowCount() * layout.rowBytes();
        long wanted = Math.min(MAX_PARTITIONS, bytes / PARTITION_BYTES);
        this.shift = minShift + shiftToFit(lastSlot >>> minShift, wanted);
        this.ends = new long[(lastSlot >>> shift) + 1];
    }

    /**
     * Returns the smallest shift that maps the numbers up to {@code last} to at most {@code count}
     * values.
     */
    static int shiftToFit(int last, long count) {
        int shift = 0;
        while (last >>> shift >= Math.max(1, count)) {
            shift++;
        }
        return shift;
    }

    @Override
    public boolean step(long maxRows) {
        return work.step(maxRows);
    }

    /** Returns the number of partitions. */
    int count() {
        return ends.length;
    }

    /** Returns the slots of a partition, as a power of two. */
    int shift() {
        return shift;
    }

    /** Returns the address of a row; partitions are contiguous. */
    long row(long index) {
        return rows.address() + index * layout.rowBytes();
    }

    /** Returns the address of the first row of a partition. */
    long start(int partition) {
        return rows.address() + (partition == 0 ? 0 : ends[partition - 1]);
    }

    /** Returns the address after the last row of a partition. */
    long end(int partition) {
        return rows.address() + ends[partition];
    }

    long longestBytes() {
        long longest = 0;
        for (int p = 0; p < ends.length; p++) {
            longest = Math.max(longest, end(p) - start(p));
        }
        return longest;
    }

    /** Transfers the memory of the rows, which has room for one more, to the caller. */
    Region detachRows() {
        Region detached = rows;
        rows = null;
        return detached;
    }

    private Work countRows() {
        return BuildStaging.pass(staging.rows().cursor(), layout, this::countRows);
    }

    private void startPartitions() {
        // One row more, for the copy of the last row at the end of a table.
        rows = staging.allocator().allocate((staging.rowCount() + 1) * layout.rowBytes());
        long start = 0;
        for (int p = 0; p < ends.length; p++) {
            long length = ends[p];
            ends[p] = start;
            start += length;
        }
    }

    /** Copies rows to their partitions; start offsets become end offsets. */
    private Work copyRows() {
        return BuildStaging.pass(staging.rows().drainingCursor(), layout, this::copyRows);
    }

    private void countRows(long address, long lengthBytes) {
        int rowBytes = layout.rowBytes();
        for (long row = address; row < address + lengthBytes; row += rowBytes) {
            ends[slotFunction.slot(layout.key(row)) >>> shift] += rowBytes;
        }
    }

    private void copyRows(long address, long lengthBytes) {
        int rowBytes = layout.rowBytes();
        long base = rows.address();
        for (long row = address; row < address + lengthBytes; row += rowBytes) {
            int partition = slotFunction.slot(layout.key(row)) >>> shift;
            layout.copyRow(row, base + ends[partition]);
            ends[partition] += rowBytes;
        }
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
        }
    }
}
