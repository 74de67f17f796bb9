package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * Makes a table of staged rows: a stable radix sort by slot, first into partitions that fit a
 * core's cache, then into buckets of about one row within each partition.
 *
 * <p>Memory at its peak: the staged rows and the table's rows once each; staging pages go as they
 * are read, and the directory comes after them.
 */
final class RankedTableBuilder implements AutoCloseable {

    private static final long PARTITION_BYTES = 256 << 10;
    private static final int MAX_PARTITIONS = 1024;

    private final RowLayout layout;
    private final BuildStaging staging;
    private final boolean keepsRepeats;
    private final long rowCount;
    private final SlotFunction slotFunction;
    private final int bucketShift;
    private final int partitionShift;
    private final int partitions;
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
            BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        this.layout = staging.layout();
        this.staging = staging;
        this.keepsRepeats = keepsRepeats;
        this.rowCount = staging.rowCount();
        this.slotFunction = slotFunction;
        int lastSlot = slotFunction.slots() - 1;
        this.bucketShift = shiftToFit(lastSlot, rowCount);
        long wanted = Math.min(MAX_PARTITIONS, rowCount * layout.rowBytes() / PARTITION_BYTES);
        this.partitionShift = shiftToFit(lastSlot >>> bucketShift, wanted);
        this.partitions = (lastSlot >>> bucketShift >>> partitionShift) + 1;
    }

    /**
     * The smallest shift that leaves numbers up to {@code last} fewer than {@code count} values.
     */
    private static int shiftToFit(int last, long count) {
        int shift = 0;
        while (last >>> shift >= Math.max(1, count)) {
            shift++;
        }
        return shift;
    }

    /** Makes the table and empties the staging. */
    static RankedTable build(
            BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        try (RankedTableBuilder builder =
                new RankedTableBuilder(staging, slotFunction, keepsRepeats)) {
            return builder.build();
        }
    }

    private RankedTable build() {
        rows = staging.allocator().allocate((rowCount + 1) * layout.rowBytes());
        long[] ends = scatterToPartitions();
        int spareSlots = slotFunction.isDirect() ? 1 : (int) rowCount + 1;
        directory = new RankDirectory(slotFunction.slots() + spareSlots, staging.allocator());
        scratch = staging.allocator().allocate(longestPartition(ends));
        bucketEnds = staging.allocator().allocate((long) Long.BYTES << partitionShift);
        long start = rows.address();
        for (int p = 0; p < partitions; p++) {
            long end = rows.address() + ends[p];
            sortPartition(p << partitionShift, start, end);
            start = end;
        }
        directory.seal();
        return table();
    }

    private RankedTable table() {
        boolean unique = keyCount == rowCount || !keepsRepeats;
        RowLayout kept = unique && slotFunction.isDirect() ? layout.withoutKey() : layout;
        if (!unique) {
            findStarts();
        } else if (keyCount < rowCount || kept != layout) {
            keepFirsts(kept);
        }
        long rowsKept = unique ? keyCount : rowCount;
        if (rowsKept > 0) {
            long end = rows.address() + rowsKept * kept.rowBytes();
            kept.copyRow(end - kept.rowBytes(), end);
        }
        RankedTable table =
                new RankedTable(
                        kept,
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

    /** Copies rows to their partition, in order; returns the offset at which each one ends. */
    private long[] scatterToPartitions() {
        int rowBytes = layout.rowBytes();
        int shift = bucketShift + partitionShift;
        long[] next = new long[partitions];
        staging.rows()
                .forEach(
                        (address, lengthBytes) -> {
                            for (long row = address; row < address + lengthBytes; row += rowBytes) {
                                next[slot(row) >>> shift] += rowBytes;
                            }
                        });
        long start = 0;
        for (int p = 0; p < partitions; p++) {
            long length = next[p];
            next[p] = start;
            start += length;
        }
        long base = rows.address();
        staging.rows()
                .drain(
                        (address, lengthBytes) -> {
                            for (long row = address; row < address + lengthBytes; row += rowBytes) {
                                int partition = slot(row) >>> shift;
                                layout.copyRow(row, base + next[partition]);
                                next[partition] += rowBytes;
                            }
                        });
        return next;
    }

    private static long longestPartition(long[] ends) {
        long longest = 0;
        for (int p = 0; p < ends.length; p++) {
            longest = Math.max(longest, ends[p] - (p == 0 ? 0 : ends[p - 1]));
        }
        return longest;
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

    /** Replaces the rows by the first one of each key, the key left out where so wished. */
    private void keepFirsts(RowLayout kept) {
        int skippedBytes = layout.keyBytes() - kept.keyBytes();
        Region firsts = staging.allocator().allocate((keyCount + 1) * kept.rowBytes());
        long next = firsts.address();
        for (long i = 0; i < rowCount; i++) {
            if (isFirstOfKey(i)) {
                kept.copyRow(row(i) + skippedBytes, next);
                next += kept.rowBytes();
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
