// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Reads an integer column of fact chunks as contiguous 64-bit values. Chunks are read in place, on
 * the heap and in slots. Immutable.
 */
final class FactColumn {

    private final int column;
    private final int widthBytes;
    private final boolean wide;

    FactColumn(JoinSpec spec, int column) {
        this.column = column;
        this.widthBytes = spec.factSchema().column(column).type().widthBytes();
        this.wide = widthBytes == Long.BYTES;
    }

    /** Returns whether the chunk holds 64-bit values. */
    boolean isWide() {
        return wide;
    }

    /** Returns the offset of a value in {@link Chunk#array()}, or its address. */
    long offset(Chunk chunk, int row) {
        return chunk.columnStart(column) + (long) widthBytes * row;
    }

    /** Copies the values of consecutive rows to {@code int64[count]}. */
    void copy(Chunk chunk, int firstRow, int count, long target) {
        byte @Nullable [] array = chunk.array();
        long source = offset(chunk, firstRow);
        if (wide) {
            Memory.copy(array, source, null, target, 8L * count);
        } else if (widthBytes < Integer.BYTES) {
            NarrowIntegers.widen(array, source, widthBytes, count, target);
        } else if (array == null) {
            widen(source, count, target);
        } else {
            widen(array, source, count, target);
        }
    }

    /**
     * Copies the values of some rows to {@code int64[count]}.
     *
     * @param rows address of {@code int32[count]}
     */
    void gather(Chunk chunk, long rows, int count, long target) {
        byte @Nullable [] array = chunk.array();
        long values = offset(chunk, 0);
        if (widthBytes < Integer.BYTES) {
            NarrowIntegers.gather(array, values, widthBytes, rows, count, target);
        } else if (array == null) {
            gather(values, rows, count, target);
        } else if (wide) {
            gatherLongs(array, values, rows, count, target);
        } else {
            gatherInts(array, values, rows, count, target);
        }
    }

    // The compiler makes far slower code of a loop that reads the heap or native memory.

    private static void widen(byte[] array, long source, int count, long target) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(target + 8L * i, Memory.getInt(array, source + 4L * i));
        }
    }

    private static void widen(long source, int count, long target) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(target + 8L * i, Memory.getInt(source + 4L * i));
        }
    }

    private static void gatherLongs(byte[] array, long values, long rows, int count, long target) {
        for (int i = 0; i < count; i++) {
            long row = Memory.getInt(rows + 4L * i);
            Memory.putLong(target + 8L * i, Memory.getLong(array, values + 8L * row));
        }
    }

    private static void gatherInts(byte[] array, long values, long rows, int count, long target) {
        for (int i = 0; i < count; i++) {
            long row = Memory.getInt(rows + 4L * i);
            Memory.putLong(target + 8L * i, Memory.getInt(array, values + 4L * row));
        }
    }

    private void gather(long values, long rows, int count, long target) {
        for (int i = 0; i < count; i++) {
            long row = Memory.getInt(rows + 4L * i);
            Memory.putLong(
                    target + 8L * i,
                    wide ? Memory.getLong(values + 8L * row) : Memory.getInt(values + 4L * row));
        }
    }
}
