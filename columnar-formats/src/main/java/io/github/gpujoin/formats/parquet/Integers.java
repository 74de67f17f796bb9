// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.region.Memory;
import java.util.concurrent.TimeUnit;
import org.apache.parquet.io.ParquetDecodingException;

/** Integers of Parquet's byte sequences. */
final class Integers {

    private static final int JULIAN_EPOCH_DAY = 2_440_588;
    private static final long NANOS_A_DAY = TimeUnit.DAYS.toNanos(1);
    private static final int INT96_BYTES = 12;

    private Integers() {}

    /** Returns a two's complement number, highest byte first, as decimals are. */
    static long ofDecimal(byte[] bytes, int start, int length) {
        if (length < 1) {
            throw new ParquetDecodingException("Decimal has no bytes: length=" + length);
        }
        int extra = Math.max(0, length - Long.BYTES);
        long value = bytes[start + extra];
        for (int i = 0; i < extra; i++) {
            if (bytes[start + i] != value >> Long.SIZE - 1) {
                throw new ParquetDecodingException(
                        "Decimal exceeds 18 digits: lengthBytes=" + length);
            }
        }
        for (int i = start + extra + 1; i < start + length; i++) {
            value = value << 8 | bytes[i] & 0xFF;
        }
        return value;
    }

    /** Returns the nanoseconds since 1970 of a timestamp of 96 bits: nanoseconds and Julian day. */
    static long ofTimestamp(byte[] bytes, int start, int length) {
        if (length != INT96_BYTES) {
            throw new ParquetDecodingException("Timestamp has not 12 bytes: length=" + length);
        }
        long nanos = Memory.getLong(bytes, Memory.BYTES + start);
        long day =
                Memory.getInt(bytes, Memory.BYTES + start + Long.BYTES) - (long) JULIAN_EPOCH_DAY;
        try {
            return Math.addExact(Math.multiplyExact(day, NANOS_A_DAY), nanos);
        } catch (ArithmeticException e) {
            throw new ParquetDecodingException(
                    "Timestamp is outside the years 1678 to 2262: day=" + day, e);
        }
    }
}
