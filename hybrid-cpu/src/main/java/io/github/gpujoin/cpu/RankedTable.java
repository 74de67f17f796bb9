// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one dimension, sorted by slot, and a {@link RankDirectory} that finds the rows of a
 * key by the rank of its slot.
 *
 * <pre>
 *  directory:  . 1 . . 1 1 . . 1 ...     a bit for each distinct key, at its slot or, if that is
 *                |     | |     |         in use, at the next free one
 *  starts:       0     1 2     3         by rank, int64 address; only if keys repeat,
 *                |     | |      \        else the row number is the rank
 *  rows:         A     B C C C   D ...   in {@link RowLayout}, equal keys in build order,
 *                                        and a copy of the last row at the end
 * </pre>
 *
 * <p>A probe may read two adjacent rows without a bounds check: a key that differs from the last
 * row differs from its copy. If {@linkplain SlotFunction#isDirect() each slot belongs to one key}
 * and no key repeats, rows have no key; without payload, the directory is the whole table.
 *
 * <p>The directory alone decides nearly all misses. For 16-byte rows it has an eighth of their
 * size. Adjacent rows of equal keys follow Birler, Schmidt, Fent, Neumann: "Simple, Efficient, and
 * Robust Hash Tables for Join Processing" (DaMoN 2024).
 */
final class RankedTable extends CpuJoinTable {

    private final SlotFunction slotFunction;
    private final RankDirectory directory;
    private final Region rows;
    private final @Nullable Region starts;
    private final PagedMemory variableWidth;
    private final long rowsAddress;
    private final long rowsEnd;

    /**
     * Takes ownership of the memory.
     *
     * @param rowCount rows, without the copy of the last one
     * @param starts address of the first row of each key; null if no key repeats
     */
    RankedTable(
            RowLayout layout,
            SlotFunction slotFunction,
            RankDirectory directory,
            Region rows,
            long rowCount,
            @Nullable Region starts,
            PagedMemory variableWidth) {
        super(layout);
        this.slotFunction = slotFunction;
        this.directory = directory;
        this.rows = rows;
        this.starts = starts;
        this.variableWidth = variableWidth;
        this.rowsAddress = rows.address();
        this.rowsEnd = rowsAddress + rowCount * layout.rowBytes();
    }

    SlotFunction slotFunction() {
        return slotFunction;
    }

    @Override
    boolean isUnique() {
        return starts == null;
    }

    @Override
    long lengthBytes() {
        return rows.lengthBytes()
                + directory.lengthBytes()
                + (starts == null ? 0 : starts.lengthBytes())
                + variableWidth.lengthBytes();
    }

    @Override
    boolean hasRowLookup() {
        return false;
    }

    @Override
    KeyLookup addressLookup(int maxKeys, PagedMemory memory) {
        return new RankedLookup(this, maxKeys, memory);
    }

    @Override
    KeyLookup rowLookup() {
        throw new UnsupportedOperationException("A ranked table has no row lookup");
    }

    /**
     * Finds the rows of the occupied slots.
     *
     * @param slots address of {@code int32[count]}
     * @param scratch address of room for {@code int64[count]}
     * @param firstNumber number of the first slot
     * @param numbers address of room for {@code int32[count]}: numbers of the occupied slots
     * @param rows address of room for {@code int64[count]}: addresses of their first rows
     * @return number of occupied slots
     */
    int findRows(long slots, int count, long scratch, int firstNumber, long numbers, long rows) {
        if (starts == null) {
            return directory.findOccupied(
                    slots,
                    count,
                    scratch,
                    firstNumber,
                    numbers,
                    rows,
                    rowsAddress,
                    layout().rowBytes());
        }
        int found =
                directory.findOccupied(
                        slots,
                        count,
                        scratch,
                        firstNumber,
                        numbers,
                        rows,
                        starts.address(),
                        Long.BYTES);
        for (int i = 0; i < found; i++) {
            Memory.putLong(rows + 8L * i, Memory.getLong(Memory.getLong(rows + 8L * i)));
        }
        return found;
    }

    /** Returns the first row of a key that is not at its own slot; 0 if there is none. */
    long findDisplaced(long key) {
        int slot = slotFunction.slot(key);
        long rank = directory.rank(slot);
        while (directory.isOccupied(++slot)) {
            rank++;
            long row = firstRow(rank);
            if (layout().key(row) == key) {
                return row;
            }
        }
        return 0;
    }

    private long firstRow(long rank) {
        return starts == null
                ? rowsAddress + rank * layout().rowBytes()
                : Memory.getLong(starts.address() + 8L * rank);
    }

    @Override
    long nextMatch(long row) {
        long next = row + layout().rowBytes();
        return next < rowsEnd && layout().key(next) == layout().key(row) ? next : 0;
    }

    @Override
    void free() {
        rows.close();
        directory.close();
        variableWidth.close();
        if (starts != null) {
            starts.close();
        }
    }
}
