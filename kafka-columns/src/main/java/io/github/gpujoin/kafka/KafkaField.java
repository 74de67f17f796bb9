// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** What a record is besides its value, for {@link ColumnarKafka#withField}. */
@PublicEvolving
public enum KafkaField {
    /** Partition of the topic: INT32. */
    PARTITION(ColumnType.INT32, false),
    /** Offset in the partition: INT64. */
    OFFSET(ColumnType.INT64, false),
    /** Timestamp of the record in milliseconds, -1 if it has none: INT64. */
    TIMESTAMP(ColumnType.INT64, false),
    /** Key of the record as it is stored: BYTES, nullable. */
    KEY(ColumnType.BYTES, true);

    private final ColumnType type;
    private final boolean nullable;

    KafkaField(ColumnType type, boolean nullable) {
        this.type = type;
        this.nullable = nullable;
    }

    Column column(String name) {
        return new Column(name, type, nullable);
    }

    void write(ConsumerRecord<byte[], byte[]> record, int column, RowWriter row)
            throws BadRecordException {
        switch (this) {
            case PARTITION -> row.putLong(column, record.partition());
            case OFFSET -> row.putLong(column, record.offset());
            case TIMESTAMP -> row.putLong(column, record.timestamp());
            case KEY -> {
                if (record.key() == null) {
                    row.putNull(column);
                } else {
                    row.putBytes(column, record.key(), 0, record.key().length);
                }
            }
        }
    }
}
