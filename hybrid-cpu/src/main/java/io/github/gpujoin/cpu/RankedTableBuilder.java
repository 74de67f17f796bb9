// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Builds a table of rows whose keys may share slots or repeat: a stable radix sort by slot, from
 * partitions that fit a core's cache to buckets of about one row.
 *
 * <p>Peak memory: the rows, the directory, and one partition twice.
 */
final class RankedTableBuilder implements TableBuilder {

    private final RowLayout layout;
    private final BuildStaging staging;
    private final boolean keepsRepeats;
    private final long rowCount;
    private final SlotFunction slotFunction;
    private final SlotPartitions partitions;
    private final Work work;
    private @Nullable Region rows;
    private @Nullable Region firsts;
    private @Nullable Region starts;
    private @Nullable RankDirectory directory;
    private @Nullable BucketSort sort;
    private long keyCount;

    /** Target of the next row that a pass keeps, or of the next start. */
    private long next;

    /**
     * @param staging of the variable-width bytes, which the table owns afterwards
     * @param partitions of the staged rows, of at least one bucket each
     * @param keepsRepeats whether rows of a key after the first one matter
     */
    RankedTableBuilder(
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
        this.work =
                new Work.Sequence()
                        .then(this::clear)
                        .then(this::sort)
                        .then(() -> directory.sealing())
                        .then(this::keepRows);
    }

    /** Returns the number of slots of a bucket, as a power of two, for about one row in each. */
    static int bucketShift(SlotFunction slotFunction, long rowCount) {
        return SlotPartitions.shiftToFit(slotFunction.slots() - 1, rowCount);
    }

    @Override
    public boolean step(long maxRows) {
        return work.step(maxRows);
    }

    private Work clear() {
        int spareSlots = slotFunction.isDirect() ? 1 : (int) rowCount + 1;
        directory = new RankDirectory(slotFunction.slots() + spareSlots, staging.allocator());
        return directory.clearing();
    }

    private Work sort() {
        sort =
                new BucketSort(
                        layout,
                        slotFunction,
                        partitions,
                        bucketShift(slotFunction, rowCount),
                        directory,
                        staging.allocator());
        return sort;
    }

    private Work keepRows() {
        rows = partitions.detachRows();
        keyCount = sort.keyCount();
        if (keyCount == rowCount) {
            return NONE;
        }
        return keepsRepeats ? findStarts() : keepFirsts();
    }

    @Override
    public CpuJoinTable table() {
        long rowsKept = keepsRepeats ? rowCount : keyCount;
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
                        staging.detachVariableWidth());
        rows = null;
        starts = null;
        directory = null;
        return table;
    }

    private Work findStarts() {
        starts = staging.allocator().allocate(keyCount * Long.BYTES);
        next = starts.address();
        return Work.range(rowCount, this::findStarts);
    }

    private void findStarts(long from, long to) {
        for (long i = from; i < to; i++) {
            if (isFirstOfKey(i)) {
                Memory.putLong(next, row(i));
                next += Long.BYTES;
            }
        }
    }

    /** Keeps the first row of each key only. */
    private Work keepFirsts() {
        firsts = staging.allocator().allocate((keyCount + 1) * layout.rowBytes());
        next = firsts.address();
        return new Work.Sequence()
                .then(() -> Work.range(rowCount, this::keepFirsts))
                .thenRun(this::replaceRows);
    }

    private void keepFirsts(long from, long to) {
        for (long i = from; i < to; i++) {
            if (isFirstOfKey(i)) {
                layout.copyRow(row(i), next);
                next += layout.rowBytes();
            }
        }
    }

    private void replaceRows() {
        rows.close();
        rows = firsts;
        firsts = null;
    }

    private boolean isFirstOfKey(long index) {
        return index == 0 || layout.key(row(index)) != layout.key(row(index - 1));
    }

    private long row(long index) {
        return rows.address() + index * layout.rowBytes();
    }

    @Override
    public void close() {
        Stream.of(rows, firsts, starts).filter(Objects::nonNull).forEach(Region::close);
        if (directory != null) {
            directory.close();
        }
        if (sort != null) {
            sort.close();
        }
    }
}
