// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Widens integers of 1 or 2 bytes to {@code int64[count]}. Values are read from a byte array or
 * from native memory, as in {@link Memory}.
 */
final class NarrowIntegers {

    private NarrowIntegers() {}

    /** Widens adjacent values. */
    static void widen(
            byte @Nullable [] array, long source, int widthBytes, int count, long target) {
        if (widthBytes == Short.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + 8L * i, shortAt(array, source + 2L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + 8L * i, byteAt(array, source + i));
            }
        }
    }

    /**
     * Widens the values of some rows.
     *
     * @param rows address of {@code int32[count]}
     */
    static void gather(
            byte @Nullable [] array,
            long values,
            int widthBytes,
            long rows,
            int count,
            long target) {
        if (widthBytes == Short.BYTES) {
            for (int i = 0; i < count; i++) {
                long row = Memory.getInt(rows + 4L * i);
                Memory.putLong(target + 8L * i, shortAt(array, values + 2 * row));
            }
        } else {
            for (int i = 0; i < count; i++) {
                long row = Memory.getInt(rows + 4L * i);
                Memory.putLong(target + 8L * i, byteAt(array, values + row));
            }
        }
    }

    /** The null check tells the compiler which of both memories it reads. */
    private static short shortAt(byte @Nullable [] array, long at) {
        return array == null ? Memory.getShort(at) : Memory.getShort(array, at);
    }

    private static byte byteAt(byte @Nullable [] array, long at) {
        return array == null ? Memory.getByte(at) : Memory.getByte(array, at);
    }
}
