// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Locates the values of one column among the variable-width values of a row. They are in schema
 * order, each an int32 length (negative for null) and its bytes. Immutable.
 */
public final class VariableWidthColumn {

    private final int valuesBefore;

    private VariableWidthColumn(int valuesBefore) {
        this.valuesBefore = valuesBefore;
    }

    /**
     * @param column index of a column that is not {@linkplain Column#isFixed fixed}
     */
    public static VariableWidthColumn of(ChunkSchema schema, int column) {
        int before = 0;
        for (int i = 0; i < column; i++) {
            before += schema.column(i).isFixed() ? 0 : 1;
        }
        return new VariableWidthColumn(before);
    }

    /**
     * Returns the offset of the length of the value.
     *
     * @param base array of the row's values, or null if {@code values} is an address
     * @param values offset of the row's first variable-width value, as in {@link Memory}
     */
    public long locate(byte @Nullable [] base, long values) {
        long at = values;
        for (int i = valuesBefore; i > 0; i--) {
            at += Integer.BYTES + Math.max(0, Memory.getInt(base, at));
        }
        return at;
    }

    /** Returns the offset of the length of the value of a chunk's row, or its address. */
    public long locate(Chunk chunk, int row) {
        return locate(chunk.array(), chunk.variableWidthStart(row));
    }

    /** Returns a copy of the value of a chunk's row; empty if it is null. */
    public byte[] copy(Chunk chunk, int row) {
        long at = locate(chunk, row);
        byte[] copy = new byte[Math.max(0, Memory.getInt(chunk.array(), at))];
        Memory.copy(chunk.array(), at + Integer.BYTES, copy, Memory.BYTES, copy.length);
        return copy;
    }

    /**
     * Whether two values are equal. Nulls are.
     *
     * @param at what {@link #locate} returned
     */
    public static boolean areEqual(
            byte @Nullable [] base, long at, byte @Nullable [] otherBase, long otherAt) {
        int length = Memory.getInt(base, at);
        return length == Memory.getInt(otherBase, otherAt)
                && Memory.equal(
                        base,
                        at + Integer.BYTES,
                        otherBase,
                        otherAt + Integer.BYTES,
                        Math.max(0, length));
    }
}
