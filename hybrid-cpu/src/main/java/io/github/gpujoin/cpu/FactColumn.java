// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.EncodedColumnReader;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Reads an integer column of fact chunks as contiguous 64-bit values. Chunks are read where they
 * are, on the heap and in slots; of encoded ones only the rows that are read are decoded. Not
 * thread-safe.
 */
final class FactColumn {

    private final int column;
    private final int widthBytes;
    private final boolean wide;
    private final EncodedColumnReader encoded;
    private byte @Nullable [] base;
    private long start;

    FactColumn(JoinSpec spec, int column) {
        this.column = column;
        this.widthBytes = spec.factSchema().column(column).type().widthBytes();
        this.wide = widthBytes == Long.BYTES;
        this.encoded = new EncodedColumnReader(column);
    }

    /**
     * Locates or decodes the values of consecutive rows.
     *
     * @return whether {@link #base()} and {@link #start()} have them as {@code int64[count]}, until
     *     the next call; if not, {@link #copy} has to widen them
     */
    boolean locate(Chunk chunk, int firstRow, int count) {
        if (chunk instanceof EncodedChunk facts) {
            base = encoded.load(facts, firstRow, count);
            start = Memory.BYTES;
            return true;
        }
        base = chunk.array();
        start = chunk.columnStart(column) + (long) widthBytes * firstRow;
        return wide;
    }

    /** Returns the array of the values, or null for native memory. */
    byte @Nullable [] base() {
        return base;
    }

    /** Returns the offset of the first value in {@link #base()}, or its address. */
    long start() {
        return start;
    }

    /** Copies the values of consecutive rows to {@code int64[count]}. */
    void copy(Chunk chunk, int firstRow, int count, long target) {
        if (locate(chunk, firstRow, count)) {
            Memory.copy(base, start, null, target, 8L * count);
        } else if (widthBytes < Integer.BYTES) {
            NarrowIntegers.widen(base, start, widthBytes, count, target);
        } else if (base == null) {
            widen(start, count, target);
        } else {
            widen(base, start, count, target);
        }
    }

    /**
     * Copies the values of some rows to {@code int64[count]}.
     *
     * @param rows address of {@code int32[count]}
     */
    void gather(Chunk chunk, long rows, int count, long target) {
        if (chunk instanceof EncodedChunk facts) {
            encoded.gather(facts, rows, count, target);
            return;
        }
        byte @Nullable [] array = chunk.array();
        long values = chunk.columnStart(column);
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
