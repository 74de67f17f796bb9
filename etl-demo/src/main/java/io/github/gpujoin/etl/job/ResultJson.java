// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.types.Row;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes a row as a JSON object of its fields, with the first field as key. */
final class ResultJson implements KafkaRecordSerializationSchema<Row> {

    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String topic;
    private final String[] fields;

    ResultJson(String topic, String[] fields) {
        this.topic = topic;
        this.fields = fields.clone();
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(
            Row row, KafkaSinkContext context, Long timestamp) {
        ObjectNode object = JSON.createObjectNode();
        for (int i = 0; i < fields.length; i++) {
            object.putPOJO(fields[i], row.getField(i));
        }
        try {
            byte[] key = row.getField(0).toString().getBytes(StandardCharsets.UTF_8);
            return new ProducerRecord<>(topic, key, JSON.writeValueAsBytes(object));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Row is not written as JSON: row=" + row, e);
        }
    }
}
