// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Packs unsigned codes of equal bit width: code {@code i} starts at bit {@code i * bits}, lowest
 * bit first. A packed section ends with 7 bytes of zeros, so that a reader may load 8 bytes at any
 * code.
 */
final class BitPacking {

    /** Widest code: 8 bytes at the byte of its first bit contain all of it. */
    static final int MAX_BITS = 56;

    private BitPacking() {}

    /** Returns the bits of the largest code, an unsigned number; 0 for the code 0. */
    static int bitsOf(long largestCode) {
        return Long.SIZE - Long.numberOfLeadingZeros(largestCode);
    }

    /** Returns the bytes of a section of {@code count} codes, a multiple of 16. */
    static long sectionBytes(long count, int bits) {
        return bits == 0 ? 0 : EncodedColumnDescriptor.align((count * bits + 7 >>> 3) + 7);
    }

    /**
     * Writes codes to zeroed bytes.
     *
     * @param at offset of the section, as in {@link Memory}
     */
    static void pack(long[] codes, int count, int bits, byte[] target, long at) {
        if (bits == 0) {
            return;
        }
        long word = 0;
        int used = 0;
        for (int i = 0; i < count; i++) {
            long code = codes[i];
            word |= code << used;
            used += bits;
            if (used >= Long.SIZE) {
                Memory.putLong(target, at, word);
                at += Long.BYTES;
                used -= Long.SIZE;
                word = used == 0 ? 0 : code >>> (bits - used);
            }
        }
        if (used > 0) {
            Memory.putLong(target, at, word);
        }
    }

    /**
     * Reads codes.
     *
     * @param first number of the first code
     * @param at offset of the section
     */
    static void unpack(Object base, long at, int bits, int first, int count, long[] into) {
        if (bits == 0) {
            Arrays.fill(into, 0, count, 0);
            return;
        }
        long mask = -1L >>> (Long.SIZE - bits);
        long bit = (long) first * bits;
        for (int i = 0; i < count; i++, bit += bits) {
            into[i] = Memory.getLong(base, at + (bit >>> 3)) >>> (bit & 7) & mask;
        }
    }
}
