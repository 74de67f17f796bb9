// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.nio.charset.StandardCharsets;

/**
 * Parses floating-point numbers. A plain decimal whose digits and power of ten are exact in the
 * type needs one division, which rounds once (Clinger, "How to Read Floating Point Numbers
 * Accurately", PLDI 1990); Java parses all others.
 */
final class Decimals {

    private static final int MAX_LENGTH = 19;
    private static final long MAX_EXACT_DOUBLE = 1L << 53;
    private static final long MAX_EXACT_FLOAT = 1L << 24;

    private static final double[] POWERS = new double[23];
    private static final int MAX_FLOAT_POWER = 10;

    static {
        POWERS[0] = 1;
        for (int i = 1; i < POWERS.length; i++) {
            POWERS[i] = 10 * POWERS[i - 1];
        }
    }

    private Decimals() {}

    static double toDouble(byte[] bytes, int start, int end) throws MalformedFieldException {
        long digits = plainDigits(bytes, start, end);
        if (digits >= 0 && digits <= MAX_EXACT_DOUBLE) {
            double value = digits / POWERS[fractionDigits(bytes, start, end)];
            return bytes[start] == '-' ? -value : value;
        }
        try {
            return Double.parseDouble(text(bytes, start, end));
        } catch (NumberFormatException e) {
            throw MalformedFieldException.INSTANCE;
        }
    }

    static float toFloat(byte[] bytes, int start, int end) throws MalformedFieldException {
        long digits = plainDigits(bytes, start, end);
        if (digits >= 0 && digits <= MAX_EXACT_FLOAT) {
            int power = fractionDigits(bytes, start, end);
            if (power <= MAX_FLOAT_POWER) {
                float value = (float) digits / (float) POWERS[power];
                return bytes[start] == '-' ? -value : value;
            }
        }
        try {
            return Float.parseFloat(text(bytes, start, end));
        } catch (NumberFormatException e) {
            throw MalformedFieldException.INSTANCE;
        }
    }

    /** Returns the digits of a number without exponent as one integer, or -1. */
    private static long plainDigits(byte[] bytes, int start, int end) {
        int first = start < end && bytes[start] == '-' ? start + 1 : start;
        if (first == end || end - first > MAX_LENGTH) {
            return -1;
        }
        long digits = 0;
        int points = 0;
        for (int i = first; i < end; i++) {
            int digit = bytes[i] - '0';
            if (digit >= 0 && digit <= 9) {
                digits = 10 * digits + digit;
            } else if (bytes[i] != '.' || ++points > 1 || end - first == 1) {
                return -1;
            }
        }
        return digits;
    }

    private static int fractionDigits(byte[] bytes, int start, int end) {
        for (int i = start; i < end; i++) {
            if (bytes[i] == '.') {
                return end - i - 1;
            }
        }
        return 0;
    }

    /** Returns the text, if Java's syntax has nothing more than numbers have in files. */
    private static String text(byte[] bytes, int start, int end) throws MalformedFieldException {
        if (start == end
                || bytes[start] <= ' '
                || bytes[end - 1] <= ' '
                || Character.toLowerCase(bytes[end - 1]) == 'd'
                || Character.toLowerCase(bytes[end - 1]) == 'f') {
            throw MalformedFieldException.INSTANCE;
        }
        return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
    }
}
