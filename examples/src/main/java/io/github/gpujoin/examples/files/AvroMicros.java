// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * Corrects timestamps in microseconds. Flink's converters between rows and Avro treat the numbers
 * as milliseconds, so this class converts these columns afterwards.
 */
final class AvroMicros implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final int MILLISECOND_DIGITS = 3;

    private record Column(int position, int digits) implements Serializable {}

    private final List<Column> columns = new ArrayList<>();

    AvroMicros(RowType rows) {
        for (int i = 0; i < rows.getFieldCount(); i++) {
            LogicalType type = rows.getTypeAt(i);
            if (type.is(LogicalTypeFamily.TIMESTAMP)
                    && LogicalTypeChecks.getPrecision(type) > MILLISECOND_DIGITS) {
                columns.add(new Column(i, LogicalTypeChecks.getPrecision(type)));
            }
        }
    }

    void read(GenericRecord from, GenericRowData to) {
        for (Column column : columns) {
            Object micros = from.get(column.position);
            if (micros != null) {
                long value = (Long) micros;
                long milliseconds = Math.floorDiv(value, 1_000L);
                int nanoseconds = (int) Math.floorMod(value, 1_000L) * 1_000;
                to.setField(
                        column.position, TimestampData.fromEpochMillis(milliseconds, nanoseconds));
            }
        }
    }

    void write(RowData from, GenericRecord to) {
        for (Column column : columns) {
            if (!from.isNullAt(column.position)) {
                TimestampData time = from.getTimestamp(column.position, column.digits);
                long micros = time.getMillisecond() * 1_000 + time.getNanoOfMillisecond() / 1_000;
                to.put(column.position, micros);
            }
        }
    }
}
