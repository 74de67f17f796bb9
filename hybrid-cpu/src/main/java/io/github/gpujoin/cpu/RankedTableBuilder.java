package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * Makes a table of rows whose keys may share slots or repeat: a stable radix sort by slot, from
 * partitions that fit a core's cache into buckets of about one row within each.
 *
 * <p>Memory at its peak: the rows, the directory, and a partition once more.
 */
final class RankedTableBuilder implements AutoCloseable {

    private final RowLayout layout;
    private final BuildStaging staging;
    private final boolean keepsRepeats;
    private final long rowCount;
    private final SlotFunction slotFunction;
    private final int bucketShift;
    private final int partitionShift;
    private final SlotPartitions partitions;
    private Region rows;
    private Region starts;
    private RankDirectory directory;
    private Region scratch;
    private Region bucketEnds;
    private long keyCount;
    private int nextFreeSlot;

    /**
     * @param keepsRepeats whether rows of a key after the first one matter
     */
    private RankedTableBuilder(
            BuildStaging staging,
            SlotPartitions partitions,
            SlotFunction slotFunction,
            boolean keepsRepeats) {
        this.layout = staging.layout();
        this.staging = staging;
        this.keepsRepeats = keepsRepeats;
        this.rowCount = staging.rowCount();
        this.slotFunction = slotFunction;
        this.partitions = partitions;
        this.bucketShift = bucketShift(slotFunction, rowCount);
        this.partitionShift = partitions.shift() - bucketShift;
    }

    /** Slots of a bucket, as a power of two: as many as leave it about a row. */
    static int bucketShift(SlotFunction slotFunction, long rowCount) {
        return SlotPartitions.shiftToFit(slotFunction.slots() - 1, rowCount);
    }

    /**
     * Makes the table and takes its memory over.
     *
     * @param staging of the carried bytes
     * @param partitions of the staged rows, of a bucket's slots at least
     */
    static RankedTable build(
            BuildStaging staging,
            SlotPartitions partitions,
            SlotFunction slotFunction,
            boolean keepsRepeats) {
        try (RankedTableBuilder builder =
                new RankedTableBuilder(staging, partitions, slotFunction, keepsRepeats)) {
            return builder.build();
        }
    }

    private RankedTable build() {
        int spareSlots = slotFunction.isDirect() ? 1 : (int) rowCount + 1;
        directory = new RankDirectory(slotFunction.slots() + spareSlots, staging.allocator());
        scratch = staging.allocator().allocate(partitions.longestBytes());
        bucketEnds = staging.allocator().allocate((long) Long.BYTES << partitionShift);
        for (int p = 0; p < partitions.count(); p++) {
            sortPartition(p << partitionShift, partitions.start(p), partitions.end(p));
        }
        rows = partitions.takeRows();
        directory.seal();
        return table();
    }

    private RankedTable table() {
        boolean unique = keyCount == rowCount || !keepsRepeats;
        if (!unique) {
            findStarts();
        } else if (keyCount < rowCount) {
            keepFirsts();
        }
        long rowsKept = unique ? keyCount : rowCount;
        if (rowsKept > 0) {
            long end = row(rowsKept);
            layout.copyRow(end - layout.rowBytes(), end);
        }
        RankedTable table =
                new RankedTable(
                        layout,
                        slotFunction,
                        directory,
                        rows,
                        rowsKept,
                        starts,
                        staging.takeCarried());
        rows = null;
        starts = null;
        directory = null;
        return table;
    }

    /** Sorts the rows between two addresses by slot and enters their keys in the directory. */
    private void sortPartition(int firstBucket, long start, long end) {
        int rowBytes = layout.rowBytes();
        long ends = bucketEnds.address();
        Memory.fill(null, ends, bucketEnds.lengthBytes(), (byte) 0);
        for (long row = start; row < end; row += rowBytes) {
            long bucketEnd = bucketEnd(row, firstBucket);
            Memory.putLong(bucketEnd, Memory.getLong(bucketEnd) + rowBytes);
        }
        int buckets = 1 << partitionShift;
        long next = start;
        for (int bucket = 0; bucket < buckets; bucket++) {
            next += Memory.getLong(ends + 8L * bucket);
            Memory.putLong(ends + 8L * bucket, next);
        }
        long copy = scratch.address();
        Memory.copy(null, start, null, copy, end - start);
        // from the back, so that the ends become starts
        for (long row = copy + (end - start) - rowBytes; row >= copy; row -= rowBytes) {
            long bucketEnd = bucketEnd(row, firstBucket);
            long target = Memory.getLong(bucketEnd) - rowBytes;
            Memory.putLong(bucketEnd, target);
            layout.copyRow(row, target);
        }
        for (int bucket = 0; bucket < buckets; bucket++) {
            boolean last = bucket == buckets - 1;
            enterKeys(
                    Memory.getLong(ends + 8L * bucket),
                    last ? end : Memory.getLong(ends + 8L * (bucket + 1)));
        }
    }

    private long bucketEnd(long row, int firstBucket) {
        return bucketEnds.address() + 8L * ((slot(row) >>> bucketShift) - firstBucket);
    }

    /**
     * Orders the rows of a bucket by slot and key, stably, and takes a slot for each key. A bucket
     * has few different keys, so a pass for each of them is cheap however many rows they have.
     */
    private void enterKeys(long start, long end) {
        int rowBytes = layout.rowBytes();
        long first = start;
        while (first < end) {
            long lowest = first;
            int lowestSlot = slot(first);
            for (long row = first + rowBytes; row < end; row += rowBytes) {
                int slot = slot(row);
                if (slot < lowestSlot) {
                    lowest = row;
                    lowestSlot = slot;
                }
            }
            int position = Math.max(lowestSlot, nextFreeSlot);
            directory.take(position);
            nextFreeSlot = position + 1;
            keyCount++;
            first = first + rowBytes == end ? end : bringToFront(layout.key(lowest), first, end);
        }
    }

    /** Moves the rows of a key before the others, both in order; returns where the others start. */
    private long bringToFront(long key, long start, long end) {
        int rowBytes = layout.rowBytes();
        long front = start;
        long others = scratch.address();
        for (long row = start; row < end; row += rowBytes) {
            if (layout.key(row) != key) {
                layout.copyRow(row, others);
                others += rowBytes;
            } else {
                if (front != row) {
                    layout.copyRow(row, front);
                }
                front += rowBytes;
            }
        }
        Memory.copy(null, scratch.address(), null, front, others - scratch.address());
        return front;
    }

    private void findStarts() {
        starts = staging.allocator().allocate(keyCount * Long.BYTES);
        long next = starts.address();
        for (long i = 0; i < rowCount; i++) {
            if (isFirstOfKey(i)) {
                Memory.putLong(next, row(i));
                next += Long.BYTES;
            }
        }
    }

    /** Replaces the rows by the first one of each key. */
    private void keepFirsts() {
        Region firsts = staging.allocator().allocate((keyCount + 1) * layout.rowBytes());
        long next = firsts.address();
        for (long i = 0; i < rowCount; i++) {
            if (isFirstOfKey(i)) {
                layout.copyRow(row(i), next);
                next += layout.rowBytes();
            }
        }
        rows.close();
        rows = firsts;
    }

    private boolean isFirstOfKey(long index) {
        return index == 0 || layout.key(row(index)) != layout.key(row(index - 1));
    }

    private long row(long index) {
        return rows.address() + index * layout.rowBytes();
    }

    private int slot(long row) {
        return slotFunction.slot(layout.key(row));
    }

    @Override
    public void close() {
        for (Region region : new Region[] {rows, starts, scratch, bucketEnds}) {
            if (region != null) {
                region.close();
            }
        }
        if (directory != null) {
            directory.close();
        }
    }
}
