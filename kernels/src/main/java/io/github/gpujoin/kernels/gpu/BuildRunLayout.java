// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;

/**
 * Byte layout of a run: a fixed number of build rows in order of arrival, stored by columns so that
 * whole columns of chunks can be copied. Only the last run of a dimension may have fewer rows; the
 * offsets of its columns are the same. Immutable.
 *
 * <pre>
 *  0          runRows * keyWidth                                           lengthBytes
 *  +----------+--------------------------------+----------------+----------+
 *  | key[]    | each payload[], in schema      | variableWidth- | change[],|
 *  |          | order                          | Ref[], if any  | if any   |
 *  +----------+--------------------------------+----------------+----------+
 * </pre>
 *
 * <p>For variableWidthRef see {@link io.github.gpujoin.core.engine.ResultLayout}; a change is the
 * int32 code of a {@link io.github.gpujoin.core.engine.RowChange}. The constants below are the
 * offsets of the structs BuildRuns and BuildColumn in {@code build.h}.
 */
final class BuildRunLayout {

    /** Large enough for the full bandwidth of the bus, small enough to pin two runs a dimension. */
    private static final int TARGET_BYTES = 1 << 20;

    /** Smaller for changelogs: a partly filled run is copied in full when facts arrive. */
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

    /** A column of the build chunks and its position in the build row. */
    private record Column(int chunkColumn, int rowOffset, int widthBytes) {}

    private final List<Column> columns = new ArrayList<>();
    private final int[] offsets;
    private final int variableWidthRefs;
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
        this.variableWidthRefs = row.variableWidthOffset() >= 0 ? columns.size() : -1;
        if (variableWidthRefs >= 0) {
            columns.add(new Column(-1, row.variableWidthOffset(), Long.BYTES));
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

    /** Returns the number of rows in a full run, a power of two. */
    int runRows() {
        return runRows;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    /** Returns the number of columns: the key, the payload and the variableWidthRefs, if any. */
    int columnCount() {
        return columns.size();
    }

    /** Returns the number of columns copied from chunks; column 0 is the key. */
    int chunkColumnCount() {
        return variableWidthRefs >= 0 ? variableWidthRefs : columns.size();
    }

    /** Returns the chunk column from which a run column is copied. */
    int chunkColumn(int column) {
        return columns.get(column).chunkColumn();
    }

    int widthBytes(int column) {
        return columns.get(column).widthBytes();
    }

    int offset(int column) {
        return offsets[column];
    }

    /** Returns the offset of the variableWidthRefs, or -1 if there are none. */
    int variableWidthOffset() {
        return variableWidthRefs >= 0 ? offsets[variableWidthRefs] : -1;
    }

    /** Returns the chunk column that holds the row changes. */
    int changeColumn() {
        return changeColumn;
    }

    /** Returns the offset of the row changes, or -1 if there are none. */
    int changeOffset() {
        return changeOffset;
    }

    /** Returns the bytes of a descriptor for this number of runs. */
    long descriptorBytes(int runCount) {
        return RUNS_BYTES + (long) COLUMN_BYTES * columns.size() + (long) Long.BYTES * runCount;
    }

    /**
     * Writes a descriptor: BuildRuns, the columns, and the address of each run.
     *
     * @param address host memory to write to
     * @param device address to which the caller will copy the descriptor
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
