// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * Sorts partitioned rows by slot and key, stably, and occupies a directory slot for each key.
 *
 * <p>Each partition is divided into buckets by counting. Within a bucket, one pass for each
 * distinct key moves its rows to the front. A bucket has few distinct keys, so this is cheap for
 * any number of rows.
 *
 * <p>Each pass can stop after any row, also within a bucket full of one heavy hitter.
 */
final class BucketSort implements Work, AutoCloseable {

    /** Pass over the unsorted rows of a bucket. */
    private enum Phase {
        /** Finds the first row with the lowest slot. */
        FIND,
        /** Moves the rows of its key to the front, and the others to scratch memory. */
        DIVIDE,
        /** Moves the others back behind them. */
        RETURN
    }

    private final RowLayout layout;
    private final int rowBytes;
    private final SlotFunction slotFunction;
    private final SlotPartitions partitions;
    private final int bucketShift;
    private final int buckets;
    private final RankDirectory directory;
    private final Region scratch;
    private final Region bucketEnds;
    private int partition;
    private Work current = NONE;
    private long keyCount;
    private int nextFreeSlot;

    // Current bucket: rows from first to end are unsorted.
    private int bucket;
    private long first;
    private long end;
    private Phase phase;

    /** Next row of the pass. */
    private long row;

    private long lowest;
    private int lowestSlot;
    private long lowestKey;
    private long front;
    private long othersEnd;
    private long returned;

    /**
     * @param bucketShift slots of a bucket, as a power of two
     * @param directory without occupied slots
     */
    BucketSort(
            RowLayout layout,
            SlotFunction slotFunction,
            SlotPartitions partitions,
            int bucketShift,
            RankDirectory directory,
            Allocator allocator) {
        this.layout = layout;
        this.rowBytes = layout.rowBytes();
        this.slotFunction = slotFunction;
        this.partitions = partitions;
        this.bucketShift = bucketShift;
        this.buckets = 1 << (partitions.shift() - bucketShift);
        this.directory = directory;
        this.scratch = allocator.allocate(partitions.longestBytes());
        try {
            this.bucketEnds = allocator.allocate((long) Long.BYTES * buckets);
        } catch (Throwable e) {
            scratch.close();
            throw e;
        }
    }

    /** Returns the number of distinct keys of the sorted rows. */
    long keyCount() {
        return keyCount;
    }

    @Override
    public boolean step(long maxRows) {
        if (current.step(maxRows)) {
            if (partition == partitions.count()) {
                return true;
            }
            current = sort(partition++);
        }
        return false;
    }

    // ------------------------------------------------------------------ a partition by buckets

    private Work sort(int partition) {
        long start = partitions.start(partition);
        long stop = partitions.end(partition);
        long rows = (stop - start) / rowBytes;
        int firstBucket = partition * buckets;
        long copy = scratch.address();
        Memory.fill(null, bucketEnds.address(), bucketEnds.lengthBytes(), (byte) 0);
        return new Work.Sequence()
                .then(() -> Work.range(rows, (from, to) -> count(start, from, to, firstBucket)))
                .thenRun(() -> sumUp(start))
                .then(() -> Work.range(rows, (from, to) -> copyRows(start, copy, from, to)))
                // From the back, so that bucket ends become bucket starts.
                .then(
                        () ->
                                Work.range(
                                        rows,
                                        (from, to) ->
                                                moveToBuckets(rows - to, rows - from, firstBucket)))
                .then(() -> enterKeys(start, stop));
    }

    private void count(long start, long from, long to, int firstBucket) {
        for (long row = start + from * rowBytes; row < start + to * rowBytes; row += rowBytes) {
            long bucketEnd = bucketEnd(row, firstBucket);
            Memory.putLong(bucketEnd, Memory.getLong(bucketEnd) + rowBytes);
        }
    }

    private void sumUp(long start) {
        long next = start;
        for (int b = 0; b < buckets; b++) {
            next += Memory.getLong(bucketEnds.address() + 8L * b);
            Memory.putLong(bucketEnds.address() + 8L * b, next);
        }
    }

    private void copyRows(long source, long target, long from, long to) {
        long offset = from * rowBytes;
        Memory.copy(null, source + offset, null, target + offset, (to - from) * rowBytes);
    }

    /** Moves rows of the copy to their buckets, the last row first. */
    private void moveToBuckets(long from, long to, int firstBucket) {
        long start = scratch.address() + from * rowBytes;
        for (long row = scratch.address() + (to - 1) * rowBytes; row >= start; row -= rowBytes) {
            long bucketEnd = bucketEnd(row, firstBucket);
            long target = Memory.getLong(bucketEnd) - rowBytes;
            Memory.putLong(bucketEnd, target);
            layout.copyRow(row, target);
        }
    }

    private long bucketEnd(long row, int firstBucket) {
        return bucketEnds.address() + 8L * ((slot(row) >>> bucketShift) - firstBucket);
    }

    // ------------------------------------------------------------------ a bucket by keys

    private Work enterKeys(long start, long stop) {
        bucket = 0;
        first = start;
        end = start;
        return maxRows -> enterSome(stop, maxRows);
    }

    private boolean enterSome(long stop, long maxRows) {
        long left = maxRows;
        while (left > 0) {
            if (first < end) {
                left -= orderRows(left);
            } else if (bucket == buckets) {
                return true;
            } else {
                openBucket(stop);
                left--;
            }
        }
        return false;
    }

    /** Opens the next bucket. A single row is in order already. */
    private void openBucket(long stop) {
        bucket++;
        first = end;
        end = bucket == buckets ? stop : Memory.getLong(bucketEnds.address() + 8L * bucket);
        if (end - first == rowBytes) {
            occupySlot(slot(first));
            first = end;
        } else if (first < end) {
            find();
        }
    }

    private void occupySlot(int lowestSlot) {
        int position = Math.max(lowestSlot, nextFreeSlot);
        directory.occupy(position);
        nextFreeSlot = position + 1;
        keyCount++;
    }

    private void find() {
        phase = Phase.FIND;
        lowest = first;
        lowestSlot = slot(first);
        row = first + rowBytes;
    }

    /**
     * Continues to sort the bucket.
     *
     * @return rows visited
     */
    private long orderRows(long maxRows) {
        return switch (phase) {
            case FIND -> findLowest(maxRows);
            case DIVIDE -> divide(maxRows);
            case RETURN -> returnOthers(maxRows);
        };
    }

    private long findLowest(long maxRows) {
        long start = row;
        long to = Math.min(end, row + maxRows * rowBytes);
        for (; row < to; row += rowBytes) {
            int slot = slot(row);
            if (slot < lowestSlot) {
                lowest = row;
                lowestSlot = slot;
            }
        }
        if (row == end) {
            occupySlot(lowestSlot);
            lowestKey = layout.key(lowest);
            row = first;
            front = first;
            othersEnd = scratch.address();
            phase = Phase.DIVIDE;
        }
        return 1 + (row - start) / rowBytes;
    }

    private long divide(long maxRows) {
        long start = row;
        long to = Math.min(end, row + maxRows * rowBytes);
        for (; row < to; row += rowBytes) {
            if (layout.key(row) != lowestKey) {
                layout.copyRow(row, othersEnd);
                othersEnd += rowBytes;
            } else {
                if (front != row) {
                    layout.copyRow(row, front);
                }
                front += rowBytes;
            }
        }
        if (row == end) {
            first = front;
            returned = 0;
            phase = Phase.RETURN;
        }
        return 1 + (row - start) / rowBytes;
    }

    private long returnOthers(long maxRows) {
        long others = (othersEnd - scratch.address()) / rowBytes;
        long to = Math.min(others, returned + maxRows);
        copyRows(scratch.address(), first, returned, to);
        long rows = to - returned;
        returned = to;
        if (returned == others && others > 0) {
            find();
        }
        return 1 + rows;
    }

    private int slot(long row) {
        return slotFunction.slot(layout.key(row));
    }

    @Override
    public void close() {
        scratch.close();
        bucketEnds.close();
    }
}
