// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

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
     * Reads consecutive codes as 64-bit values.
     *
     * @param base array of the section, not native memory, which would make the loops slower
     * @param at offset of the section
     * @param first number of the first code
     * @param addend added to each code
     * @param into array of room for {@code int64[count]} at offset {@code to}
     */
    static void unpack(
            byte[] base,
            long at,
            int bits,
            int first,
            int count,
            long addend,
            byte[] into,
            long to) {
        if (bits == 0) {
            fill(addend, count, into, to);
            return;
        }
        // Every eighth code starts at the same bit of a byte, which spares each code its own shift.
        long mask = -1L >>> (Long.SIZE - bits);
        int eighths = count >>> 3;
        for (int lane = 0; lane < 8; lane++) {
            long bit = (long) (first + lane) * bits;
            long from = at + (bit >>> 3);
            int shift = (int) (bit & 7);
            long target = to + 8L * lane;
            for (int i = 0; i < eighths; i++, from += bits) {
                long code = Memory.getLong(base, from) >>> shift & mask;
                Memory.putLong(into, target + 64L * i, code + addend);
            }
        }
        for (int i = 8 * eighths; i < count; i++) {
            Memory.putLong(into, to + 8L * i, get(base, at, bits, first + i) + addend);
        }
    }

    /** Codes of no bits have no section that could be read. */
    private static void fill(long value, int count, byte @Nullable [] into, long to) {
        for (int i = 0; i < count; i++) {
            Memory.putLong(into, to + 8L * i, value);
        }
    }

    /** Returns a code. */
    static long get(byte @Nullable [] base, long at, int bits, int number) {
        if (bits == 0) {
            return 0;
        }
        long bit = (long) number * bits;
        return Memory.getLong(base, at + (bit >>> 3)) >>> (bit & 7) & -1L >>> (Long.SIZE - bits);
    }

    /**
     * Reads some codes.
     *
     * @param base array of the section, or null for native memory
     * @param rows address of {@code int32[count]}: numbers of the codes
     * @param addend added to each code
     * @param target address of room for {@code int64[count]}
     */
    static void gather(
            byte @Nullable [] base,
            long at,
            int bits,
            long rows,
            int count,
            long addend,
            long target) {
        if (bits == 0) {
            fill(addend, count, null, target);
            return;
        }
        long mask = -1L >>> (Long.SIZE - bits);
        for (int i = 0; i < count; i++) {
            long bit = (long) Memory.getInt(rows + 4L * i) * bits;
            long code = Memory.getLong(base, at + (bit >>> 3)) >>> (bit & 7) & mask;
            Memory.putLong(target + 8L * i, code + addend);
        }
    }
}
