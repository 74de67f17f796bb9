// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import java.util.Arrays;

/**
 * Distinct values of a column, in the order of their first rows, and the code of each row. Reused
 * from column to column. Not thread-safe.
 */
final class Dictionary {

    private static final long SPREAD = 0x9E3779B97F4A7C15L;
    private static final int MIN_SLOTS = 64;

    /** Codes plus one, by the hash of the value; 0 is free. */
    private int[] slots = new int[MIN_SLOTS];

    private long[] values = new long[MIN_SLOTS / 2];
    private int size;

    /**
     * Collects the distinct values of a column.
     *
     * @param codes receives the code of each row
     * @param maxSize most values to collect
     * @return false if the column has more values; the dictionary is then of no use
     */
    boolean build(long[] column, int rowCount, int maxSize, long[] codes) {
        Arrays.fill(slots, 0);
        size = 0;
        int code = -1;
        for (int row = 0; row < rowCount; row++) {
            long value = column[row];
            if (code < 0 || values[code] != value) {
                code = codeOf(value);
                if (code >= maxSize) {
                    return false;
                }
            }
            codes[row] = code;
        }
        return true;
    }

    private int codeOf(long value) {
        int mask = slots.length - 1;
        int slot = slotOf(value, mask);
        while (slots[slot] != 0) {
            int code = slots[slot] - 1;
            if (values[code] == value) {
                return code;
            }
            slot = slot + 1 & mask;
        }
        if (size == values.length) {
            grow();
            return codeOf(value);
        }
        values[size] = value;
        slots[slot] = ++size;
        return size - 1;
    }

    private void grow() {
        values = Arrays.copyOf(values, 2 * values.length);
        slots = new int[2 * values.length];
        int mask = slots.length - 1;
        for (int code = 0; code < size; code++) {
            int slot = slotOf(values[code], mask);
            while (slots[slot] != 0) {
                slot = slot + 1 & mask;
            }
            slots[slot] = code + 1;
        }
    }

    private static int slotOf(long value, int mask) {
        return (int) (value * SPREAD >>> 32) & mask;
    }

    int size() {
        return size;
    }

    /**
     * Returns the values by code; the first {@link #size} elements are valid until the next build.
     */
    long[] values() {
        return values;
    }
}
