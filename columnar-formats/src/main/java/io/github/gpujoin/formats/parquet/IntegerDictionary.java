// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.Objects;
import org.apache.parquet.bytes.BytesUtils;
import org.jspecify.annotations.Nullable;

/**
 * The distinct integers of a column in a row group that is written, numbered from 0 in the order of
 * their first rows, and the number of each row's value. Not thread-safe.
 */
final class IntegerDictionary {

    /** Codes have 16 bits, and a slot holds a code + 1. */
    private static final int MAX_SIZE = (1 << 16) - 1;

    /** A dictionary pays if values repeat this often. */
    private static final int MIN_REPETITIONS = 4;

    private static final int FIRST_CAPACITY = 1 << 10;

    /** Slots for each value that fits, at least. */
    private static final int SLOTS_PER_VALUE = 2;

    private final RowGroupRows group;
    private final int column;
    private long[] values;
    private int size;

    /** Code + 1 of the value in each slot, or 0. */
    private char[] slots;

    private int slotShift;

    /** By row, without rows that have a null. */
    private RowCodes codes;

    /**
     * @param capacity distinct values before the dictionary grows, a power of two
     */
    private IntegerDictionary(RowGroupRows group, int column, int capacity, RowCodes codes) {
        this.group = group;
        this.column = column;
        this.codes = codes;
        this.values = new long[capacity];
        this.slots = new char[SLOTS_PER_VALUE * capacity];
        this.slotShift = slotShift(slots);
    }

    /** Returns the dictionary of a column, or null if it has too many distinct values. */
    static @Nullable IntegerDictionary of(RowGroupRows group, int column) {
        IntegerDictionary dictionary =
                new IntegerDictionary(
                        group, column, FIRST_CAPACITY, new RowCodes(group.rowCount()));
        int maxSize = Math.min(MAX_SIZE, group.rowCount() / MIN_REPETITIONS);
        for (RowGroupRows.Part part : group.parts()) {
            if (!part.isMissing(column) && !dictionary.add(new Values(part, column), maxSize)) {
                return null;
            }
        }
        return dictionary.size == 0 ? null : dictionary;
    }

    /** The values of a column in a part. */
    private static final class Values {

        private final byte[] array;
        private final long start;
        private final int widthBytes;
        private final int count;

        Values(RowGroupRows.Part part, int column) {
            int index = part.columns()[column];
            PlainColumn plain = new PlainColumn(index);
            plain.bind(part.chunk());
            this.array = Objects.requireNonNull(plain.base());
            this.start = plain.start();
            this.widthBytes = part.chunk().schema().column(index).type().widthBytes();
            this.count = part.chunk().rowCount();
        }

        long get(int row) {
            return widthBytes == Long.BYTES
                    ? Memory.getLong(array, start + 8L * row)
                    : Memory.getInteger(array, start + (long) widthBytes * row, widthBytes);
        }
    }

    /** Returns false if there are too many values. */
    private boolean add(Values added, int maxSize) {
        for (int row = 0; row < added.count; row++) {
            int code = codeOf(added.get(row), maxSize);
            if (code < 0) {
                return false;
            }
            codes.add(code);
        }
        return true;
    }

    /** Returns the code of a value, which is new if necessary, or -1 if there are too many. */
    private int codeOf(long value, int maxSize) {
        int slot = slot(value);
        if (slots[slot] > 0) {
            return slots[slot] - 1;
        }
        if (size == maxSize) {
            return -1;
        }
        if (size == values.length) {
            grow();
            slot = slot(value);
        }
        values[size++] = value;
        slots[slot] = (char) size;
        return size - 1;
    }

    private void grow() {
        values = Arrays.copyOf(values, 2 * size);
        slots = new char[2 * slots.length];
        slotShift = slotShift(slots);
        for (int code = 0; code < size; code++) {
            slots[slot(values[code])] = (char) (code + 1);
        }
    }

    private static int slotShift(char[] slots) {
        return Long.SIZE - Integer.numberOfTrailingZeros(slots.length);
    }

    /** Returns the slot with a value, or the empty one for it. */
    private int slot(long value) {
        int slot = (int) (value * 0x9E3779B97F4A7C15L >>> slotShift);
        while (slots[slot] > 0 && values[slots[slot] - 1] != value) {
            slot = slot + 1 & slots.length - 1;
        }
        return slot;
    }

    // ------------------------------------------------------------------ dependent columns

    /**
     * Returns the dictionary of another column if rows with equal values in this column have equal
     * values there, as in a join with unique keys. It costs a comparison for each row instead of a
     * search. Returns null otherwise.
     *
     * @param isSharing whether pages of both columns have the same levels if they have the same
     *     codes
     */
    @Nullable IntegerDictionary dependent(int other, boolean isSharing) {
        long[] otherValues = valuesByCode(other);
        if (otherValues == null) {
            return null;
        }
        IntegerDictionary dictionary = new IntegerDictionary(group, other, values.length, codes);
        char[] otherCodes = new char[size];
        for (int code = 0; code < size; code++) {
            otherCodes[code] = (char) dictionary.codeOf(otherValues[code], MAX_SIZE);
        }
        if (dictionary.size < size || !isSharing) {
            dictionary.codes = codes.mapped(otherCodes);
        }
        return dictionary;
    }

    /** Returns the value of another column for each code, or null if some code has several. */
    private long @Nullable [] valuesByCode(int other) {
        long[] found = new long[size];
        int known = 0;
        int next = 0;
        for (RowGroupRows.Part part : group.parts()) {
            if (part.isMissing(other) != part.isMissing(column)) {
                return null;
            }
            if (part.isMissing(other)) {
                continue;
            }
            Values added = new Values(part, other);
            for (int row = 0; row < added.count; row++) {
                long value = added.get(row);
                int code = codes.get(next++);
                if (code == known) {
                    found[known++] = value;
                } else if (found[code] != value) {
                    return null;
                }
            }
        }
        return found;
    }

    // ------------------------------------------------------------------ result

    int size() {
        return size;
    }

    /** Returns the bits of a code. */
    int bits() {
        return BytesUtils.getWidthFromMaxInt(size - 1);
    }

    long value(int code) {
        return values[code];
    }

    RowCodes codes() {
        return codes;
    }
}
