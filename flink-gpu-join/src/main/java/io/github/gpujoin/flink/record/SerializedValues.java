// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.region.Memory;
import java.time.LocalDate;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes values as Flink's serializers do, without an object for them. Integers are
 * big-endian:
 *
 * <pre>
 *   LocalDate      year, 4 bytes | month, 1 | day, 1
 *   LocalTime      hour, 1 | minute, 1 | second, 1 | nanoseconds, 4
 *   LocalDateTime  LocalDate | LocalTime
 *   Instant        seconds since 1970, 8 | nanoseconds, 4
 *   BigDecimal     4 + number of bytes, 4 | unscaled value, two's complement | scale, 4
 *                  1, 2 or 3 for an unscaled value of 0, 1 or 10, 4 | scale, 4
 * </pre>
 *
 * <p>Bases and addresses are those of {@link Memory}.
 */
public final class SerializedValues {

    /** Longest value that is written. */
    static final int MAX_BYTES = 2 * Integer.BYTES + Long.BYTES;

    private static final int DATE_BYTES = 6;
    private static final int TIME_BYTES = 7;
    private static final int MAX_LONG_DIGITS = 18;
    private static final long[] POWERS_OF_TEN = new long[MAX_LONG_DIGITS + 1];

    static {
        POWERS_OF_TEN[0] = 1;
        for (int i = 1; i < POWERS_OF_TEN.length; i++) {
            POWERS_OF_TEN[i] = 10 * POWERS_OF_TEN[i - 1];
        }
    }

    private SerializedValues() {}

    /** Days since 1970 of a LocalDate, or of the LocalDate of a LocalDateTime. */
    public static long epochDay(byte @Nullable [] base, long at) {
        int year = getInt(base, at);
        int month = Memory.getByte(base, at + 4);
        return LocalDate.of(year, month, Memory.getByte(base, at + 5)).toEpochDay();
    }

    /** Nanoseconds since midnight of a LocalTime. */
    public static long nanoOfDay(byte @Nullable [] base, long at) {
        int minutes = 60 * Memory.getByte(base, at) + Memory.getByte(base, at + 1);
        int seconds = 60 * minutes + Memory.getByte(base, at + 2);
        return TimeUnit.SECONDS.toNanos(seconds) + getInt(base, at + 3);
    }

    /** Nanoseconds since midnight of a LocalDateTime. */
    public static long nanoOfDayOfDateTime(byte @Nullable [] base, long at) {
        return nanoOfDay(base, at + DATE_BYTES);
    }

    /** Seconds since 1970 of an Instant, rounded down. */
    public static long epochSecond(byte @Nullable [] base, long at) {
        return Long.reverseBytes(Memory.getLong(base, at));
    }

    /** Nanoseconds of the second of an Instant. */
    public static int nanoOfSecond(byte @Nullable [] base, long at) {
        return getInt(base, at + Long.BYTES);
    }

    /**
     * Returns the unscaled value of a BigDecimal.
     *
     * @param precision at most 18 digits
     * @param scale of the returned value
     * @return {@link Long#MIN_VALUE} if the value has other digits than these
     */
    public static long unscaled(byte @Nullable [] base, long at, int precision, int scale) {
        int code = getInt(base, at);
        int lengthBytes = Math.max(0, code - 4);
        if (lengthBytes > Long.BYTES) {
            return Long.MIN_VALUE;
        }
        long value = code < 4 ? smallest(code) : Memory.getByte(base, at + 4);
        for (int i = 1; i < lengthBytes; i++) {
            value = value << Byte.SIZE | Memory.getByte(base, at + 4 + i) & 0xFF;
        }
        int ownScale = getInt(base, at + 4 + lengthBytes);
        return rescaled(value, (long) scale - ownScale, POWERS_OF_TEN[precision]);
    }

    private static long smallest(int code) {
        return code == 3 ? 10 : code - 1;
    }

    /**
     * Appends or removes zeros.
     *
     * @param limit of the absolute value, exclusive
     */
    private static long rescaled(long value, long zeros, long limit) {
        if (Math.abs(zeros) > MAX_LONG_DIGITS) {
            return Long.MIN_VALUE;
        }
        long power = POWERS_OF_TEN[(int) Math.abs(zeros)];
        if (zeros < 0) {
            boolean isExact = value % power == 0;
            return isExact ? within(value / power, limit) : Long.MIN_VALUE;
        }
        long product = value * power;
        return Math.multiplyHigh(value, power) == product >> (Long.SIZE - 1)
                ? within(product, limit)
                : Long.MIN_VALUE;
    }

    private static long within(long value, long limit) {
        return value > -limit && value < limit ? value : Long.MIN_VALUE;
    }

    /**
     * Writes a LocalDate.
     *
     * @return its number of bytes, as all methods that write
     */
    static int writeDate(byte[] to, long epochDay) {
        LocalDate date = LocalDate.ofEpochDay(epochDay);
        putInt(to, 0, date.getYear());
        to[4] = (byte) date.getMonthValue();
        to[5] = (byte) date.getDayOfMonth();
        return DATE_BYTES;
    }

    /**
     * Writes a LocalTime.
     *
     * @param nanoOfDay within the day, which the caller checks
     */
    static int writeTime(byte[] to, long nanoOfDay) {
        return putTime(to, 0, nanoOfDay);
    }

    /** Writes a LocalDateTime. */
    static int writeDateTime(byte[] to, long epochDay, long nanoOfDay) {
        return putTime(to, writeDate(to, epochDay), nanoOfDay);
    }

    /** Writes an Instant. */
    static int writeInstant(byte[] to, long epochSecond, int nanoOfSecond) {
        Memory.putLong(to, Memory.BYTES, Long.reverseBytes(epochSecond));
        putInt(to, Long.BYTES, nanoOfSecond);
        return Long.BYTES + Integer.BYTES;
    }

    /** Writes a BigDecimal. */
    static int writeDecimal(byte[] to, long unscaled, int scale) {
        int at = Integer.BYTES;
        if (unscaled == 0 || unscaled == 1 || unscaled == 10) {
            putInt(to, 0, unscaled == 10 ? 3 : (int) unscaled + 1);
        } else {
            int bits = Long.SIZE - Long.numberOfLeadingZeros(unscaled < 0 ? ~unscaled : unscaled);
            int lengthBytes = bits / Byte.SIZE + 1;
            putInt(to, 0, lengthBytes + 4);
            for (int i = lengthBytes - 1; i >= 0; i--) {
                to[at++] = (byte) (unscaled >> Byte.SIZE * i);
            }
        }
        putInt(to, at, scale);
        return at + Integer.BYTES;
    }

    private static int putTime(byte[] to, int at, long nanoOfDay) {
        int second = (int) TimeUnit.NANOSECONDS.toSeconds(nanoOfDay);
        to[at] = (byte) (second / 3600);
        to[at + 1] = (byte) (second / 60 % 60);
        to[at + 2] = (byte) (second % 60);
        putInt(to, at + 3, (int) (nanoOfDay - TimeUnit.SECONDS.toNanos(second)));
        return at + TIME_BYTES;
    }

    private static void putInt(byte[] to, int at, int value) {
        Memory.putInt(to, Memory.BYTES + at, Integer.reverseBytes(value));
    }

    private static int getInt(byte @Nullable [] base, long at) {
        return Integer.reverseBytes(Memory.getInt(base, at));
    }
}
