// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RowDataFields;
import io.github.gpujoin.flink.record.SerializedValues;
import io.github.gpujoin.flink.record.TimeResolution;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.concurrent.TimeUnit;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * Writes a field of results to binary rows, from the memory of its column. Numbers, texts, bytes,
 * dates, times, decimals of up to 18 digits, arrays, maps and rows become no objects. Not
 * thread-safe.
 */
final class RowDataField {

    private static final int NANOS_OF_MILLISECOND = 1_000_000;
    private static final long MILLISECONDS_OF_DAY = TimeUnit.DAYS.toMillis(1);
    private static final long MILLISECONDS_OF_SECOND = TimeUnit.SECONDS.toMillis(1);
    private static final int LENGTH_BYTES = Integer.BYTES;

    /** How the bytes of a column become those of a row. */
    private enum Form {
        NUMBER,
        BYTES,
        /** Behind its length, in the format of the row. */
        BINARY_FORMAT,
        DATE,
        TIME,
        TIMESTAMP,
        INSTANT,
        COMPACT_DECIMAL,
        /** By way of an object. */
        OTHER;

        static Form of(FieldKind kind, LogicalType type) {
            return switch (kind) {
                case STRING, BYTES -> BYTES;
                case SERIALIZED -> ofSerialized(type);
                default -> NUMBER;
            };
        }

        private static Form ofSerialized(LogicalType type) {
            return switch (type.getTypeRoot()) {
                case DATE -> DATE;
                case TIME_WITHOUT_TIME_ZONE -> TIME;
                case TIMESTAMP_WITHOUT_TIME_ZONE -> TIMESTAMP;
                case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> INSTANT;
                case DECIMAL ->
                        DecimalData.isCompact(((DecimalType) type).getPrecision())
                                ? COMPACT_DECIMAL
                                : OTHER;
                case ARRAY, MAP, MULTISET, ROW -> BINARY_FORMAT;
                default -> OTHER;
            };
        }
    }

    private final RowType.RowField field;
    private final LogicalType type;
    private final int position;
    private final FieldReader reader;
    private final Form form;
    private final boolean isFixed;
    private final int widthBytes;

    /** Bits that a number may have in a row. */
    private final long mask;

    private final boolean isCompactTime;

    private final DataStructureConverter<Object, Object> converter;

    /** Of rows that have this field alone. */
    private final RowDataSerializer serializer;

    RowDataField(RowType.RowField field, int position, FieldReader reader) {
        this.field = field;
        this.type = field.getType();
        this.position = position;
        this.reader = reader;
        this.form = Form.of(reader.kind(), type);
        this.isFixed = reader.source().isFixed();
        this.widthBytes = isFixed ? reader.source().type().widthBytes() : 0;
        this.mask = mask(reader.kind());
        this.isCompactTime = RowDataFields.resolution(type) == TimeResolution.MILLISECONDS;
        this.converter = RowDataFields.converter(type);
        this.serializer = new RowDataSerializer(type);
    }

    private static long mask(FieldKind kind) {
        return switch (kind) {
            case BYTE -> 0xFFL;
            case SHORT -> 0xFFFFL;
            case BOOLEAN -> 1;
            case INT, FLOAT -> 0xFFFFFFFFL;
            default -> -1;
        };
    }

    int position() {
        return position;
    }

    FieldReader reader() {
        return reader;
    }

    void bind(ResultBatch batch) {
        reader.bind(batch);
    }

    /**
     * @throws IllegalArgumentException if the field cannot hold the value as it is
     */
    void write(int row, int probeRow, BinaryRowBuilder target) throws IOException {
        if (reader.isAbsent(row, probeRow)) {
            writeNull(target);
            return;
        }
        byte[] base = reader.base();
        long at = reader.locate(row, probeRow);
        if (isFixed) {
            target.putLong(position, Memory.getInteger(base, at, widthBytes) & mask);
            return;
        }
        int lengthBytes = Memory.getInt(base, at);
        if (lengthBytes < 0) {
            writeNull(target);
            return;
        }
        boolean isWritten;
        try {
            isWritten = writeValue(base, at + LENGTH_BYTES, lengthBytes, target);
        } catch (ArithmeticException e) {
            throw refused(
                    reader.value(row, probeRow),
                    "Filter such values: no type of RowData holds a date or a time that far away.");
        }
        if (!isWritten) {
            writeObject(reader.value(row, probeRow), target);
        }
    }

    private void writeNull(BinaryRowBuilder target) {
        if (!type.isNullable()) {
            throw refused(null, "Declare a nullable type for the field.");
        }
        target.putNull(position);
    }

    /**
     * Returns false if the value must become an object, if only to report what is wrong.
     *
     * @throws ArithmeticException if a date is beyond 2^31 days, or a time beyond 2^63 ms, from
     *     1970
     */
    private boolean writeValue(
            byte @Nullable [] base, long at, int lengthBytes, BinaryRowBuilder target) {
        switch (form) {
            case NUMBER ->
                    target.putLong(position, Memory.getInteger(base, at, lengthBytes) & mask);
            case BYTES -> target.putBytes(position, base, at, lengthBytes);
            case BINARY_FORMAT ->
                    target.putOutOfLine(
                            position, base, at + LENGTH_BYTES, lengthBytes - LENGTH_BYTES);
            case DATE -> {
                int day = Math.toIntExact(SerializedValues.epochDay(base, at));
                target.putLong(position, Integer.toUnsignedLong(day));
            }
            case TIME -> {
                return writeTime(SerializedValues.nanoOfDay(base, at), target);
            }
            case TIMESTAMP -> {
                long days = SerializedValues.epochDay(base, at);
                long nanos = SerializedValues.nanoOfDayOfDateTime(base, at);
                return writeTimestamp(days, MILLISECONDS_OF_DAY, nanos, target);
            }
            case INSTANT -> {
                long seconds = SerializedValues.epochSecond(base, at);
                int nanos = SerializedValues.nanoOfSecond(base, at);
                return writeTimestamp(seconds, MILLISECONDS_OF_SECOND, nanos, target);
            }
            case COMPACT_DECIMAL -> {
                return writeDecimal((DecimalType) type, base, at, target);
            }
            case OTHER -> {
                return false;
            }
        }
        return true;
    }

    private boolean writeTime(long nanos, BinaryRowBuilder target) {
        target.putLong(position, nanos / NANOS_OF_MILLISECOND);
        return nanos % NANOS_OF_MILLISECOND == 0;
    }

    private boolean writeTimestamp(long units, long unitMs, long nanos, BinaryRowBuilder target) {
        long millisecond = milliseconds(units, unitMs, nanos / NANOS_OF_MILLISECOND);
        int rest = (int) (nanos % NANOS_OF_MILLISECOND);
        if (!isCompactTime) {
            target.putTimestamp(position, millisecond, rest);
            return true;
        }
        target.putLong(position, millisecond);
        return rest == 0;
    }

    /** Returns the sum, which may fit in a long although the start of its unit does not. */
    private static long milliseconds(long units, long unitMs, long millisecondsOfUnit) {
        return units < 0
                ? Math.addExact(Math.multiplyExact(units + 1, unitMs), millisecondsOfUnit - unitMs)
                : Math.addExact(Math.multiplyExact(units, unitMs), millisecondsOfUnit);
    }

    private boolean writeDecimal(
            DecimalType decimal, byte @Nullable [] base, long at, BinaryRowBuilder target) {
        long unscaled =
                SerializedValues.unscaled(base, at, decimal.getPrecision(), decimal.getScale());
        target.putLong(position, unscaled);
        return unscaled != Long.MIN_VALUE;
    }

    private void writeObject(Object value, BinaryRowBuilder target) {
        Object internal = converter.toInternalOrNull(value);
        boolean isExact =
                !(value instanceof BigDecimal decimal)
                        || internal != null
                                && ((DecimalData) internal).toBigDecimal().compareTo(decimal) == 0;
        if (!isExact || !RowDataFields.resolution(type).holds(value)) {
            throw refused(value, "Declare a wider type for the field.");
        }
        target.putFieldOf(
                serializer.toBinaryRow(GenericRowData.of(internal)),
                position,
                !BinaryRowData.isInFixedLengthPart(type));
    }

    private IllegalArgumentException refused(@Nullable Object value, String remedy) {
        return new IllegalArgumentException(
                "Value does not fit its field of RowData: field=%s, type=%s, value=%s.\n%s"
                        .formatted(field.getName(), type, value, remedy));
    }
}
