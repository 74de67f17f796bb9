// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.region.Memory;
import java.util.List;

/**
 * Byte layout of a build row in staging and in a table. Immutable.
 *
 * <pre>
 *  0          keyBytes                            variableWidthOffset  rowBytes
 *  +----------+------------+-----+--------------------+----------------+
 *  | key      | payload 0  | ... | payload n-1        | int64 variable-|
 *  | 0/4/8 B  | 4 or 8 B   |     | 4 or 8 B           | WidthRef if any|
 *  +----------+------------+-----+--------------------+----------------+
 * </pre>
 *
 * <p>Fields are packed: a row is a multiple of 4 bytes, and 8-byte fields are aligned to 4 bytes.
 * The variableWidthRef references variable-width bytes, see {@link
 * io.github.gpujoin.core.engine.ResultLayout}.
 */
final class RowLayout {

    private final DimensionSpec dimension;
    private final int keyBytes;
    private final int[] payloadColumns;
    private final int[] payloadOffsets;
    private final int[] payloadWidths;
    private final int variableWidthOffset;
    private final int rowBytes;

    /** Creates a layout of rows with their key. */
    RowLayout(DimensionSpec dimension) {
        this(dimension, dimension.schema().column(dimension.keyColumn()).type().widthBytes());
    }

    private RowLayout(DimensionSpec dimension, int keyBytes) {
        this.dimension = dimension;
        this.keyBytes = keyBytes;
        List<Integer> columns = dimension.payloadColumns();
        this.payloadColumns = columns.stream().mapToInt(Integer::intValue).toArray();
        this.payloadOffsets = new int[payloadColumns.length];
        this.payloadWidths = new int[payloadColumns.length];
        int next = keyBytes;
        for (int i = 0; i < payloadColumns.length; i++) {
            payloadOffsets[i] = next;
            payloadWidths[i] = dimension.schema().column(payloadColumns[i]).type().widthBytes();
            next += payloadWidths[i];
        }
        this.variableWidthOffset = dimension.hasVariableWidthPayload() ? next : -1;
        this.rowBytes = dimension.hasVariableWidthPayload() ? next + Long.BYTES : next;
    }

    /**
     * Returns the layout without the key, for tables that derive the key from the position of a
     * row.
     */
    RowLayout withoutKey() {
        return new RowLayout(dimension, 0);
    }

    /** Returns the key column of build chunks. */
    int keyColumn() {
        return dimension.keyColumn();
    }

    /** Returns 4 for INT32 keys, 8 for INT64 keys, 0 for rows without a key. */
    int keyBytes() {
        return keyBytes;
    }

    int payloadCount() {
        return payloadColumns.length;
    }

    /** Returns the column of build chunks that holds a payload. */
    int payloadColumn(int payload) {
        return payloadColumns[payload];
    }

    int payloadOffset(int payload) {
        return payloadOffsets[payload];
    }

    int payloadWidth(int payload) {
        return payloadWidths[payload];
    }

    /** Returns the offset of the reference to variable-width bytes; -1 if rows have none. */
    int variableWidthOffset() {
        return variableWidthOffset;
    }

    int rowBytes() {
        return rowBytes;
    }

    /** Returns whether a match adds anything to a result. */
    boolean hasPayload() {
        return rowBytes > keyBytes;
    }

    /** Returns whether a row is a single 8-byte field, key or not. */
    boolean isOneLong() {
        int fields =
                payloadColumns.length + (keyBytes > 0 ? 1 : 0) + (variableWidthOffset < 0 ? 0 : 1);
        return fields == 1 && rowBytes == Long.BYTES;
    }

    /** Returns the key of the row at an address, widened to 64 bits. */
    long key(long row) {
        return keyBytes == Long.BYTES ? Memory.getLong(row) : Memory.getInt(row);
    }

    /** Copies a row between native addresses. */
    void copyRow(long source, long target) {
        int at = 0;
        for (; at + Long.BYTES <= rowBytes; at += Long.BYTES) {
            Memory.putLong(target + at, Memory.getLong(source + at));
        }
        if (at < rowBytes) {
            Memory.putInt(target + at, Memory.getInt(source + at));
        }
    }
}
