// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Canonical bytes of one key, written in place and reused from key to key. Integers are big-endian.
 * Not thread-safe.
 */
final class KeyBytes {

    private byte[] array = new byte[64];
    private int length;

    void clear() {
        length = 0;
    }

    /** Returns the array whose first {@link #length} bytes are the key, until the next write. */
    byte[] array() {
        return array;
    }

    int length() {
        return length;
    }

    byte[] copy() {
        return Arrays.copyOf(array, length);
    }

    boolean equal(byte[] other) {
        return length == other.length
                && Memory.equal(array, Memory.BYTES, other, Memory.BYTES, length);
    }

    void writeBoolean(boolean value) {
        long at = grow(1);
        Memory.putByte(array, at, (byte) (value ? 1 : 0));
    }

    void writeInt(int value) {
        long at = grow(Integer.BYTES);
        Memory.putInt(array, at, Integer.reverseBytes(value));
    }

    void writeLong(long value) {
        long at = grow(Long.BYTES);
        Memory.putLong(array, at, Long.reverseBytes(value));
    }

    void write(byte[] bytes) {
        long at = grow(bytes.length);
        Memory.copy(bytes, Memory.BYTES, array, at, bytes.length);
    }

    /**
     * Appends the bytes of another key.
     *
     * @return their number
     */
    int append(KeyBytes other) {
        int count = other.length;
        long at = grow(count);
        Memory.copy(other.array, Memory.BYTES, array, at, count);
        return count;
    }

    /** Writes the number of a text's UTF-16 code units, and then these, two bytes each. */
    void writeText(String text) {
        byte[] latin1 = Memory.latin1(text);
        if (latin1 != null) {
            writeLatin1(latin1, Memory.BYTES, latin1.length);
            return;
        }
        writeInt(text.length());
        long at = grow(Character.BYTES * (long) text.length());
        for (int i = 0; i < text.length(); i++) {
            Memory.putShort(array, at + 2L * i, Short.reverseBytes((short) text.charAt(i)));
        }
    }

    /** Writes a text of Latin-1, one byte a char, as {@link #writeText} does. */
    void writeLatin1(byte[] base, long offset, int count) {
        writeInt(count);
        long at = grow(Character.BYTES * (long) count);
        byte[] to = array;
        int i = 0;
        for (; i + Integer.BYTES <= count; i += Integer.BYTES) {
            // Four chars at a time: their bytes are moved apart, each behind a zero.
            long chars = Memory.getInt(base, offset + i) & 0xFFFFFFFFL;
            chars = (chars | chars << 16) & 0x0000FFFF0000FFFFL;
            chars = (chars | chars << 8) & 0x00FF00FF00FF00FFL;
            Memory.putLong(to, at + 2L * i, chars << 8);
        }
        for (; i < count; i++) {
            short unit = (short) (Memory.getByte(base, offset + i) << 8);
            Memory.putShort(to, at + 2L * i, unit);
        }
    }

    /**
     * Returns where the next bytes are written, and counts them. To be called before {@link #array}
     * is read, which it may replace.
     */
    private long grow(long bytes) {
        int at = length;
        long end = at + bytes;
        if (end > array.length) {
            if (end > Integer.MAX_VALUE - 64) {
                throw new IllegalArgumentException(
                        "Join key of more than 2 GiB: lengthBytes=" + end);
            }
            array =
                    Arrays.copyOf(
                            array, (int) Math.min(Integer.MAX_VALUE - 64, Math.max(end, 2L * at)));
        }
        length = (int) end;
        return Memory.BYTES + at;
    }
}
