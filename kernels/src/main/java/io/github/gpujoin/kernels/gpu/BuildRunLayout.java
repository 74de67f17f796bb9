package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;

/**
 * Byte layout of a run: a fixed number of build rows as they come, by columns, so that whole
 * columns of chunks are copied. Only the last run of a dimension has fewer rows; columns stay where
 * they are. Immutable.
 *
 * <pre>
 *  0          runRows * keyWidth                                           lengthBytes
 *  +----------+--------------------------------+----------------+----------+
 *  | key[]    | each payload[], in schema      | carriedRef[],  | change[],|
 *  |          | order                          | if any         | if any   |
 *  +----------+--------------------------------+----------------+----------+
 * </pre>
 *
 * <p>A carriedRef is as in {@link io.github.gpujoin.core.engine.ResultLayout}; a change is int32,
 * of {@link io.github.gpujoin.core.engine.RowChange}. The other two layouts tell the build kernels
 * of runs; {@code build.h} has the same offsets.
 */
final class BuildRunLayout {

    /** Large enough for the bus, small enough to hold two of for each dimension. */
    private static final int TARGET_BYTES = 1 << 20;

    /** For changes: a run is copied whole, however few of them facts wait for. */
    private static final int CHANGES_TARGET_BYTES = 1 << 17;

    private static final int MIN_ROWS = 64;

    static final int RUNS_BYTES = 32;
    static final int RUNS_RUNS_OFFSET = 0;
    static final int RUNS_COLUMNS_OFFSET = 8;
    static final int RUNS_RUN_SHIFT_OFFSET = 16;
    static final int RUNS_COLUMN_COUNT_OFFSET = 20;
    static final int RUNS_CHANGE_OFFSET_OFFSET = 24;

    static final int COLUMN_BYTES = 16;
    static final int COLUMN_RUN_OFFSET_OFFSET = 0;
    static final int COLUMN_ROW_OFFSET_OFFSET = 4;
    static final int COLUMN_WIDTH_OFFSET = 8;

    /** A column of chunks on its way to a row. */
    private record Column(int chunkColumn, int rowOffset, int widthBytes) {}

    private final List<Column> columns = new ArrayList<>();
    private final int[] offsets;
    private final int carriedRefs;
    private final int changeColumn;
    private final int changeOffset;
    private final int runRows;
    private final int lengthBytes;

    BuildRunLayout(BuildRowLayout row) {
        columns.add(
                new Column(
                        row.keyColumn(),
                        PlanDescriptor.ROW_KEY_OFFSET,
                        row.keyType().widthBytes()));
        for (int i = 0; i < row.payloadCount(); i++) {
            columns.add(
                    new Column(row.payloadColumn(i), row.payloadOffset(i), row.payloadWidth(i)));
        }
        this.carriedRefs = row.carriedOffset() >= 0 ? columns.size() : -1;
        if (carriedRefs >= 0) {
            columns.add(new Column(-1, row.carriedOffset(), Long.BYTES));
        }
        this.changeColumn = row.changeColumn();
        boolean changes = changeColumn >= 0;
        int changeBytes = changes ? Integer.BYTES : 0;
        int rowBytes = columns.stream().mapToInt(Column::widthBytes).sum() + changeBytes;
        int targetBytes = changes ? CHANGES_TARGET_BYTES : TARGET_BYTES;
        this.runRows = Math.max(MIN_ROWS, Integer.highestOneBit(targetBytes / rowBytes));
        this.offsets = new int[columns.size()];
        int next = 0;
        for (int c = 0; c < offsets.length; c++) {
            offsets[c] = next;
            next = Math.addExact(next, Math.multiplyExact(runRows, columns.get(c).widthBytes()));
        }
        this.changeOffset = changes ? next : -1;
        this.lengthBytes = Math.addExact(next, Math.multiplyExact(runRows, changeBytes));
    }

    /** Rows of a full run, a power of two. */
    int runRows() {
        return runRows;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    /** Columns that chunks have too, the key first. */
    int chunkColumnCount() {
        return carriedRefs >= 0 ? carriedRefs : columns.size();
    }

    /** Column of the chunks that a column comes from. */
    int chunkColumn(int column) {
        return columns.get(column).chunkColumn();
    }

    int widthBytes(int column) {
        return columns.get(column).widthBytes();
    }

    int offset(int column) {
        return offsets[column];
    }

    /** Offset of the carriedRefs, -1 where there are none. */
    int carriedOffset() {
        return carriedRefs >= 0 ? offsets[carriedRefs] : -1;
    }

    /** Column of the chunks that holds the changes. */
    int changeColumn() {
        return changeColumn;
    }

    /** Offset of the changes, -1 where there are none. */
    int changeOffset() {
        return changeOffset;
    }

    /** Bytes of the descriptor of so many runs. */
    long descriptorBytes(int runCount) {
        return RUNS_BYTES + (long) COLUMN_BYTES * columns.size() + (long) Long.BYTES * runCount;
    }

    /**
     * Writes the descriptor of runs: BuildRuns, columns, addresses of the runs.
     *
     * @param device where it will lie on the device
     */
    void writeDescriptor(long address, long device, List<Long> runs) {
        long columnsOffset = RUNS_BYTES;
        long runsOffset = columnsOffset + (long) COLUMN_BYTES * columns.size();
        Memory.putLong(address + RUNS_RUNS_OFFSET, device + runsOffset);
        Memory.putLong(address + RUNS_COLUMNS_OFFSET, device + columnsOffset);
        Memory.putInt(address + RUNS_RUN_SHIFT_OFFSET, Integer.numberOfTrailingZeros(runRows));
        Memory.putInt(address + RUNS_COLUMN_COUNT_OFFSET, columns.size());
        Memory.putInt(address + RUNS_CHANGE_OFFSET_OFFSET, Math.max(0, changeOffset));
        for (int c = 0; c < columns.size(); c++) {
            long at = address + columnsOffset + (long) COLUMN_BYTES * c;
            Memory.putInt(at + COLUMN_RUN_OFFSET_OFFSET, offsets[c]);
            Memory.putInt(at + COLUMN_ROW_OFFSET_OFFSET, columns.get(c).rowOffset());
            Memory.putInt(at + COLUMN_WIDTH_OFFSET, columns.get(c).widthBytes());
        }
        for (int r = 0; r < runs.size(); r++) {
            Memory.putLong(address + runsOffset + (long) Long.BYTES * r, runs.get(r));
        }
    }
}
