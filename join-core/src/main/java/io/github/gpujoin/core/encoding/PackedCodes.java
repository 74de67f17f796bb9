// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Codes of equal width that are packed one behind the other as {@link EncodedColumnDescriptor}
 * says: for codes that come packed, from a file. Not thread-safe.
 */
public final class PackedCodes {

    /** Bits that are moved at once: with 7 bits that precede them in their byte they fit a word. */
    private static final int MOVED_BITS = 56;

    private byte[] bytes = new byte[0];
    private int bits;
    private int count;

    /**
     * Drops all codes.
     *
     * @param bits of each code that is added from now on, at most 32
     * @param maxCount number of codes that will be added, at most
     */
    public void begin(int bits, int maxCount) {
        this.bits = bits;
        count = 0;
        int length = (int) ((long) maxCount * bits + 7 >>> 3) + 2 * Long.BYTES;
        if (bytes.length < length) {
            bytes = new byte[length];
        }
    }

    /** Returns how many codes there are. */
    public int count() {
        return count;
    }

    /** Returns the bits of each code. */
    public int bits() {
        return bits;
    }

    /**
     * Adds packed codes of the same width.
     *
     * @param source with at least 8 readable bytes behind the last code
     * @param bit number in {@code source} of the first code's first bit
     */
    public void addPacked(byte[] source, long bit, int added) {
        long from = bit;
        long to = (long) count * bits;
        long end = to + (long) added * bits;
        for (; to < end; from += MOVED_BITS, to += MOVED_BITS) {
            long moved = Memory.getLong(source, Memory.BYTES + (from >>> 3)) >>> (from & 7);
            put(to, moved);
        }
        count += added;
    }

    /** Adds a code several times. */
    public void fill(int code, int added) {
        if (bits > 0) {
            int some = MOVED_BITS / bits;
            long word = 0;
            for (int i = 0; i < some; i++) {
                word |= (long) code << i * bits;
            }
            long end = (long) (count + added) * bits;
            for (long to = (long) count * bits; to < end; to += (long) some * bits) {
                put(to, word);
            }
        }
        count += added;
    }

    /** Adds codes. */
    public void add(int[] codes, int from, int added) {
        for (int i = 0; i < added; i++) {
            put((long) (count + i) * bits, codes[from + i]);
        }
        count += added;
    }

    /** Writes bits behind the ones before a bit; bits behind them are arbitrary. */
    private void put(long bit, long word) {
        long at = Memory.BYTES + (bit >>> 3);
        int shift = (int) (bit & 7);
        long before = Memory.getByte(bytes, at) & (1L << shift) - 1;
        Memory.putLong(bytes, at, before | word << shift);
    }

    /** Returns a code. */
    public int get(int number) {
        return (int) BitPacking.get(bytes, Memory.BYTES, bits, number);
    }

    /** Writes the codes as a section of a column's body. */
    void writeTo(byte[] target, int at, int sectionBytes) {
        long usedBits = (long) count * bits;
        int whole = (int) (usedBits >>> 3);
        System.arraycopy(bytes, 0, target, at, whole);
        Arrays.fill(target, at + whole, at + sectionBytes, (byte) 0);
        int rest = (int) (usedBits & 7);
        if (rest > 0) {
            target[at + whole] = (byte) (bytes[whole] & (1 << rest) - 1);
        }
    }
}
