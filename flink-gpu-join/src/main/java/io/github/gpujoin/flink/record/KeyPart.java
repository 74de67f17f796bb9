// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * A type of values in join keys. Two values have the same bits, or write the same bytes, if and
 * only if they are equal as keys (docs/semantics.md).
 */
enum KeyPart {
    BOOLEAN(1) {
        @Override
        long bits(Object value) {
            return (Boolean) value ? 1 : 0;
        }
    },
    CHAR(16) {
        @Override
        long bits(Object value) {
            return (Character) value;
        }
    },
    BYTE(8),
    SHORT(16),
    INT(32),
    LONG(64),
    FLOAT(32) {
        @Override
        long bits(Object value) {
            // Adding zero turns -0.0 into 0.0; floatToIntBits returns one pattern for every NaN.
            return Float.floatToIntBits((Float) value + 0.0f);
        }
    },
    DOUBLE(64) {
        @Override
        long bits(Object value) {
            return Double.doubleToLongBits((Double) value + 0.0);
        }
    },
    /** Days since the epoch, over the whole range of LocalDate. */
    DATE(40) {
        @Override
        long bits(Object value) {
            return ((LocalDate) value).toEpochDay();
        }
    },
    /** Nanoseconds of the day. */
    TIME(47) {
        @Override
        long bits(Object value) {
            return ((LocalTime) value).toNanoOfDay();
        }
    },
    /** {@code java.util.Date}, {@code java.sql.Date} and {@code java.sql.Time}: milliseconds. */
    MILLISECONDS(64) {
        @Override
        long bits(Object value) {
            return ((Date) value).getTime();
        }
    },
    INSTANT {
        @Override
        void write(Object value, KeyBytes out) {
            writeInstant(((Instant) value).getEpochSecond(), ((Instant) value).getNano(), out);
        }
    },
    LOCAL_DATE_TIME {
        @Override
        void write(Object value, KeyBytes out) {
            LocalDateTime time = (LocalDateTime) value;
            writeInstant(time.toEpochSecond(ZoneOffset.UTC), time.getNano(), out);
        }
    },
    SQL_TIMESTAMP {
        @Override
        void write(Object value, KeyBytes out) {
            Timestamp time = (Timestamp) value;
            writeInstant(Math.floorDiv(time.getTime(), 1000L), time.getNanos(), out);
        }
    },
    /** By value: 1.0 equals 1.00. */
    DECIMAL {
        @Override
        void write(Object value, KeyBytes out) {
            BigDecimal shortest = ((BigDecimal) value).stripTrailingZeros();
            out.writeInt(shortest.scale());
            writeBytes(shortest.unscaledValue().toByteArray(), out);
        }
    },
    BIG_INTEGER {
        @Override
        void write(Object value, KeyBytes out) {
            writeBytes(((BigInteger) value).toByteArray(), out);
        }
    },
    /** By UTF-16 code unit, so that invalid UTF-16 is also distinguished. */
    STRING {
        @Override
        void write(Object value, KeyBytes out) {
            if (value instanceof String text) {
                out.writeText(text);
            } else {
                RowDataFields.writeText(value, out);
            }
        }
    },
    BYTES {
        @Override
        void write(Object value, KeyBytes out) {
            writeBytes((byte[]) value, out);
        }
    };

    private static final Map<Class<?>, KeyPart> BY_CLASS =
            Map.ofEntries(
                    Map.entry(Boolean.class, BOOLEAN),
                    Map.entry(Character.class, CHAR),
                    Map.entry(Byte.class, BYTE),
                    Map.entry(Short.class, SHORT),
                    Map.entry(Integer.class, INT),
                    Map.entry(Long.class, LONG),
                    Map.entry(Float.class, FLOAT),
                    Map.entry(Double.class, DOUBLE),
                    Map.entry(LocalDate.class, DATE),
                    Map.entry(LocalTime.class, TIME),
                    Map.entry(Date.class, MILLISECONDS),
                    Map.entry(java.sql.Date.class, MILLISECONDS),
                    Map.entry(java.sql.Time.class, MILLISECONDS),
                    Map.entry(Instant.class, INSTANT),
                    Map.entry(LocalDateTime.class, LOCAL_DATE_TIME),
                    Map.entry(Timestamp.class, SQL_TIMESTAMP),
                    Map.entry(BigDecimal.class, DECIMAL),
                    Map.entry(BigInteger.class, BIG_INTEGER),
                    Map.entry(String.class, STRING),
                    Map.entry(byte[].class, BYTES));

    /** {@link #width} of parts with more than 64 bits or of variable length. */
    static final int WIDE = -1;

    private final int width;

    KeyPart() {
        this(WIDE);
    }

    KeyPart(int width) {
        this.width = width;
    }

    /** Returns the part for a type, or empty if the type cannot be in a key. */
    static Optional<KeyPart> of(TypeInformation<?> type) {
        return Optional.ofNullable(BY_CLASS.get(type.getTypeClass()));
    }

    /** Returns the bits of a value, or {@link #WIDE}. */
    int width() {
        return width;
    }

    boolean isWide() {
        return width == WIDE;
    }

    /** Whether engines compare the values themselves. */
    boolean isInteger() {
        return this == BYTE || this == SHORT || this == INT || this == LONG;
    }

    /** Returns a value of a part that is not wide, in the lowest {@link #width} bits. */
    long bits(Object value) {
        return ((Number) value).longValue();
    }

    /** Writes a value so that no value is a prefix of another one. */
    void write(Object value, KeyBytes out) {
        out.writeLong(bits(value));
    }

    private static void writeInstant(long seconds, int nanos, KeyBytes out) {
        out.writeLong(seconds);
        out.writeInt(nanos);
    }

    private static void writeBytes(byte[] bytes, KeyBytes out) {
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
