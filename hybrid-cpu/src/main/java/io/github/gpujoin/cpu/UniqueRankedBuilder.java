package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Region;

/**
 * Makes a {@link RankedTable} where each slot is of one key and each key has one row: a bit says
 * that the key is there, and the number of bits before it where its row goes. So nothing is
 * compared or sorted. Partition after partition, since bits and rows of one fit a core's cache.
 *
 * <p>Whether a key repeats shows when the bits are set; rows are left alone until then. Memory at
 * its peak: the rows as they came, the directory, and the table's rows, which have no keys.
 */
final class UniqueRankedBuilder implements TableBuilder {

    private final BuildStaging staging;
    private final SlotPartitions partitions;
    private final SlotFunction slotFunction;
    private final boolean keepsRepeats;
    private final RowLayout staged;
    private final RowLayout layout;
    private final Work work;
    private RankDirectory directory;
    private Region rows;
    private long keyCount;
    private long enteredRows;
    private boolean losesRows;

    /**
     * If slots are not of one key, or some have rows to be kept beyond the first, the rows are left
     * as they are.
     *
     * @param staging of the carried bytes, which the table takes over
     * @param partitions of the staged rows
     * @param keepsRepeats whether rows of a key after the first one matter; if not, rows have
     *     nothing but their key
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
        // one slot more, which stands for keys that have none
        directory = new RankDirectory(slotFunction.slots() + 1, staging.allocator());
        return directory.clearing();
    }

    /** Takes a slot for each key, as long as no row is lost by that. */
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
            keys += directory.takeIfFree((int) (staged.key(row) - minKey));
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
    public CpuJoinTable table() {
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
                        staging.takeCarried());
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
