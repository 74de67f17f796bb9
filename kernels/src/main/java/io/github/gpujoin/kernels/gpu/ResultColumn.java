// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * A payload column of a result buffer.
 *
 * @param offset in the buffer
 * @param widthBytes of a value, 1, 2, 4 or 8
 * @param base what the codes are relative to; 0 if the column is not packed
 * @param bits of a code; {@code 8 * widthBytes} if the column is not packed
 */
record ResultColumn(long offset, int widthBytes, long base, int bits) {

    /** Describes a column whose values are written as they are. */
    static ResultColumn whole(long offset, int widthBytes) {
        return new ResultColumn(offset, widthBytes, 0, Byte.SIZE * widthBytes);
    }

    /** Describes a column of codes. */
    static ResultColumn packed(long offset, int widthBytes, PayloadRange range) {
        return new ResultColumn(offset, widthBytes, range.least(), codeBits(range));
    }

    /**
     * Returns the bits of a code: as many as the range needs, or 8, 16 or 32 if that is at most a
     * quarter more, since the host unpacks whole bytes several times faster.
     */
    static int codeBits(PayloadRange range) {
        int bits = range.bits();
        for (int whole = Byte.SIZE; whole <= Integer.SIZE; whole *= 2) {
            if (bits <= whole && whole - bits <= bits / 4) {
                return whole;
            }
        }
        return bits;
    }

    /** Whether values are codes. In packed results, those of 1 and 2 bytes always are. */
    boolean isPacked() {
        return widthBytes < Integer.BYTES || bits < Byte.SIZE * widthBytes;
    }
}
