// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads rows of chunks of one schema: fixed-width columns in place, variable-width columns decoded.
 */
public final class ChunkCursor implements RowView {

    private final ChunkSchema schema;
    private final int[] variableWidthIndex;
    private Chunk chunk;
    private int row;

    public ChunkCursor(ChunkSchema schema) {
        this.schema = schema;
        this.variableWidthIndex = new int[schema.size()];
        int next = 0;
        for (int i = 0; i < schema.size(); i++) {
            variableWidthIndex[i] = schema.column(i).isFixed() ? -1 : next++;
        }
    }

    /**
     * Moves to a row.
     *
     * @return this cursor
     * @throws IllegalArgumentException if the chunk has another schema
     */
    public ChunkCursor at(Chunk chunk, int row) {
        if (chunk != this.chunk) {
            moveTo(chunk);
        }
        this.row = row;
        return this;
    }

    private void moveTo(Chunk next) {
        if (!schema.equals(next.schema())) {
            throw new IllegalArgumentException(
                    "Chunk has another schema than its cursor: expected="
                            + schema
                            + ", schema="
                            + next.schema());
        }
        chunk = next;
    }

    @Override
    public ChunkSchema schema() {
        return schema;
    }

    @Override
    public boolean isNull(int column) {
        return variableWidthIndex[column] >= 0
                && lengthAt(valueAt(column)) == ChunkDescriptor.NULL_LENGTH;
    }

    @Override
    public int getInt(int column) {
        if (variableWidthIndex[column] < 0) {
            return chunk.getInt(column, row);
        }
        return (int) integer(column, ColumnType.INT32);
    }

    @Override
    public long getLong(int column) {
        if (variableWidthIndex[column] < 0) {
            return chunk.getLong(column, row);
        }
        return integer(column, ColumnType.INT64);
    }

    private long integer(int column, ColumnType widest) {
        ColumnType read = schema.column(column).type().readUpTo(widest);
        long at = variableWidthFixed(column, read);
        return Memory.getInteger(chunk.array(), at, read.widthBytes());
    }

    @Override
    public double getDouble(int column) {
        if (variableWidthIndex[column] < 0) {
            return chunk.getDouble(column, row);
        }
        if (schema.column(column).type() == ColumnType.FLOAT32) {
            long at = variableWidthFixed(column, ColumnType.FLOAT32);
            return Float.intBitsToFloat(Memory.getInt(chunk.array(), at));
        }
        long at = variableWidthFixed(column, ColumnType.FLOAT64);
        return Double.longBitsToDouble(Memory.getLong(chunk.array(), at));
    }

    @Override
    public String getString(int column) {
        byte[] utf8 = value(variableWidth(column, ColumnType.STRING));
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    @Override
    public byte[] getBytes(int column) {
        return value(variableWidth(column, ColumnType.BYTES));
    }

    @Override
    public boolean isText(int column, byte[] utf8) {
        long at = variableWidth(column, ColumnType.STRING);
        return lengthAt(at) == utf8.length
                && Memory.equal(chunk.array(), at + 4, utf8, Memory.BYTES, utf8.length);
    }

    /** Returns a copy of the value whose length is at an offset, or null. */
    private byte @Nullable [] value(long at) {
        int length = lengthAt(at);
        if (length < 0) {
            return null;
        }
        byte[] copy = new byte[length];
        Memory.copy(chunk.array(), at + 4, copy, Memory.BYTES, length);
        return copy;
    }

    private long variableWidthFixed(int column, ColumnType expected) {
        long at = variableWidth(column, expected);
        if (lengthAt(at) != expected.widthBytes()) {
            throw new IllegalStateException(
                    "Null value is read as a number. Call isNull() first: column="
                            + schema.column(column)
                            + ", row="
                            + row);
        }
        return at + 4;
    }

    private long variableWidth(int column, ColumnType expected) {
        if (schema.column(column).type() != expected) {
            throw new IllegalArgumentException(
                    "Column is read as another type: column="
                            + schema.column(column)
                            + ", as="
                            + expected);
        }
        return valueAt(column);
    }

    private long valueAt(int column) {
        long at = chunk.variableWidthStart(row);
        for (int i = variableWidthIndex[column]; i > 0; i--) {
            at += 4 + Math.max(0, lengthAt(at));
        }
        return at;
    }

    private int lengthAt(long at) {
        return Memory.getInt(chunk.array(), at);
    }
}
