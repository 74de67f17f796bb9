// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Joins a probe row and a build row to one new binary row, in this order. A missing row becomes
 * nulls. Operators behind the join copy a binary row as bytes. They would copy any other row field
 * by field, each of them, unless Flink reuses objects.
 */
public final class JoinedTableRows
        implements JoinFunction<RowData, RowData, RowData>, RecordReader {

    private static final long serialVersionUID = 1L;

    private final int buildColumns;
    private final int probeColumns;
    private final RowDataSerializer buildRows;
    private final RowDataSerializer probeRows;

    /** Whether the values of a column are behind the fixed part of a binary row. */
    private final boolean[] buildOutOfLine;

    private final boolean[] probeOutOfLine;

    /** Rows of nulls; null before they are needed. */
    private transient @Nullable BinaryRowData missingBuild;

    private transient @Nullable BinaryRowData missingProbe;

    public JoinedTableRows(RowType build, RowType probe) {
        this.buildColumns = build.getFieldCount();
        this.probeColumns = probe.getFieldCount();
        this.buildRows = new RowDataSerializer(build);
        this.probeRows = new RowDataSerializer(probe);
        this.buildOutOfLine = outOfLine(build);
        this.probeOutOfLine = outOfLine(probe);
    }

    private static boolean[] outOfLine(RowType type) {
        boolean[] columns = new boolean[type.getFieldCount()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = !BinaryRowData.isInFixedLengthPart(type.getTypeAt(i));
        }
        return columns;
    }

    @Override
    public RowData join(@Nullable RowData build, @Nullable RowData probe) {
        return joined(
                probe == null ? missingProbe() : binary(probe, probeRows),
                build == null ? missingBuild() : binary(build, buildRows));
    }

    private static BinaryRowData binary(RowData row, RowDataSerializer rows) {
        BinaryRowData binary = rows.toBinaryRow(row);
        return binary.getSegments().length == 1 ? binary : binary.copy();
    }

    private BinaryRowData missingProbe() {
        if (missingProbe == null) {
            missingProbe = probeRows.toBinaryRow(new GenericRowData(probeColumns)).copy();
        }
        return missingProbe;
    }

    private BinaryRowData missingBuild() {
        if (missingBuild == null) {
            missingBuild = buildRows.toBinaryRow(new GenericRowData(buildColumns)).copy();
        }
        return missingBuild;
    }

    /**
     * Concatenates rows:
     *
     * <pre>
     *   header, a bit for each null | 8 bytes for each field | values of variable length
     * </pre>
     *
     * <p>The 8 bytes of a value of variable length start with its offset in the row.
     */
    private BinaryRowData joined(BinaryRowData probe, BinaryRowData build) {
        int columns = probeColumns + buildColumns;
        int headerBytes = BinaryRowData.calculateBitSetWidthInBytes(columns);
        int fixedBytes = BinaryRowData.calculateFixPartSizeInBytes(columns);
        int probeFixed = BinaryRowData.calculateFixPartSizeInBytes(probeColumns);
        int buildFixed = BinaryRowData.calculateFixPartSizeInBytes(buildColumns);
        int probeValues = probe.getSizeInBytes() - probeFixed;
        int buildValues = build.getSizeInBytes() - buildFixed;
        byte[] bytes = new byte[fixedBytes + probeValues + buildValues];
        MemorySegment target = MemorySegmentFactory.wrap(bytes);
        BinaryRowData row = new BinaryRowData(columns);
        row.pointTo(target, 0, bytes.length);
        row.setRowKind(RowKind.INSERT);
        copyFields(probe, probeColumns, row, 0, headerBytes, fixedBytes - probeFixed);
        int buildShift = fixedBytes + probeValues - buildFixed;
        copyFields(build, buildColumns, row, probeColumns, headerBytes, buildShift);
        copy(probe, probeFixed, target, fixedBytes, probeValues);
        copy(build, buildFixed, target, fixedBytes + probeValues, buildValues);
        return row;
    }

    private static void copy(
            BinaryRowData row, int from, MemorySegment target, int to, int lengthBytes) {
        row.getSegments()[0].copyTo(row.getOffset() + from, target, to, lengthBytes);
    }

    /**
     * @param shift of the row's values of variable length, in bytes
     */
    private void copyFields(
            BinaryRowData from,
            int count,
            BinaryRowData to,
            int first,
            int headerBytes,
            int shift) {
        MemorySegment source = from.getSegments()[0];
        MemorySegment target = to.getSegments()[0];
        boolean[] isOutOfLine = first == 0 ? probeOutOfLine : buildOutOfLine;
        int fields = from.getOffset() + BinaryRowData.calculateBitSetWidthInBytes(count);
        boolean hasNull = from.anyNull();
        for (int i = 0; i < count; i++) {
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
