// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import io.github.gpujoin.core.region.Memory;

/**
 * Avro's numbers of variable length: zigzag, 7 bits a byte, the lowest first; the highest bit of
 * the last byte is 0. Numbers of at most 8 bytes are decoded from one word, without a branch on
 * their length, which in real data no processor predicts.
 */
final class Varints {

    private static final long HIGHEST_BITS = 0x8080808080808080L;
    private static final int LONGEST = 10;

    private Varints() {}

    /**
     * Returns the next 8 bytes, the first one lowest. Bytes behind the end look like those of a
     * number that continues.
     */
    static long word(byte[] in, int at, int end) {
        int left = end - at;
        if (left >= Long.BYTES) {
            return Memory.getLong(in, Memory.BYTES + at);
        }
        return left == 0 ? HIGHEST_BITS : lastWord(in, at, end);
    }

    private static long lastWord(byte[] in, int at, int end) {
        int bits = Byte.SIZE * (end - at);
        long word = 0;
        if (end >= Long.BYTES) {
            word = Memory.getLong(in, Memory.BYTES + end - Long.BYTES) >>> Long.SIZE - bits;
        } else {
            for (int i = end - 1; i >= at; i--) {
                word = word << Byte.SIZE | in[i] & 0xFF;
            }
        }
        return word | HIGHEST_BITS << bits;
    }

    /** Returns a bit for each byte of a word that ends a number; 0 if none does. */
    private static long ends(long word) {
        return ~word & HIGHEST_BITS;
    }

    /** Returns the bytes of the first number of a word. */
    private static int lengthBytes(long ends) {
        return (Long.numberOfTrailingZeros(ends) >> 3) + 1;
    }

    /** Returns the first number of a word. */
    private static long value(long word, long ends) {
        long bits = word & (ends ^ ends - 1) & ~HIGHEST_BITS;
        bits = bits & 0x007F007F007F007FL | (bits & 0x7F007F007F007F00L) >>> 1;
        bits = bits & 0x00003FFF00003FFFL | (bits & 0x3FFF00003FFF0000L) >>> 2;
        bits = bits & 0x000000000FFFFFFFL | (bits & 0x0FFFFFFF00000000L) >>> 4;
        return unzigzag(bits);
    }

    /** Returns the number at an index, whose word is known. */
    static long value(long word, byte[] in, int at, int end) throws BadRecordException {
        long ends = ends(word);
        return ends != 0 ? value(word, ends) : longValue(in, at, longEnd(in, at, end));
    }

    /** Returns the index behind the number at an index, whose word is known. */
    static int next(long word, byte[] in, int at, int end) throws BadRecordException {
        long ends = ends(word);
        return ends != 0 ? at + lengthBytes(ends) : longEnd(in, at, end);
    }

    private static int longEnd(byte[] in, int at, int end) throws BadRecordException {
        for (int i = at; i < at + LONGEST; i++) {
            if (i == end) {
                throw truncated(1, 0);
            }
            if (in[i] >= 0) {
                return i + 1;
            }
        }
        throw new BadRecordException("Number has more than 10 bytes");
    }

    private static long longValue(byte[] in, int from, int to) {
        long bits = 0;
        for (int i = from; i < to; i++) {
            bits |= (in[i] & 0x7FL) << 7 * (i - from);
        }
        return unzigzag(bits);
    }

    private static long unzigzag(long bits) {
        return bits >>> 1 ^ -(bits & 1);
    }

    /**
     * Skips numbers.
     *
     * @return the index behind them
     */
    static int skip(byte[] in, int from, int end, long count) throws BadRecordException {
        int at = from;
        for (long left = count; left > 0; ) {
            long ends = ends(word(in, at, end));
            int whole = Long.bitCount(ends);
            if (whole == 0) {
                at = longEnd(in, at, end);
                left--;
            } else if (whole <= left) {
                at += Long.BYTES - (Long.numberOfLeadingZeros(ends) >> 3);
                left -= whole;
            } else {
                for (; left > 1; left--) {
                    ends &= ends - 1;
                }
                return at + lengthBytes(ends);
            }
        }
        return at;
    }

    static BadRecordException truncated(long wantedBytes, int leftBytes) {
        return new BadRecordException(
                "Value ends too early: wantedBytes=" + wantedBytes + ", leftBytes=" + leftBytes);
    }
}
