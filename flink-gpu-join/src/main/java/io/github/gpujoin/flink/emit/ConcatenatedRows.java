// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Concatenates binary rows of some types to one:
 *
 * <pre>
 *   header, a bit for each null | 8 bytes for each field | values of variable length
 * </pre>
 *
 * <p>The 8 bytes of a value of variable length start with its offset in the row. Not thread-safe.
 */
public final class ConcatenatedRows implements Serializable {

    private static final long serialVersionUID = 1L;

    private final RowDataSerializer[] serializers;
    private final int[] columns;
    private final int[] fixedBytes;

    /** Whether the values of a column are behind the fixed part of a binary row, by input. */
    private final boolean[][] outOfLine;

    private final int allColumns;

    /** Rows of nulls; null before they are needed. */
    private transient @Nullable BinaryRowData @Nullable [] missing;

    public ConcatenatedRows(List<RowType> types) {
        this.serializers =
                types.stream().map(RowDataSerializer::new).toArray(RowDataSerializer[]::new);
        this.columns = types.stream().mapToInt(RowType::getFieldCount).toArray();
        this.fixedBytes =
                types.stream()
                        .mapToInt(
                                type ->
                                        BinaryRowData.calculateFixPartSizeInBytes(
                                                type.getFieldCount()))
                        .toArray();
        this.outOfLine = types.stream().map(ConcatenatedRows::outOfLine).toArray(boolean[][]::new);
        this.allColumns = types.stream().mapToInt(RowType::getFieldCount).sum();
    }

    private static boolean[] outOfLine(RowType type) {
        boolean[] columns = new boolean[type.getFieldCount()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = !BinaryRowData.isInFixedLengthPart(type.getTypeAt(i));
        }
        return columns;
    }

    /**
     * Returns a new row with the columns of all rows.
     *
     * @param rows a row of each type, in one segment each; null becomes nulls. The array is
     *     changed.
     */
    public BinaryRowData join(@Nullable BinaryRowData[] rows) {
        int headerBytes = BinaryRowData.calculateBitSetWidthInBytes(allColumns);
        int allFixedBytes = BinaryRowData.calculateFixPartSizeInBytes(allColumns);
        int bytes = allFixedBytes;
        for (int i = 0; i < rows.length; i++) {
            if (rows[i] == null) {
                rows[i] = missing(i);
            }
            bytes += rows[i].getSizeInBytes() - fixedBytes[i];
        }
        MemorySegment target = MemorySegmentFactory.wrap(new byte[bytes]);
        BinaryRowData joined = new BinaryRowData(allColumns);
        joined.pointTo(target, 0, bytes);
        joined.setRowKind(RowKind.INSERT);
        int column = 0;
        int values = allFixedBytes;
        for (int i = 0; i < rows.length; i++) {
            copyFields(i, rows[i], target, headerBytes, column, values - fixedBytes[i]);
            int valueBytes = rows[i].getSizeInBytes() - fixedBytes[i];
            rows[i].getSegments()[0].copyTo(
                    rows[i].getOffset() + fixedBytes[i], target, values, valueBytes);
            column += columns[i];
            values += valueBytes;
        }
        return joined;
    }

    private BinaryRowData missing(int input) {
        if (missing == null) {
            missing = new BinaryRowData[columns.length];
        }
        if (missing[input] == null) {
            missing[input] =
                    serializers[input].toBinaryRow(new GenericRowData(columns[input])).copy();
        }
        return missing[input];
    }

    /**
     * @param first column of the row's first field in the target
     * @param shift of the row's values of variable length, in bytes
     */
    private void copyFields(
            int input,
            BinaryRowData from,
            MemorySegment target,
            int headerBytes,
            int first,
            int shift) {
        MemorySegment source = from.getSegments()[0];
        boolean[] isOutOfLine = outOfLine[input];
        int fields = from.getOffset() + BinaryRowData.calculateBitSetWidthInBytes(columns[input]);
        boolean hasNull = from.anyNull();
        for (int i = 0; i < isOutOfLine.length; i++) {
            long field = source.getLong(fields + 8 * i);
            // Texts and bytes of at most 7 bytes are in the field itself, and set its highest bit.
            if (isOutOfLine[i] && field > 0) {
                field += (long) shift << Integer.SIZE;
            }
            target.putLong(headerBytes + 8 * (first + i), field);
            if (hasNull && from.isNullAt(i)) {
                int bit = first + i + Byte.SIZE; // behind the kind of the row
                int at = bit / Byte.SIZE;
                target.put(at, (byte) (target.get(at) | 1 << bit % Byte.SIZE));
            }
        }
    }
}
