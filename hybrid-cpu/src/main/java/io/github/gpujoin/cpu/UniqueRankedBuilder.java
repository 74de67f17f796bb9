// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link RankedTable} if each slot belongs to one key and each key has one row.
 *
 * <p>A bit marks each key, and the number of bits before it is the index of its row, so nothing is
 * compared or sorted. The build runs partition by partition, since the bits and rows of one fit a
 * core's cache.
 *
 * <p>Repeated keys are known only after all bits are set, so rows are kept until then. Peak memory:
 * the staged rows, the directory, and the rows of the table, which have no keys.
 */
final class UniqueRankedBuilder implements TableBuilder {

    private final BuildStaging staging;
    private final SlotPartitions partitions;
    private final SlotFunction slotFunction;
    private final boolean keepsRepeats;
    private final RowLayout staged;
    private final RowLayout layout;
    private final Work work;
    private @Nullable RankDirectory directory;
    private @Nullable Region rows;
    private long keyCount;
    private long enteredRows;
    private boolean losesRows;

    /**
     * Leaves the rows unchanged if slots have several keys, or if keys have further rows that
     * matter.
     *
     * @param staging of the variable-width bytes, which the table owns afterwards
     * @param partitions of the staged rows
     * @param keepsRepeats whether rows of a key after the first one matter; if not, rows have no
     *     payload
     */
    UniqueRankedBuilder(
            BuildStaging staging,
            SlotPartitions partitions,
            SlotFunction slotFunction,
            boolean keepsRepeats) {
        this.staging = staging;
        this.partitions = partitions;
        this.slotFunction = slotFunction;
        this.keepsRepeats = keepsRepeats;
        this.staged = staging.layout();
        this.layout = staged.withoutKey();
        this.losesRows = !slotFunction.isDirect();
        this.work =
                losesRows
                        ? Work.NONE
                        : new Work.Sequence()
                                .then(this::clear)
                                .then(() -> this::enterKeys)
                                .then(() -> losesRows ? Work.NONE : directory.sealing())
                                .then(() -> losesRows ? Work.NONE : placeRows());
    }

    @Override
    public boolean step(long maxRows) {
        return work.step(maxRows);
    }

    private Work clear() {
        // One slot more, for keys out of range.
        directory = new RankDirectory(slotFunction.slots() + 1, staging.allocator());
        return directory.clearing();
    }

    /** Occupies a slot for each key, until a row would be lost. */
    private boolean enterKeys(long maxRows) {
        long to = Math.min(staging.rowCount(), enteredRows + maxRows);
        keyCount += enterKeys(partitions.row(enteredRows), partitions.row(to));
        enteredRows = to;
        losesRows = keepsRepeats && keyCount < enteredRows;
        return losesRows || enteredRows == staging.rowCount();
    }

    private long enterKeys(long start, long end) {
        int stagedBytes = staged.rowBytes();
        long minKey = slotFunction.minKey();
        long keys = 0;
        for (long row = start; row < end; row += stagedBytes) {
            keys += directory.occupyIfFree((int) (staged.key(row) - minKey));
        }
        return keys;
    }

    private Work placeRows() {
        rows = staging.allocator().allocate((keyCount + 1) * layout.rowBytes());
        return layout.rowBytes() == 0
                ? NONE
                : Work.range(
                        staging.rowCount(),
                        (from, to) -> placeRows(partitions.row(from), partitions.row(to)));
    }

    @Override
    public @Nullable CpuJoinTable table() {
        if (losesRows) {
            return null;
        }
        int rowBytes = layout.rowBytes();
        if (rowBytes > 0) {
            long end = rows.address() + keyCount * rowBytes;
            layout.copyRow(end - rowBytes, end);
        }
        RankedTable table =
                new RankedTable(
                        layout,
                        slotFunction,
                        directory,
                        rows,
                        keyCount,
                        null,
                        staging.detachVariableWidth());
        rows = null;
        directory = null;
        return table;
    }

    private void placeRows(long start, long end) {
        int stagedBytes = staged.rowBytes();
        int keyBytes = staged.keyBytes();
        int rowBytes = layout.rowBytes();
        long minKey = slotFunction.minKey();
        long target = rows.address();
        for (long row = start; row < end; row += stagedBytes) {
            long rank = directory.rank((int) (staged.key(row) - minKey));
            layout.copyRow(row + keyBytes, target + rank * rowBytes);
        }
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
        }
        if (directory != null) {
            directory.close();
        }
    }
}
