package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;

/**
 * The rows of one dimension, ordered by slot, and a {@link RankDirectory} that finds the key's rows
 * by counting the keys before it.
 *
 * <pre>
 *  directory:  . 1 . . 1 1 . . 1 ...     a bit for each different key, at its slot or, where
 *                |     | |     |         that is taken, at the next free one
 *  starts:       0     1 2     3         by rank, int64 address; only where keys repeat,
 *                |     | |      \        else row number rank
 *  rows:         A     B C C C   D ...   in {@link RowLayout}, equal keys in build order,
 *                                        and at the end the last row once more
 * </pre>
 *
 * <p>A probe may look at two rows in a row without asking whether there are two: a key that does
 * not equal the last row does not equal its copy. Where {@linkplain SlotFunction#isDirect() each
 * slot is of one key} and no key repeats, rows have no key, and where they have no payload either,
 * the directory is all there is.
 *
 * <p>A miss is nearly always decided by the directory alone, which for 16-byte rows is an eighth as
 * large as they are. Equal keys side by side are an idea of Birler, Schmidt, Fent, Neumann:
 * "Simple, Efficient, and Robust Hash Tables for Join Processing" (DaMoN 2024).
 */
final class RankedTable extends CpuJoinTable {

    private final SlotFunction slotFunction;
    private final RankDirectory directory;
    private final Region rows;
    private final Region starts;
    private final PagedMemory carried;
    private final long rowsAddress;
    private final long rowsEnd;

    /**
     * Takes over the memory.
     *
     * @param rowCount rows, without the copy of the last one
     * @param starts where the rows of each key start, null where no key repeats
     */
    RankedTable(
            RowLayout layout,
            SlotFunction slotFunction,
            RankDirectory directory,
            Region rows,
            long rowCount,
            Region starts,
            PagedMemory carried) {
        super(layout);
        this.slotFunction = slotFunction;
        this.directory = directory;
        this.rows = rows;
        this.starts = starts;
        this.carried = carried;
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
                + carried.lengthBytes();
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
        throw new UnsupportedOperationException("a ranked table gives addresses of rows only");
    }

    /**
     * Finds which keys' slots are taken.
     *
     * @param slots address of {@code int32[count]}
     * @param scratch address of room for {@code int64[count]}
     * @param numbers address of room for {@code int32[count]}: numbers of the slots taken, the
     *     first slot's being {@code firstNumber}
     * @param rows address of room for {@code int64[count]}: addresses of the first rows there
     * @return number of slots taken
     */
    int findRows(long slots, int count, long scratch, int firstNumber, long numbers, long rows) {
        if (starts == null) {
            return directory.findTaken(
                    slots,
                    count,
                    scratch,
                    firstNumber,
                    numbers,
                    rows,
                    rowsAddress,
                    layout().rowBytes());
        }
        int taken =
                directory.findTaken(
                        slots,
                        count,
                        scratch,
                        firstNumber,
                        numbers,
                        rows,
                        starts.address(),
                        Long.BYTES);
        for (int i = 0; i < taken; i++) {
            Memory.putLong(rows + 8L * i, Memory.getLong(Memory.getLong(rows + 8L * i)));
        }
        return taken;
    }

    /** First row of a key that does not stand at its own slot; 0 where there is none. */
    long findDisplaced(long key) {
        int slot = slotFunction.slot(key);
        long rank = directory.rank(slot);
        while (directory.isTaken(++slot)) {
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
        carried.close();
        if (starts != null) {
            starts.close();
        }
    }
}
