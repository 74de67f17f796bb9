// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads a compacted topic as a changelog: a JSON object replaces the row of its key, a record
 * without a value deletes it. The record's key is the first field, as text.
 */
final class UpsertRows implements KafkaRecordDeserializationSchema<Row> {

    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RowTypeInfo type;

    /**
     * @param type of the rows, with named fields of type INT or STRING; the first one is the key,
     *     an INT
     */
    UpsertRows(RowTypeInfo type) {
        this.type = type;
    }

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> message, Collector<Row> out)
            throws IOException {
        Row row = new Row(type.getArity());
        if (message.value() == null) {
            row.setKind(RowKind.DELETE);
            row.setField(0, Integer.valueOf(new String(message.key(), StandardCharsets.UTF_8)));
        } else {
            JsonNode object = JSON.readTree(message.value());
            for (int i = 0; i < type.getArity(); i++) {
                row.setField(i, field(object, i, message));
            }
        }
        out.collect(row);
    }

    private Object field(JsonNode object, int index, ConsumerRecord<byte[], byte[]> message)
            throws IOException {
        String name = type.getFieldNames()[index];
        JsonNode value = object.get(name);
        boolean isText = type.getTypeAt(index).equals(Types.STRING);
        if (value == null || (isText ? !value.isTextual() : !value.canConvertToInt())) {
            throw new IOException(
                    "Field %s is absent or no %s: topic=%s, partition=%d, offset=%d. Correct the producer."
                            .formatted(
                                    name,
                                    isText ? "text" : "int",
                                    message.topic(),
                                    message.partition(),
                                    message.offset()));
        }
        return isText ? value.textValue() : (Object) value.intValue();
    }

    @Override
    public TypeInformation<Row> getProducedType() {
        return type;
    }
}
