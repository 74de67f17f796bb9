// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Range of the values of a payload column. As a struct of the kernels it has the same name.
 *
 * @param least at most {@code greatest}, except in {@link #EMPTY}
 */
record PayloadRange(long least, long greatest) {

    /** Range of a column that may contain any value. */
    static final PayloadRange UNKNOWN = new PayloadRange(Long.MIN_VALUE, Long.MAX_VALUE);

    /** Contains no value; a union with it is the other range. */
    static final PayloadRange EMPTY = new PayloadRange(Long.MAX_VALUE, Long.MIN_VALUE);

    /** Returns the smallest range that also contains 0. */
    PayloadRange withZero() {
        return new PayloadRange(Math.min(least, 0), Math.max(greatest, 0));
    }

    /** Returns the smallest range that contains both. */
    PayloadRange union(PayloadRange other) {
        return new PayloadRange(Math.min(least, other.least), Math.max(greatest, other.greatest));
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

    /** Returns the range itself, or if it is empty the range that contains only 0. */
    PayloadRange orZero() {
        return least <= greatest ? this : new PayloadRange(0, 0);
    }

    /** Writes an element of an array. */
    void write(long array, int index) {
        long at = array + (long) index * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        Memory.putLong(at + PlanDescriptor.PAYLOAD_RANGE_LEAST_OFFSET, least);
        Memory.putLong(at + PlanDescriptor.PAYLOAD_RANGE_GREATEST_OFFSET, greatest);
    }

    /** Reads an element of an array. */
    static PayloadRange read(long array, int index) {
        long at = array + (long) index * PlanDescriptor.PAYLOAD_RANGE_BYTES;
        return new PayloadRange(
                Memory.getLong(at + PlanDescriptor.PAYLOAD_RANGE_LEAST_OFFSET),
                Memory.getLong(at + PlanDescriptor.PAYLOAD_RANGE_GREATEST_OFFSET));
    }
}
