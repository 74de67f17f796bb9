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
     * Loads adjacent values.
     *
     * @param into array of room for {@code int64[count]} at {@code to}
     */
    static void load(
            byte @Nullable [] base, long section, int widthBytes, int count, byte[] into, long to) {
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(into, to + 8L * i, Memory.getByte(base, section + i));
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(into, to + 8L * i, Memory.getShort(base, section + 2L * i));
                }
            }
            case Integer.BYTES -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(into, to + 8L * i, Memory.getInt(base, section + 4L * i));
                }
            }
            default -> Memory.copy(base, section, into, to, 8L * count);
        }
    }

    /**
     * Replaces indexes by the values that they select.
     *
     * @param indexes array of {@code int64[count]} at {@code at}
     */
    static void gather(
            byte @Nullable [] base,
            long section,
            int widthBytes,
            int count,
            byte[] indexes,
            long at) {
        long end = at + 8L * count;
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (long i = at; i < end; i += 8) {
                    long from = section + Memory.getLong(indexes, i);
                    Memory.putLong(indexes, i, Memory.getByte(base, from));
                }
            }
            case Short.BYTES -> {
                for (long i = at; i < end; i += 8) {
                    long from = section + 2 * Memory.getLong(indexes, i);
                    Memory.putLong(indexes, i, Memory.getShort(base, from));
                }
            }
            case Integer.BYTES -> {
                for (long i = at; i < end; i += 8) {
                    long from = section + 4 * Memory.getLong(indexes, i);
                    Memory.putLong(indexes, i, Memory.getInt(base, from));
                }
            }
            default -> {
                for (long i = at; i < end; i += 8) {
                    long from = section + 8 * Memory.getLong(indexes, i);
                    Memory.putLong(indexes, i, Memory.getLong(base, from));
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
