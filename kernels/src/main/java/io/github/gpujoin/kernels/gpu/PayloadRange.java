// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Range of the values of a payload column. As a struct of the kernels it has the same name.
 *
 * @param least at most {@code greatest}
 */
record PayloadRange(long least, long greatest) {

    /** Range of a column that may contain any value. */
    static final PayloadRange UNKNOWN = new PayloadRange(Long.MIN_VALUE, Long.MAX_VALUE);

    /** Returns the smallest range that also contains 0. */
    PayloadRange withZero() {
        return new PayloadRange(Math.min(least, 0), Math.max(greatest, 0));
    }

    /** Returns the part of the range that signed integers of a width can have. */
    PayloadRange within(int widthBytes) {
        int unusedBits = Long.SIZE - Byte.SIZE * widthBytes;
        return new PayloadRange(
                Math.max(least, Long.MIN_VALUE >> unusedBits),
                Math.min(greatest, Long.MAX_VALUE >> unusedBits));
    }

    /** Returns the bits of the largest difference from the least value, from 0 to 64. */
    int bits() {
        return Long.SIZE - Long.numberOfLeadingZeros(greatest - least);
    }

    /** Writes an empty range to an array, for kernels to widen. */
    static void writeEmpty(long array, int index) {
        long at = array + (long) index * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        Memory.putLong(at + PlanDescriptor.PAYLOAD_RANGE_LEAST_OFFSET, Long.MAX_VALUE);
        Memory.putLong(at + PlanDescriptor.PAYLOAD_RANGE_GREATEST_OFFSET, Long.MIN_VALUE);
    }

    /** Reads a range of an array; an empty one as the range that contains only 0. */
    static PayloadRange read(long array, int index) {
        long at = array + (long) index * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        long least = Memory.getLong(at + PlanDescriptor.PAYLOAD_RANGE_LEAST_OFFSET);
        long greatest = Memory.getLong(at + PlanDescriptor.PAYLOAD_RANGE_GREATEST_OFFSET);
        return least <= greatest ? new PayloadRange(least, greatest) : new PayloadRange(0, 0);
    }
}
