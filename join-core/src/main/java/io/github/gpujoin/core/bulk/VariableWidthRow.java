// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.util.List;

/**
 * Where the variable-width values of a row are. A chunk stores them one after another, so that one
 * walk over the row finds them all. Not thread-safe.
 */
public final class VariableWidthRow {

    private final int[] indexes;
    private final long[] starts;
    private final int[] lengths;

    public VariableWidthRow(ChunkSchema schema) {
        this.indexes = new int[schema.size()];
        int next = 0;
        for (int column = 0; column < indexes.length; column++) {
            indexes[column] = schema.column(column).isFixed() ? -1 : next++;
        }
        this.starts = new long[next];
        this.lengths = new int[next];
    }

    /** Moves to a row of a chunk with variable-width columns. */
    public void at(Chunk chunk, int row) {
        byte[] array = chunk.array();
        long at = chunk.variableWidthStart(row);
        for (int i = 0; i < starts.length; i++) {
            int length = Memory.getInt(array, at);
            starts[i] = at + Integer.BYTES;
            lengths[i] = length;
            at += Integer.BYTES + Math.max(0, length);
        }
    }

    public boolean isNull(int column) {
        return lengths[indexes[column]] == ChunkDescriptor.NULL_LENGTH;
    }

    /** Returns the bytes of the value of a variable-width column; 0 if it is null. */
    public int lengthBytes(int column) {
        return Math.max(0, lengths[indexes[column]]);
    }

    /** Returns the offset of the value in {@link Chunk#array()}, or its address. */
    public long start(int column) {
        return starts[indexes[column]];
    }

    /**
     * Returns the bytes of the values of columns with their lengths, as {@link #copy} stores them.
     *
     * @throws ArithmeticException if they exceed 2 GiB
     */
    public int lengthBytes(List<Integer> columns) {
        int bytes = 0;
        for (int column : columns) {
            bytes = Math.addExact(bytes, Integer.BYTES + lengthBytes(column));
        }
        return bytes;
    }

    /**
     * Copies the values of columns: for each the int32 length, -1 for null, and the bytes.
     *
     * @param chunk of the row
     * @param target address
     */
    public void copy(Chunk chunk, List<Integer> columns, long target) {
        long at = target;
        for (int column : columns) {
            int bytes = Integer.BYTES + lengthBytes(column);
            Memory.copy(chunk.array(), start(column) - Integer.BYTES, null, at, bytes);
            at += bytes;
        }
    }
}
