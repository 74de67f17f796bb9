package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.region.Memory;

/**
 * Loops that copy values of one fixed column, chosen by row, from an array or native memory (base
 * null) into a column array. Extents are the caller's to check: nothing here is.
 */
public final class ColumnGather {

    private ColumnGather() {}

    /**
     * Copies the values of {@code rows[from]} to {@code rows[from + count - 1]}.
     *
     * @param widthBytes of a value, 4 or 8
     * @param source where the source column starts, for {@link Memory}
     * @param targetStart index in {@code target} where the first value goes
     */
    public static void copy(
            int widthBytes,
            Object base,
            long source,
            int[] rows,
            int from,
            int count,
            byte[] target,
            int targetStart) {
        if (widthBytes == 8) {
            copy8(base, source, rows, from, count, target, Memory.BYTES + targetStart);
        } else {
            copy4(base, source, rows, from, count, target, Memory.BYTES + targetStart);
        }
    }

    private static void copy8(
            Object base, long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(target, at + 8L * i, Memory.getLong(base, source + 8L * rows[from + i]));
        }
    }

    private static void copy4(
            Object base, long source, int[] rows, int from, int count, byte[] target, long at) {
        for (int i = 0; i < count; i++) {
            Memory.putInt(target, at + 4L * i, Memory.getInt(base, source + 4L * rows[from + i]));
        }
    }

    /** Copies consecutive values. */
    public static void copyRange(
            int widthBytes, Object base, long source, int count, byte[] target, int targetStart) {
        Memory.copy(base, source, target, Memory.BYTES + targetStart, (long) widthBytes * count);
    }
}
