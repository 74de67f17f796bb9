// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import java.util.concurrent.TimeUnit;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * Writes dates, times, timestamps and decimals of up to 18 digits of rows, as the serializers of
 * the objects that they stand for. Not thread-safe.
 */
final class RowDataValueWriter<T> implements ColumnWriter<T> {

    private static final long MILLISECONDS_OF_DAY = TimeUnit.DAYS.toMillis(1);
    private static final int NANOS_OF_MILLISECOND = 1_000_000;

    private final int index;
    private final String name;
    private final LogicalType type;
    private final byte[] scratch = new byte[SerializedValues.MAX_BYTES];

    RowDataValueWriter(int index, String name, LogicalType type) {
        this.index = index;
        this.name = name;
        this.type = type;
    }

    static boolean isFor(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case DATE,
                    TIME_WITHOUT_TIME_ZONE,
                    TIMESTAMP_WITHOUT_TIME_ZONE,
                    TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    true;
            case DECIMAL -> DecimalData.isCompact(((DecimalType) type).getPrecision());
            default -> false;
        };
    }

    @Override
    public void write(T record, ChunkBuilder target) {
        RowData row = (RowData) record;
        if (row.isNullAt(index)) {
            target.addNull();
        } else {
            target.addBytes(scratch, 0, write(row));
        }
    }

    private int write(RowData row) {
        return switch (type.getTypeRoot()) {
            case DATE -> SerializedValues.writeDate(scratch, row.getInt(index));
            case TIME_WITHOUT_TIME_ZONE -> writeTime(row.getInt(index));
            case TIMESTAMP_WITHOUT_TIME_ZONE -> writeDateTime(timestamp(row));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> writeInstant(timestamp(row));
            default -> writeDecimal(row, (DecimalType) type);
        };
    }

    private int writeTime(int millisecondOfDay) {
        if (millisecondOfDay < 0 || millisecondOfDay >= MILLISECONDS_OF_DAY) {
            throw new IllegalArgumentException(
                    "Time is outside the day: column=%s, type=%s, milliseconds=%d.\nSet it to a value from 0 to %d, or filter the record."
                            .formatted(name, type, millisecondOfDay, MILLISECONDS_OF_DAY - 1));
        }
        return SerializedValues.writeTime(scratch, (long) millisecondOfDay * NANOS_OF_MILLISECOND);
    }

    private TimestampData timestamp(RowData row) {
        return row.getTimestamp(index, LogicalTypeChecks.getPrecision(type));
    }

    private int writeDateTime(TimestampData timestamp) {
        long milliseconds = timestamp.getMillisecond();
        long millisecondOfDay = Math.floorMod(milliseconds, MILLISECONDS_OF_DAY);
        return SerializedValues.writeDateTime(
                scratch,
                Math.floorDiv(milliseconds, MILLISECONDS_OF_DAY),
                millisecondOfDay * NANOS_OF_MILLISECOND + timestamp.getNanoOfMillisecond());
    }

    private int writeInstant(TimestampData timestamp) {
        long milliseconds = timestamp.getMillisecond();
        int nanos = Math.floorMod(milliseconds, 1000) * NANOS_OF_MILLISECOND;
        return SerializedValues.writeInstant(
                scratch,
                Math.floorDiv(milliseconds, 1000),
                nanos + timestamp.getNanoOfMillisecond());
    }

    private int writeDecimal(RowData row, DecimalType decimal) {
        DecimalData value = row.getDecimal(index, decimal.getPrecision(), decimal.getScale());
        return SerializedValues.writeDecimal(scratch, value.toUnscaledLong(), value.scale());
    }
}
