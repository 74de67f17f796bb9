// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.region.Memory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Loops that copy values of one fixed column, chosen by row, from an array or native memory (base
 * null) into a column array. Extents are the caller's to check: nothing here is. There is a loop
 * for each kind of memory, as one that must do for both is compiled to far slower code.
 */
public final class ColumnGather {

    private ColumnGather() {}

    /**
     * Copies the values of {@code rows[from]} to {@code rows[from + count - 1]}.
     *
     * @param widthBytes of a value, 1, 2, 4 or 8
     * @param array a byte array, or null for native memory
     * @param source where the source column starts, for {@link Memory}
     * @param targetStart index in {@code target} where the first value goes
     */
    public static void copy(
            int widthBytes,
            byte @Nullable [] array,
            long source,
            int[] rows,
            int from,
            int count,
            byte[] target,
            int targetStart) {
        Objects.requireNonNull(target);
        long at = Memory.BYTES + targetStart;
        if (widthBytes < 4) {
            narrow(widthBytes, array, source, rows, from, count, target, at);
        } else if (array == null && widthBytes == 8) {
            native8(source, rows, from, count, target, at);
        } else if (array == null) {
            native4(source, rows, from, count, target, at);
        } else if (widthBytes == 8) {
            array8(array, source, rows, from, count, target, at);
        } else {
            array4(array, source, rows, from, count, target, at);
        }
    }

    private static void array8(
            byte[] array, long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            long value = Memory.getLong(array, source + 8L * rows[from + i]);
            Memory.putLong(target, at + 8L * i, value);
        }
    }

    private static void array4(
            byte[] array, long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            int value = Memory.getInt(array, source + 4L * rows[from + i]);
            Memory.putInt(target, at + 4L * i, value);
        }
    }

    private static void native8(
            long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(target, at + 8L * i, Memory.getLong(source + 8L * rows[from + i]));
        }
    }

    private static void native4(
            long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            Memory.putInt(target, at + 4L * i, Memory.getInt(source + 4L * rows[from + i]));
        }
    }

    /** The null checks tell the compiler which of both memories it reads. */
    private static void narrow(
            int widthBytes,
            byte @Nullable [] array,
            long source,
            int[] rows,
            int from,
            int count,
            byte[] target,
            long at) {
        if (widthBytes == Short.BYTES) {
            for (int i = 0; i < count; i++) {
                long value = source + 2L * rows[from + i];
                Memory.putShort(
                        target,
                        at + 2L * i,
                        array == null ? Memory.getShort(value) : Memory.getShort(array, value));
            }
        } else {
            for (int i = 0; i < count; i++) {
                long value = source + rows[from + i];
                Memory.putByte(
                        target,
                        at + i,
                        array == null ? Memory.getByte(value) : Memory.getByte(array, value));
            }
        }
    }

    /** Copies consecutive values. */
    public static void copyRange(
            int widthBytes,
            byte @Nullable [] array,
            long source,
            int count,
            byte[] target,
            int targetStart) {
        Memory.copy(array, source, target, Memory.BYTES + targetStart, (long) widthBytes * count);
    }
}
