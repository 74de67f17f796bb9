// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;

/** Reads an integer column of fact chunks as contiguous 64-bit values. Immutable. */
final class FactColumn {

    private final int column;
    private final boolean wide;

    FactColumn(JoinSpec spec, int column) {
        this.column = column;
        this.wide = spec.factSchema().column(column).type() == ColumnType.INT64;
    }

    /** Returns whether the chunk holds 64-bit values. */
    boolean isWide() {
        return wide;
    }

    /** Returns the offset of a value in {@link Chunk#array()}. */
    long offset(Chunk chunk, int row) {
        return Memory.BYTES + chunk.columnOffset(column) + (wide ? 8L : 4L) * row;
    }

    /** Copies the values of consecutive rows to {@code int64[count]}. */
    void copy(Chunk chunk, int firstRow, int count, long target) {
        byte[] bytes = chunk.array();
        long source = offset(chunk, firstRow);
        if (wide) {
            Memory.copy(bytes, source, null, target, 8L * count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Memory.putLong(target + 8L * i, Memory.getInt(bytes, source + 4L * i));
        }
    }

    /**
     * Copies the values of some rows to {@code int64[count]}.
     *
     * @param rows address of {@code int32[count]}
     */
    void gather(Chunk chunk, long rows, int count, long target) {
        byte[] bytes = chunk.array();
        long values = offset(chunk, 0);
        if (wide) {
            gatherLongs(bytes, values, rows, count, target);
        } else {
            gatherInts(bytes, values, rows, count, target);
        }
    }

    private static void gatherLongs(byte[] bytes, long values, long rows, int count, long target) {
        for (int i = 0; i < count; i++) {
            long row = Memory.getInt(rows + 4L * i);
            Memory.putLong(target + 8L * i, Memory.getLong(bytes, values + 8L * row));
        }
    }

    private static void gatherInts(byte[] bytes, long values, long rows, int count, long target) {
        for (int i = 0; i < count; i++) {
            long row = Memory.getInt(rows + 4L * i);
            Memory.putLong(target + 8L * i, Memory.getInt(bytes, values + 4L * row));
        }
    }
}
