// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Loads and stores values of 1, 2, 4 or 8 bytes, widened to 64 bits. Each width has its own loop: a
 * loop that tests the width of each value takes three times as long.
 *
 * <p>A section of values is an extent, as in {@link Memory}.
 */
final class PlainValues {

    private PlainValues() {}

    /** Loads adjacent values. */
    static void load(byte @Nullable [] base, long section, int widthBytes, int count, long[] into) {
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Memory.getByte(base, section + i);
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Memory.getShort(base, section + 2L * i);
                }
            }
            case Integer.BYTES -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Memory.getInt(base, section + 4L * i);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    into[i] = Memory.getLong(base, section + 8L * i);
                }
            }
        }
    }

    /** Stores the lowest bytes of values. */
    static void store(long[] values, int count, byte[] base, long section, int widthBytes) {
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putByte(base, section + i, (byte) values[i]);
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putShort(base, section + 2L * i, (short) values[i]);
                }
            }
            case Integer.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(base, section + 4L * i, (int) values[i]);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(base, section + 8L * i, values[i]);
                }
            }
        }
    }

    /**
     * Stores the lowest bytes of 64-bit values.
     *
     * @param values starts with {@code int64[count]}
     * @param widthBytes 1, 2 or 4
     */
    static void narrow(byte[] values, int count, byte[] base, long section, int widthBytes) {
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putByte(base, section + i, (byte) valueAt(values, i));
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putShort(base, section + 2L * i, (short) valueAt(values, i));
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(base, section + 4L * i, (int) valueAt(values, i));
                }
            }
        }
    }

    private static long valueAt(byte[] values, int index) {
        return Memory.getLong(values, Memory.BYTES + 8L * index);
    }
}
