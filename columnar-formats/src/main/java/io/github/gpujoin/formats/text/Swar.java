// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Works on eight bytes of text at a time, in a long whose lowest byte is the first. */
final class Swar {

    private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
    private static final long HIGH_BITS = ~LOW_BITS;

    /** Multiplies the lowest bits of eight bytes to the highest byte, in their order. */
    private static final long GATHER = 0x0102040810204080L;

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

    /** Returns a bit for each of 64 bytes: whether it equals the one in the pattern. */
    static long equal(byte[] bytes, int at, long pattern) {
        long bits = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            long zeroed = load(bytes, at + Long.BYTES * i) ^ pattern;
            long highest = ~((zeroed & LOW_BITS) + LOW_BITS | zeroed | LOW_BITS);
            bits |= ((highest >>> 7) * GATHER >>> 56) << Long.BYTES * i;
        }
        return bits;
    }

    /** Returns the bits from an odd mark on, up to the one before the next mark. */
    static long between(long marks) {
        long toggled = marks;
        for (int shift = 1; shift < Long.SIZE; shift *= 2) {
            toggled ^= toggled << shift;
        }
        return toggled;
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
