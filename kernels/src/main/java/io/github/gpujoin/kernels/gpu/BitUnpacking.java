// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;

/** Unpacks masks and codes of packed results in native memory. */
final class BitUnpacking {

    /** Widest code: 8 bytes at the byte of its first bit contain all of it. */
    static final int MAX_BITS = 56;

    private BitUnpacking() {}

    /**
     * Adds codes to a base, and writes the sums.
     *
     * @param codes address of the first code; 8 bytes at the byte of each code must be readable
     * @param bits of a code, from 0 to {@value #MAX_BITS}
     * @param target address of {@code count} values
     * @param widthBytes of a value, 1, 2, 4 or 8
     */
    static void unpack(long codes, int bits, long base, int count, long target, int widthBytes) {
        if (bits == 0) {
            fill(base, count, target, widthBytes);
        } else if (bits == Integer.SIZE && widthBytes == Long.BYTES) {
            widenInts(codes, base, count, target);
        } else if (bits == Short.SIZE && widthBytes >= Integer.BYTES) {
            widenShorts(codes, base, count, target, widthBytes);
        } else if (bits == Byte.SIZE && widthBytes >= Integer.BYTES) {
            widenBytes(codes, base, count, target, widthBytes);
        } else if (widthBytes == Long.BYTES) {
            unpackLongs(codes, bits, base, count, target);
        } else if (widthBytes == Integer.BYTES) {
            unpackInts(codes, bits, base, count, target);
        } else {
            unpackNarrow(codes, bits, base, count, target, widthBytes);
        }
    }

    private static void fill(long value, int count, long target, int widthBytes) {
        for (int i = 0; i < count; i++) {
            if (widthBytes == Long.BYTES) {
                Memory.putLong(target + 8L * i, value);
            } else if (widthBytes == Integer.BYTES) {
                Memory.putInt(target + 4L * i, (int) value);
            } else {
                putNarrow(target, i, widthBytes, value);
            }
        }
    }

    private static void putNarrow(long target, int index, int widthBytes, long value) {
        if (widthBytes == Short.BYTES) {
            Memory.putShort(target + 2L * index, (short) value);
        } else {
            Memory.putByte(target + index, (byte) value);
        }
    }

    // Loops without shifts, which the compiler turns into vector instructions.

    private static void widenInts(long codes, long base, int count, long target) {
        for (int i = 0; i < count; i++) {
            long code = Integer.toUnsignedLong(Memory.getInt(codes + 4L * i));
            Memory.putLong(target + 8L * i, base + code);
        }
    }

    private static void widenShorts(long codes, long base, int count, long target, int widthBytes) {
        if (widthBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                int code = Short.toUnsignedInt(Memory.getShort(codes + 2L * i));
                Memory.putLong(target + 8L * i, base + code);
            }
        } else {
            for (int i = 0; i < count; i++) {
                int code = Short.toUnsignedInt(Memory.getShort(codes + 2L * i));
                Memory.putInt(target + 4L * i, (int) base + code);
            }
        }
    }

    private static void widenBytes(long codes, long base, int count, long target, int widthBytes) {
        if (widthBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                int code = Byte.toUnsignedInt(Memory.getByte(null, codes + i));
                Memory.putLong(target + 8L * i, base + code);
            }
        } else {
            for (int i = 0; i < count; i++) {
                int code = Byte.toUnsignedInt(Memory.getByte(null, codes + i));
                Memory.putInt(target + 4L * i, (int) base + code);
            }
        }
    }

    private static void unpackLongs(long codes, int bits, long base, int count, long target) {
        long mask = -1L >>> Long.SIZE - bits;
        long bit = 0;
        for (int i = 0; i < count; i++, bit += bits) {
            long code = Memory.getLong(codes + (bit >>> 3)) >>> (bit & 7) & mask;
            Memory.putLong(target + 8L * i, base + code);
        }
    }

    private static void unpackInts(long codes, int bits, long base, int count, long target) {
        long mask = -1L >>> Long.SIZE - bits;
        long bit = 0;
        for (int i = 0; i < count; i++, bit += bits) {
            long code = Memory.getLong(codes + (bit >>> 3)) >>> (bit & 7) & mask;
            Memory.putInt(target + 4L * i, (int) (base + code));
        }
    }

    private static void unpackNarrow(
            long codes, int bits, long base, int count, long target, int widthBytes) {
        long mask = -1L >>> Long.SIZE - bits;
        long bit = 0;
        for (int i = 0; i < count; i++, bit += bits) {
            long code = Memory.getLong(codes + (bit >>> 3)) >>> (bit & 7) & mask;
            putNarrow(target, i, widthBytes, base + code);
        }
    }

    /** Returns the number of 1 bits of whole words. */
    static int count(long mask, int wordCount) {
        int count = 0;
        for (int word = 0; word < wordCount; word++) {
            count += Long.bitCount(Memory.getLong(mask + 8L * word));
        }
        return count;
    }

    /**
     * Writes the numbers of all 1 bits as int32, in ascending order.
     *
     * @param firstNumber number of the first bit
     * @param target address of as many int32 as the mask has 1 bits
     */
    static void writeNumbers(long mask, int wordCount, int firstNumber, long target) {
        long at = target;
        for (int word = 0; word < wordCount; word++) {
            long bits = Memory.getLong(mask + 8L * word);
            int number = firstNumber + Long.SIZE * word;
            if (bits == -1L) {
                writeSequence(number, Long.SIZE, at);
                at += 4L * Long.SIZE;
                continue;
            }
            for (; bits != 0; bits &= bits - 1, at += 4) {
                Memory.putInt(at, number + Long.numberOfTrailingZeros(bits));
            }
        }
    }

    /** Writes adjacent numbers as int32. */
    static void writeSequence(int first, int count, long target) {
        for (int i = 0; i < count; i++) {
            Memory.putInt(target + 4L * i, first + i);
        }
    }

    /** Returns the bit with a number, 0 or 1. */
    static byte bit(long mask, int number) {
        return (byte) (Memory.getByte(null, mask + (number >>> 3)) >>> (number & 7) & 1);
    }
}
