// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.json;

import java.util.Arrays;

/** The UTF-8 bytes of a row's texts. Reused from row to row; a text's array does not change. */
final class Utf8Scratch {

    /** Bytes of a character at most; the two of a surrogate pair share four. */
    private static final int BYTES_A_CHAR = 3;

    private byte[] bytes = new byte[256];
    private int length;

    void clear() {
        length = 0;
    }

    /** The array with the last text. A later one may be in another array. */
    byte[] array() {
        return bytes;
    }

    int length() {
        return length;
    }

    void append(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, bytes, length, value.length);
        length += value.length;
    }

    /**
     * Appends the encoded text.
     *
     * @return false if a surrogate has no other half; UTF-8 cannot encode it
     */
    boolean append(char[] chars, int offset, int count) {
        reserve(BYTES_A_CHAR * count);
        int at = length;
        int end = offset + count;
        for (int i = offset; i < end; i++) {
            char c = chars[i];
            if (c < 0x80) {
                bytes[at++] = (byte) c;
            } else if (c < 0x800) {
                bytes[at++] = (byte) (0xC0 | c >> 6);
                bytes[at++] = (byte) (0x80 | c & 0x3F);
            } else if (!Character.isSurrogate(c)) {
                bytes[at++] = (byte) (0xE0 | c >> 12);
                bytes[at++] = (byte) (0x80 | c >> 6 & 0x3F);
                bytes[at++] = (byte) (0x80 | c & 0x3F);
            } else if (i + 1 < end && Character.isSurrogatePair(c, chars[i + 1])) {
                int point = Character.toCodePoint(c, chars[++i]);
                bytes[at++] = (byte) (0xF0 | point >> 18);
                bytes[at++] = (byte) (0x80 | point >> 12 & 0x3F);
                bytes[at++] = (byte) (0x80 | point >> 6 & 0x3F);
                bytes[at++] = (byte) (0x80 | point & 0x3F);
            } else {
                return false;
            }
        }
        length = at;
        return true;
    }

    private void reserve(int more) {
        if (more > bytes.length - length) {
            // Rows keep references to the old array, which stays as it is.
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
