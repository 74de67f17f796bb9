// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.csv;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import java.nio.charset.StandardCharsets;

/** Splits a line and reads the wanted fields. */
final class CsvDecoder implements RecordDecoder {

    private static final byte QUOTE = '"';

    /** Digits of an integer that cannot exceed 64 bits. */
    private static final int SAFE_DIGITS = 18;

    private final ChunkSchema schema;

    /** Index of the column of each field, or -1. */
    private final int[] columns;

    private final byte delimiter;

    CsvDecoder(ChunkSchema schema, int[] columns, byte delimiter) {
        this.schema = schema;
        this.columns = columns;
        this.delimiter = delimiter;
    }

    @Override
    public void decode(byte[] line, RowWriter row) throws BadRecordException {
        int end = endOf(line);
        int at = 0;
        for (int field = 0; field < columns.length; field++) {
            if (field > 0) {
                if (at == end) {
                    throw new BadRecordException(
                            "Line has too few fields: fields="
                                    + field
                                    + ", expected="
                                    + columns.length);
                }
                at++;
            }
            boolean isQuoted = at < end && line[at] == QUOTE;
            int fieldEnd = isQuoted ? closingQuote(line, at, end) + 1 : delimiter(line, at, end);
            if (columns[field] >= 0) {
                read(line, at, fieldEnd, columns[field], isQuoted, row);
            }
            at = fieldEnd;
            if (at < end && line[at] != delimiter) {
                throw new BadRecordException(
                        "Text follows a closing quote: position=" + at + ", field=" + field);
            }
        }
        if (at < end) {
            throw new BadRecordException(
                    "Line has too many fields: expected=" + columns.length + ", position=" + at);
        }
    }

    private static int endOf(byte[] line) {
        int end = line.length;
        if (end > 0 && line[end - 1] == '\n') {
            end--;
            if (end > 0 && line[end - 1] == '\r') {
                end--;
            }
        }
        return end;
    }

    private int delimiter(byte[] line, int from, int end) {
        int at = from;
        while (at < end && line[at] != delimiter) {
            at++;
        }
        return at;
    }

    private static int closingQuote(byte[] line, int from, int end) throws BadRecordException {
        for (int at = from + 1; at < end; at++) {
            if (line[at] == QUOTE) {
                if (at + 1 == end || line[at + 1] != QUOTE) {
                    return at;
                }
                at++;
            }
        }
        throw new BadRecordException("Quote is not closed: position=" + from);
    }

    private void read(byte[] line, int from, int to, int index, boolean isQuoted, RowWriter row)
            throws BadRecordException {
        Column column = schema.column(index);
        if (from == to && column.nullable()) {
            row.putNull(index);
            return;
        }
        byte[] bytes = line;
        int start = from;
        int length = to - from;
        if (isQuoted) {
            start++;
            length -= 2;
            if (hasQuote(line, start, length)) {
                bytes = unquoted(line, start, length);
                start = 0;
                length = bytes.length;
            }
        }
        if (column.type().isInteger()) {
            row.putLong(index, integer(bytes, start, length, column));
        } else if (column.type() == ColumnType.FLOAT32 || column.type() == ColumnType.FLOAT64) {
            row.putDouble(index, floating(bytes, start, length, column));
        } else {
            row.putBytes(index, bytes, start, length);
        }
    }

    private static boolean hasQuote(byte[] line, int start, int length) {
        for (int i = start; i < start + length; i++) {
            if (line[i] == QUOTE) {
                return true;
            }
        }
        return false;
    }

    /** Returns the field with one of each two quotes. */
    private static byte[] unquoted(byte[] line, int start, int length) {
        String field = new String(line, start, length, StandardCharsets.ISO_8859_1);
        return field.replace("\"\"", "\"").getBytes(StandardCharsets.ISO_8859_1);
    }

    private static long integer(byte[] bytes, int start, int length, Column column)
            throws BadRecordException {
        int at = start;
        int end = start + length;
        boolean isNegative = length > 1 && bytes[at] == '-';
        if (isNegative) {
            at++;
        }
        long value = 0;
        boolean isNumber = at < end && end - at <= SAFE_DIGITS;
        for (; isNumber && at < end; at++) {
            int digit = bytes[at] - '0';
            isNumber = digit >= 0 && digit <= 9;
            value = 10 * value + digit;
        }
        return isNumber ? isNegative ? -value : value : rareInteger(bytes, start, length, column);
    }

    private static long rareInteger(byte[] bytes, int start, int length, Column column)
            throws BadRecordException {
        String text = new String(bytes, start, length, StandardCharsets.ISO_8859_1);
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true") ? 1 : 0;
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw noNumber(text, column, e);
        }
    }

    private static double floating(byte[] bytes, int start, int length, Column column)
            throws BadRecordException {
        String text = new String(bytes, start, length, StandardCharsets.ISO_8859_1);
        try {
            return column.type() == ColumnType.FLOAT32
                    ? Float.parseFloat(text)
                    : Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw noNumber(text, column, e);
        }
    }

    private static BadRecordException noNumber(
            String text, Column column, NumberFormatException cause) {
        return new BadRecordException(
                "Field is no number of its column: column=" + column + ", field=" + text, cause);
    }
}
