// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Byte layout of a build row in staging and in a table. Immutable.
 *
 * <pre>
 *  0          keyBytes             variableWidthOffset                     rowBytes
 *  +----------+--------------------+----------------+--------------------+---------+
 *  | key      | 4- and 8-byte      | int64 variable-| 1- and 2-byte      | padding |
 *  | 0/4/8 B  | payloads           | WidthRef if any| payloads           |         |
 *  +----------+--------------------+----------------+--------------------+---------+
 * </pre>
 *
 * <p>Keys of 1 and 2 bytes are widened to 4. Payloads of a group are packed in schema order. A row
 * is a multiple of 4 bytes, and its fields of 4 and 8 bytes are aligned to 4. The variableWidthRef
 * references variable-width bytes, see {@link io.github.gpujoin.core.engine.ResultLayout}.
 */
final class RowLayout {

    private final DimensionSpec dimension;
    private final int keyColumnBytes;
    private final int keyBytes;
    private final int[] payloadColumns;
    private final int[] payloadOffsets;
    private final int[] payloadWidths;
    private final int variableWidthOffset;
    private final int rowBytes;

    /** Null if equal integers are equal keys. */
    private final @Nullable VariableWidthColumn fullKey;

    /** Creates a layout of rows with their key. */
    RowLayout(DimensionSpec dimension) {
        this(dimension, true);
    }

    private RowLayout(DimensionSpec dimension, boolean hasKey) {
        this.dimension = dimension;
        this.keyColumnBytes = dimension.schema().column(dimension.keyColumn()).type().widthBytes();
        this.keyBytes = hasKey ? Math.max(Integer.BYTES, keyColumnBytes) : 0;
        List<Integer> columns = dimension.payloadColumns();
        this.payloadColumns = columns.stream().mapToInt(Integer::intValue).toArray();
        this.payloadOffsets = new int[payloadColumns.length];
        this.payloadWidths = new int[payloadColumns.length];
        for (int i = 0; i < payloadColumns.length; i++) {
            payloadWidths[i] = dimension.schema().column(payloadColumns[i]).type().widthBytes();
        }
        int next = assignOffsets(false, keyBytes);
        boolean hasVariableWidth = dimension.hasVariableWidthPayload();
        this.variableWidthOffset = hasVariableWidth ? next : -1;
        next = assignOffsets(true, hasVariableWidth ? next + Long.BYTES : next);
        this.rowBytes = next + 3 & -4;
        this.fullKey =
                dimension.isHashed()
                        ? VariableWidthColumn.of(dimension.schema(), dimension.keyBytesColumn())
                        : null;
    }

    /**
     * @param isNarrow whether the payloads of 1 and 2 bytes are placed, or the others
     */
    private int assignOffsets(boolean isNarrow, int offset) {
        int next = offset;
        for (int i = 0; i < payloadOffsets.length; i++) {
            if (payloadWidths[i] < Integer.BYTES == isNarrow) {
                payloadOffsets[i] = next;
                next += payloadWidths[i];
            }
        }
        return next;
    }

    /**
     * Returns the layout without the key, for tables that derive the key from the position of a
     * row.
     */
    RowLayout withoutKey() {
        return new RowLayout(dimension, false);
    }

    /** Returns the key column of build chunks. */
    int keyColumn() {
        return dimension.keyColumn();
    }

    /** Returns the width of the key in build chunks, 1, 2, 4 or 8. */
    int keyColumnBytes() {
        return keyColumnBytes;
    }

    /** Returns 8 for INT64 keys, 4 for narrower ones, 0 for rows without a key. */
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

    /** Returns whether rows of different keys may have equal integers as keys. */
    boolean isHashed() {
        return fullKey != null;
    }

    /**
     * Returns whether the row at an address has the key of a chunk's row.
     *
     * @param key integer of the chunk's row
     */
    boolean hasKey(long row, long key, Chunk chunk, int chunkRow) {
        return key(row) == key && (fullKey == null || hasFullKey(row, chunk, chunkRow));
    }

    private boolean hasFullKey(long row, Chunk chunk, int chunkRow) {
        long values = Memory.getLong(row + variableWidthOffset) + Integer.BYTES;
        return VariableWidthColumn.areEqual(
                null, fullKey.locate(null, values), chunk.array(), fullKey.locate(chunk, chunkRow));
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
