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

    /** Replaces indexes by the values that they select. */
    static void gather(byte[] base, long section, int widthBytes, int count, long[] indexes) {
        switch (widthBytes) {
            case Byte.BYTES -> {
                for (int i = 0; i < count; i++) {
                    indexes[i] = Memory.getByte(base, section + indexes[i]);
                }
            }
            case Short.BYTES -> {
                for (int i = 0; i < count; i++) {
                    indexes[i] = Memory.getShort(base, section + 2 * indexes[i]);
                }
            }
            case Integer.BYTES -> {
                for (int i = 0; i < count; i++) {
                    indexes[i] = Memory.getInt(base, section + 4 * indexes[i]);
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    indexes[i] = Memory.getLong(base, section + 8 * indexes[i]);
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
}
