// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The distinct integers of a column in a row group that is written, numbered from 0, and the number
 * of each row's value.
 */
final class IntegerDictionary {

    /** Larger ones neither fit a cache nor shrink a row group much. */
    private static final int MAX_SIZE = 1 << 14;

    /** A dictionary pays if values repeat this often. */
    private static final int MIN_REPETITIONS = 4;

    private static final int SLOTS = 4 * MAX_SIZE;
    private static final int SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(SLOTS);

    /** Code + 1 of the value in each slot, or 0. */
    private final short[] codes = new short[SLOTS];

    private long[] values = new long[256];
    private int size;

    /** Codes of the values in the order of the rows, without those of rows with a null. */
    private short[] rowCodes = new short[1 << 12];

    private int rowCount;

    private IntegerDictionary() {}

    /** Returns the dictionary of a column, or null if it has too many distinct values. */
    static @Nullable IntegerDictionary of(RowGroupRows group, int column) {
        IntegerDictionary dictionary = new IntegerDictionary();
        int maxSize = Math.min(MAX_SIZE, group.rowCount() / MIN_REPETITIONS);
        for (RowGroupRows.Part part : group.parts()) {
            if (!part.isMissing(column) && !dictionary.add(part, column, maxSize)) {
                return null;
            }
        }
        return dictionary.size == 0 ? null : dictionary;
    }

    /** Returns false if there are too many values. */
    private boolean add(RowGroupRows.Part part, int column, int maxSize) {
        int index = part.columns()[column];
        PlainColumn source = new PlainColumn(index);
        source.bind(part.chunk());
        byte[] array = Objects.requireNonNull(source.base());
        int widthBytes = part.chunk().schema().column(index).type().widthBytes();
        int rows = part.chunk().rowCount();
        if (rowCodes.length - rowCount < rows) {
            rowCodes = Arrays.copyOf(rowCodes, Math.max(rowCount + rows, 2 * rowCodes.length));
        }
        for (int row = 0; row < rows; row++) {
            long value = read(array, source.start() + (long) widthBytes * row, widthBytes);
            int slot = slot(value);
            if (codes[slot] == 0) {
                if (size == maxSize) {
                    return false;
                }
                if (size == values.length) {
                    values = Arrays.copyOf(values, 2 * size);
                }
                values[size++] = value;
                codes[slot] = (short) size;
            }
            rowCodes[rowCount++] = (short) (codes[slot] - 1);
        }
        return true;
    }

    private static long read(byte[] array, long at, int widthBytes) {
        return widthBytes == Long.BYTES
                ? Memory.getLong(array, at)
                : Memory.getInteger(array, at, widthBytes);
    }

    /** Returns the slot with a value, or the empty one for it. */
    private int slot(long value) {
        int slot = (int) (value * 0x9E3779B97F4A7C15L >>> SHIFT);
        while (codes[slot] != 0 && values[codes[slot] - 1] != value) {
            slot = slot + 1 & SLOTS - 1;
        }
        return slot;
    }

    int size() {
        return size;
    }

    long value(int code) {
        return values[code];
    }

    /** Returns the code of a row's value; rows with a null do not count. */
    int code(int row) {
        return rowCodes[row];
    }
}
