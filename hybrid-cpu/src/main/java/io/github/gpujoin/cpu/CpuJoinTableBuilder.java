package io.github.gpujoin.cpu;

import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * Makes a table of staged rows: a stable radix sort by hash slot, first into partitions that fit a
 * core's cache, then by slot within each partition.
 *
 * <p>Memory at its peak: the staged rows and the table's rows once each; staging pages go as they
 * are read, and the directory comes after them.
 */
final class CpuJoinTableBuilder implements AutoCloseable {

    private static final long PARTITION_BYTES = 256 << 10;
    private static final int MAX_PARTITIONS = 1024;

    private final RowLayout layout;
    private final BuildStaging staging;
    private final long rowCount;
    private final int slots;
    private final int partitionShift;
    private final int partitions;
    private Region rows;
    private Region directory;
    private Region scratch;
    private boolean unique = true;

    private CpuJoinTableBuilder(BuildStaging staging) {
        this.layout = staging.layout();
        this.staging = staging;
        this.rowCount = staging.rowCount();
        this.slots = (int) Math.min(Integer.MAX_VALUE, Math.max(1, rowCount));
        long wanted = rowCount * layout.rowBytes() / PARTITION_BYTES;
        int shift = 0;
        while ((slots - 1) >>> shift >= Math.max(1, Math.min(MAX_PARTITIONS, wanted))) {
            shift++;
        }
        this.partitionShift = shift;
        this.partitions = ((slots - 1) >>> shift) + 1;
    }

    /** Makes the table and empties the staging. */
    static CpuJoinTable build(BuildStaging staging) {
        try (CpuJoinTableBuilder builder = new CpuJoinTableBuilder(staging)) {
            return builder.build();
        }
    }

    private CpuJoinTable build() {
        rows = Region.allocate((rowCount + 1) * layout.rowBytes());
        long[] ends = scatterToPartitions();
        directory = Region.allocateZeroed((slots + 1L) * Long.BYTES);
        scratch = Region.allocate(longestPartition(ends));
        long start = 0;
        for (int p = 0; p < partitions; p++) {
            int firstSlot = p << partitionShift;
            int endSlot = (int) Math.min(slots, (p + 1L) << partitionShift);
            sortPartition(firstSlot, endSlot, start, ends[p]);
            start = ends[p];
        }
        Memory.putLong(directory.address() + 8L * slots, start << CpuJoinTable.OFFSET_SHIFT);
        if (rowCount > 0) {
            layout.copyRow(rows.address() + start - layout.rowBytes(), rows.address() + start);
        }
        CpuJoinTable table =
                new CpuJoinTable(
                        layout, rowCount, slots, unique, rows, directory, staging.takeCarried());
        rows = null;
        directory = null;
        return table;
    }

    /** Copies rows to their partition, in order; returns the offset at which each one ends. */
    private long[] scatterToPartitions() {
        int rowBytes = layout.rowBytes();
        long[] next = new long[partitions];
        staging.rows()
                .forEach(
                        (address, lengthBytes) -> {
                            for (long row = address; row < address + lengthBytes; row += rowBytes) {
                                next[slot(row) >>> partitionShift] += rowBytes;
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
                                int partition = slot(row) >>> partitionShift;
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

    /** Sorts the rows between two offsets by slot and writes their slots' directory entries. */
    private void sortPartition(int firstSlot, int endSlot, long startOffset, long endOffset) {
        int rowBytes = layout.rowBytes();
        long entries = directory.address();
        long from = rows.address() + startOffset;
        long lengthBytes = endOffset - startOffset;
        for (long row = from; row < from + lengthBytes; row += rowBytes) {
            long hash = KeyHash.hash(layout.key(row));
            long entry = entries + 8L * KeyHash.slot(hash, slots);
            long counted = Memory.getLong(entry) + ((long) rowBytes << CpuJoinTable.OFFSET_SHIFT);
            Memory.putLong(entry, counted | 1L << CpuJoinTable.tag(hash));
        }
        countsToEnds(firstSlot, endSlot, startOffset);
        Memory.copy(null, from, null, scratch.address(), lengthBytes);
        for (long at = lengthBytes - rowBytes; at >= 0; at -= rowBytes) {
            long row = scratch.address() + at;
            long entry = entries + 8L * slot(row);
            long start = Memory.getLong(entry) - ((long) rowBytes << CpuJoinTable.OFFSET_SHIFT);
            Memory.putLong(entry, start);
            layout.copyRow(row, rows.address() + (start >>> CpuJoinTable.OFFSET_SHIFT));
        }
        long end = rows.address() + endOffset;
        for (int slot = endSlot - 1; slot >= firstSlot; slot--) {
            long start = rows.address() + (Memory.getLong(entries + 8L * slot) >>> 16);
            if (end - start > rowBytes) {
                groupByKey(start, end);
            }
            end = start;
        }
    }

    private void countsToEnds(int firstSlot, int endSlot, long startOffset) {
        long tags = (1L << CpuJoinTable.OFFSET_SHIFT) - 1;
        long end = startOffset << CpuJoinTable.OFFSET_SHIFT;
        for (int slot = firstSlot; slot < endSlot; slot++) {
            long at = directory.address() + 8L * slot;
            long entry = Memory.getLong(at);
            end += entry & ~tags;
            Memory.putLong(at, end | entry & tags);
        }
    }

    /**
     * Brings rows of a key together behind its first one, keeping the order among them and among
     * the others. A slot has few different keys, so a pass for each of them is cheap.
     */
    private void groupByKey(long start, long end) {
        int rowBytes = layout.rowBytes();
        long first = start;
        while (first < end) {
            long key = layout.key(first);
            long next = first + rowBytes;
            long others = scratch.address();
            for (long row = next; row < end; row += rowBytes) {
                if (layout.key(row) == key) {
                    layout.copyRow(row, next);
                    next += rowBytes;
                    unique = false;
                } else {
                    layout.copyRow(row, others);
                    others += rowBytes;
                }
            }
            if (next > first + rowBytes) {
                Memory.copy(null, scratch.address(), null, next, others - scratch.address());
            }
            first = next;
        }
    }

    private int slot(long row) {
        return KeyHash.slot(KeyHash.hash(layout.key(row)), slots);
    }

    @Override
    public void close() {
        for (Region region : new Region[] {rows, directory, scratch}) {
            if (region != null) {
                region.close();
            }
        }
    }
}
