// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
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
        Memory.putByte(array, grow(1), (byte) (value ? 1 : 0));
    }

    void writeInt(int value) {
        Memory.putInt(array, grow(Integer.BYTES), Integer.reverseBytes(value));
    }

    void writeLong(long value) {
        Memory.putLong(array, grow(Long.BYTES), Long.reverseBytes(value));
    }

    void write(byte[] bytes) {
        long at = grow(bytes.length);
        Memory.copy(bytes, Memory.BYTES, array, at, bytes.length);
    }

    /**
     * Writes a text by its UTF-16 code units: their number and one byte each if all are below 256,
     * else the complement of the number and two bytes each.
     */
    void writeText(String text) {
        byte[] latin1 = Memory.latin1(text);
        if (latin1 != null) {
            writeLatin1(latin1, Memory.BYTES, latin1.length);
        } else if (text.chars().allMatch(unit -> unit < 256)) {
            // Only of a JVM that does not store Strings so.
            latin1 = text.getBytes(StandardCharsets.ISO_8859_1);
            writeLatin1(latin1, Memory.BYTES, latin1.length);
        } else {
            writeInt(~text.length());
            long at = grow(Character.BYTES * (long) text.length());
            for (int i = 0; i < text.length(); i++) {
                Memory.putShort(array, at + 2L * i, (short) text.charAt(i));
            }
        }
    }

    /** Writes a text of Latin-1 as {@link #writeText} does. */
    void writeLatin1(byte[] base, long offset, int count) {
        writeInt(count);
        long at = grow(count);
        Memory.copy(base, offset, array, at, count);
    }

    /** Returns where the next bytes are written, and counts them. */
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
