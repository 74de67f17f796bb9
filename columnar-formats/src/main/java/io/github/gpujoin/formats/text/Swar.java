// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Eight bytes of text at a time, in a long; the first byte is the lowest. */
final class Swar {

    private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
    private static final long HIGH_BITS = ~LOW_BITS;
    private static final long ZEROS = 0x3030303030303030L;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Swar() {}

    static long load(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    /** Returns eight times a byte. */
    static long repeat(byte value) {
        return (value & 0xFF) * 0x0101010101010101L;
    }

    /** Returns the highest bit of each byte that equals the one in the pattern; exact. */
    static long equal(long word, long pattern) {
        long zeroed = word ^ pattern;
        return ~((zeroed & LOW_BITS) + LOW_BITS | zeroed | LOW_BITS);
    }

    /** Returns the highest bit of each byte from an odd mark on, up to the byte before the next. */
    static long between(long marks) {
        long toggled = marks ^ marks << 8;
        toggled ^= toggled << 16;
        return toggled ^ toggled << 32;
    }

    /** Returns the highest bit of all bytes if that of the last byte is set, else 0. */
    static long spreadLast(long marks) {
        return marks >> 63 & HIGH_BITS;
    }

    /** Returns the bits of the first bytes. */
    static long firstBytes(int count) {
        return (1L << 8 * count) - 1;
    }

    /** Returns the values of 1 to 8 characters that should be digits, the last one highest. */
    static long digits(byte[] bytes, int at, int count) {
        return (load(bytes, at) ^ ZEROS) << 64 - 8 * count;
    }

    static boolean areDigits(long digits) {
        return ((digits + 0x7676767676767676L | digits) & HIGH_BITS) == 0;
    }

    /** Returns the number that eight digits are: pairs, then fours, then all by multiplication. */
    static long number(long digits) {
        long pairs = digits * 10 + (digits >>> 8);
        long high = (pairs & 0x000000FF000000FFL) * (100 + (1_000_000L << 32));
        long low = (pairs >>> 16 & 0x000000FF000000FFL) * (1 + (10_000L << 32));
        return high + low >>> 32;
    }
}
