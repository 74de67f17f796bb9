// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Parses fields that have a fixed-width type. Nothing is allocated for usual values. */
final class FieldParser {

    private static final int MAX_DECIMAL_DIGITS = 18;
    private static final int MICRO_DIGITS = 6;

    private static final long[] POWERS = new long[MAX_DECIMAL_DIGITS + 1];

    static {
        POWERS[0] = 1;
        for (int i = 1; i < POWERS.length; i++) {
            POWERS[i] = 10 * POWERS[i - 1];
        }
    }

    private FieldParser() {}

    /**
     * Parses the field in {@code [start, end)}, which eight readable bytes must follow.
     *
     * @return the value as an integer, or the bits of a float
     */
    static long parse(TextType type, int scale, byte[] bytes, int start, int end)
            throws MalformedFieldException {
        return switch (type) {
            case INT64 -> integer(bytes, start, end);
            case INT32, INT16, INT8 ->
                    narrow(integer(bytes, start, end), type.columnType().widthBytes());
            case DECIMAL -> decimal(bytes, start, end, scale);
            case DATE -> date(bytes, start, end);
            case TIMESTAMP -> timestamp(bytes, start, end);
            case BOOLEAN -> flag(bytes, start, end);
            case FLOAT64 -> Double.doubleToRawLongBits(Decimals.toDouble(bytes, start, end));
            case FLOAT32 -> Float.floatToRawIntBits(Decimals.toFloat(bytes, start, end));
            case TEXT -> throw new IllegalArgumentException("Text has no fixed width.");
        };
    }

    private static long narrow(long value, int widthBytes) throws MalformedFieldException {
        int unused = Long.SIZE - Byte.SIZE * widthBytes;
        if (value << unused >> unused != value) {
            throw MalformedFieldException.INSTANCE;
        }
        return value;
    }

    static long integer(byte[] bytes, int start, int end) throws MalformedFieldException {
        int length = end - start;
        if (length > 0 && length <= 8) {
            long digits = Swar.digits(bytes, start, length);
            if (Swar.areDigits(digits)) {
                return Swar.number(digits);
            }
        } else if (length > 8 && length <= 16) {
            long high = Swar.digits(bytes, start, length - 8);
            long low = Swar.digits(bytes, end - 8, 8);
            if (Swar.areDigits(high) && Swar.areDigits(low)) {
                return 100_000_000L * Swar.number(high) + Swar.number(low);
            }
        }
        return signedInteger(bytes, start, end);
    }

    /** Parses digit by digit; negative, since the least long has no positive one. */
    private static long signedInteger(byte[] bytes, int start, int end)
            throws MalformedFieldException {
        boolean isNegative = start < end && bytes[start] == '-';
        int first = isNegative ? start + 1 : start;
        if (first == end) {
            throw MalformedFieldException.INSTANCE;
        }
        long negated = 0;
        for (int i = first; i < end; i++) {
            int digit = bytes[i] - '0';
            boolean overflows = i - first >= 18 && negated < (Long.MIN_VALUE + digit) / 10;
            if (digit < 0 || digit > 9 || overflows) {
                throw MalformedFieldException.INSTANCE;
            }
            negated = 10 * negated - digit;
        }
        if (!isNegative && negated == Long.MIN_VALUE) {
            throw MalformedFieldException.INSTANCE;
        }
        return isNegative ? negated : -negated;
    }

    private static long unsigned(byte[] bytes, int start, int end) throws MalformedFieldException {
        if (end - start > 8) {
            throw MalformedFieldException.INSTANCE;
        }
        long digits = end > start ? Swar.digits(bytes, start, end - start) : -1;
        if (!Swar.areDigits(digits)) {
            throw MalformedFieldException.INSTANCE;
        }
        return Swar.number(digits);
    }

    private static long decimal(byte[] bytes, int start, int end, int scale)
            throws MalformedFieldException {
        int point = start;
        while (point < end && bytes[point] != '.') {
            point++;
        }
        boolean isNegative = start < end && bytes[start] == '-';
        int digits = point - start - (isNegative ? 1 : 0);
        int fractionDigits = Math.max(0, end - point - 1);
        if (digits > MAX_DECIMAL_DIGITS - scale || fractionDigits > scale) {
            throw MalformedFieldException.INSTANCE;
        }
        long value = POWERS[scale] * integer(bytes, start, point);
        long fraction = 0;
        if (fractionDigits > 0) {
            if (bytes[point + 1] == '-') {
                throw MalformedFieldException.INSTANCE;
            }
            fraction = POWERS[scale - fractionDigits] * integer(bytes, point + 1, end);
        }
        return isNegative ? value - fraction : value + fraction;
    }

    private static int date(byte[] bytes, int start, int end) throws MalformedFieldException {
        if (end - start != 10 || bytes[start + 4] != '-' || bytes[start + 7] != '-') {
            throw MalformedFieldException.INSTANCE;
        }
        int year = (int) unsigned(bytes, start, start + 4);
        int month = (int) unsigned(bytes, start + 5, start + 7);
        int day = (int) unsigned(bytes, start + 8, start + 10);
        if (month < 1 || month > 12 || day < 1 || day > daysOf(month, year)) {
            throw MalformedFieldException.INSTANCE;
        }
        return epochDay(year, month, day);
    }

    private static int daysOf(int month, int year) {
        if (month == 2) {
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        }
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /** Counts days of years that begin in March, so that a leap day is the last of its year. */
    private static int epochDay(int year, int month, int day) {
        int years = month > 2 ? year : year - 1;
        int months = month > 2 ? month - 3 : month + 9;
        int leapDays =
                Math.floorDiv(years, 4) - Math.floorDiv(years, 100) + Math.floorDiv(years, 400);
        return 365 * years + leapDays + (153 * months + 2) / 5 + day - 1 - 719_468;
    }

    private static long timestamp(byte[] bytes, int start, int end) throws MalformedFieldException {
        if (end - start < 19
                || bytes[start + 10] != ' ' && bytes[start + 10] != 'T'
                || bytes[start + 13] != ':'
                || bytes[start + 16] != ':') {
            throw MalformedFieldException.INSTANCE;
        }
        long hour = unsigned(bytes, start + 11, start + 13);
        long minute = unsigned(bytes, start + 14, start + 16);
        long second = unsigned(bytes, start + 17, start + 19);
        if (hour > 23 || minute > 59 || second > 59) {
            throw MalformedFieldException.INSTANCE;
        }
        long micros = 0;
        if (end - start > 19) {
            int digits = end - start - 20;
            if (bytes[start + 19] != '.' || digits > MICRO_DIGITS) {
                throw MalformedFieldException.INSTANCE;
            }
            micros = POWERS[MICRO_DIGITS - digits] * unsigned(bytes, start + 20, end);
        }
        long days = date(bytes, start, start + 10);
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros;
    }

    private static int flag(byte[] bytes, int start, int end) throws MalformedFieldException {
        int length = end - start;
        if (length == 1 && (bytes[start] == '0' || bytes[start] == '1')) {
            return bytes[start] - '0';
        }
        if (length == 4 || length == 5) {
            String text = new String(bytes, start, length, StandardCharsets.ISO_8859_1);
            switch (text.toLowerCase(Locale.ROOT)) {
                case "true":
                    return 1;
                case "false":
                    return 0;
                default:
                    break;
            }
        }
        throw MalformedFieldException.INSTANCE;
    }
}
