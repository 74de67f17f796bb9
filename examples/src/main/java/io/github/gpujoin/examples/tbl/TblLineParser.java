// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.nio.charset.StandardCharsets;

/**
 * Parses lines of a {@code .tbl} file straight from bytes into a {@link ChunkBuilder}, touching
 * only the projected columns. Lines end with LF or CRLF and may have a bar after the last field.
 * Not thread-safe.
 */
final class TblLineParser {

    /** The line breaks the format; the message tells what was expected. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message, null, false, false);
        }
    }

    private static final int SKIPPED = -1;
    private static final int LONGEST_EXCERPT = 60;

    private final TblTable table;
    private final TblColumn[] columns;
    private final TblType[] types;
    private final boolean[] nullable;
    private final int[] targets;
    private final ChunkBuilder target;

    TblLineParser(TblTable table, ChunkBuilder target) {
        ChunkSchema schema = target.schema();
        this.table = table;
        this.target = target;
        this.columns = table.columns().toArray(TblColumn[]::new);
        this.types = new TblType[columns.length];
        this.nullable = new boolean[columns.length];
        this.targets = new int[columns.length];
        for (int i = 0; i < columns.length; i++) {
            types[i] = columns[i].type();
            nullable[i] = columns[i].nullable();
            int index = schema.indexOf(columns[i].name());
            targets[i] = index < 0 ? SKIPPED : index;
        }
    }

    /**
     * Adds the line that begins at {@code start} as a row.
     *
     * @param bytes hold a line feed at or after {@code start}
     * @return where the next line begins
     */
    int parse(byte[] bytes, int start) throws Malformed {
        int at = start;
        for (int column = 0; column < types.length; column++) {
            int end = at;
            byte separator;
            while ((separator = bytes[end]) != '|' && separator != '\n') {
                end++;
            }
            boolean endOfLine = separator == '\n';
            if (endOfLine && column < types.length - 1) {
                throw wrongCount(column + 1);
            }
            if (targets[column] != SKIPPED) {
                boolean carriageReturn = endOfLine && end > at && bytes[end - 1] == '\r';
                put(column, bytes, at, carriageReturn ? end - 1 : end);
            }
            at = end + 1;
            if (endOfLine) {
                target.endRow();
                return at;
            }
        }
        if (bytes[at] == '\r' && bytes[at + 1] == '\n') {
            at++;
        }
        if (bytes[at] != '\n') {
            throw new Malformed(
                    "expected the end of the line after "
                            + types.length
                            + " columns of table "
                            + table.name());
        }
        target.endRow();
        return at + 1;
    }

    private void put(int column, byte[] bytes, int start, int end) throws Malformed {
        if (nullable[column]) {
            putNullable(column, bytes, start, end);
            return;
        }
        int index = targets[column];
        switch (types[column]) {
            case INT32 -> target.putInt(index, integer32(column, bytes, start, end));
            case INT64 -> target.putLong(index, integer(column, bytes, start, end));
            case HUNDREDTHS -> target.putLong(index, hundredths(column, bytes, start, end));
            case DATE -> target.putInt(index, date(column, bytes, start, end));
            case TEXT -> target.addBytes(bytes, start, end - start);
        }
    }

    private void putNullable(int column, byte[] bytes, int start, int end) throws Malformed {
        if (start == end) {
            target.addNull();
            return;
        }
        switch (types[column]) {
            case INT32 -> target.addInt(integer32(column, bytes, start, end));
            case INT64 -> target.addLong(integer(column, bytes, start, end));
            case HUNDREDTHS -> target.addLong(hundredths(column, bytes, start, end));
            case DATE -> target.addInt(date(column, bytes, start, end));
            case TEXT -> target.addBytes(bytes, start, end - start);
        }
    }

    private int integer32(int column, byte[] bytes, int start, int end) throws Malformed {
        long value = integer(column, bytes, start, end);
        if (value != (int) value) {
            throw malformed(column, bytes, start, end);
        }
        return (int) value;
    }

    private long integer(int column, byte[] bytes, int start, int end) throws Malformed {
        boolean negative = start < end && bytes[start] == '-';
        int first = negative ? start + 1 : start;
        if (first == end) {
            throw malformed(column, bytes, start, end);
        }
        long negated = 0;
        for (int i = first; i < end; i++) {
            int digit = bytes[i] - '0';
            boolean overflow = i - first >= 18 && negated < (Long.MIN_VALUE + digit) / 10;
            if (digit < 0 || digit > 9 || overflow) {
                throw malformed(column, bytes, start, end);
            }
            negated = 10 * negated - digit;
        }
        if (!negative && negated == Long.MIN_VALUE) {
            throw malformed(column, bytes, start, end);
        }
        return negative ? negated : -negated;
    }

    private long hundredths(int column, byte[] bytes, int start, int end) throws Malformed {
        int point = start;
        while (point < end && bytes[point] != '.') {
            point++;
        }
        int fractionDigits = Math.max(0, end - point - 1);
        boolean negative = start < end && bytes[start] == '-';
        if (fractionDigits > 2 || point == start || point - start > 16) {
            throw malformed(column, bytes, start, end);
        }
        long value = 100 * integer(column, bytes, start, point);
        int unit = 10;
        for (int i = point + 1; i < end; i++, unit /= 10) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                throw malformed(column, bytes, start, end);
            }
            value += negative ? -digit * unit : digit * unit;
        }
        return value;
    }

    private int date(int column, byte[] bytes, int start, int end) throws Malformed {
        if (end - start != 10 || bytes[start + 4] != '-' || bytes[start + 7] != '-') {
            throw malformed(column, bytes, start, end);
        }
        int year = 0;
        int month = 0;
        int day = 0;
        for (int i = 0; i < 10; i++) {
            int digit = bytes[start + i] - '0';
            if (i == 4 || i == 7) {
                continue;
            }
            if (digit < 0 || digit > 9) {
                throw malformed(column, bytes, start, end);
            }
            if (i < 4) {
                year = 10 * year + digit;
            } else if (i < 7) {
                month = 10 * month + digit;
            } else {
                day = 10 * day + digit;
            }
        }
        if (month < 1 || month > 12 || day < 1 || day > 31) {
            throw malformed(column, bytes, start, end);
        }
        return 10_000 * year + 100 * month + day;
    }

    private Malformed wrongCount(int found) {
        return new Malformed(
                "expected "
                        + types.length
                        + " columns of table "
                        + table.name()
                        + ", found "
                        + found);
    }

    private Malformed malformed(int column, byte[] bytes, int start, int end) {
        int shown = Math.min(end - start, LONGEST_EXCERPT);
        return new Malformed(
                "column="
                        + columns[column].name()
                        + ", expected "
                        + types[column].expectation()
                        + ", found '"
                        + new String(bytes, start, shown, StandardCharsets.UTF_8)
                        + (shown < end - start ? "...'" : "'"));
    }
}
