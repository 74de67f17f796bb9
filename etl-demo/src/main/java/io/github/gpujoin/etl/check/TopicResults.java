// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.check;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads the committed rows of the result topic, from its start. Not thread-safe. */
public final class TopicResults implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(200);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Set<TopicPartition> partitions;

    /** Opens the topic. */
    public TopicResults(String brokers, String topic) {
        consumer =
                new KafkaConsumer<>(
                        Map.of(
                                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                                brokers,
                                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                                "read_committed",
                                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                                false,
                                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                                10_000),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer());
        partitions =
                Set.copyOf(
                        consumer.partitionsFor(topic).stream()
                                .map(p -> new TopicPartition(p.topic(), p.partition()))
                                .toList());
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** Adds the rows of one poll to a check. */
    public void poll(ResultCheck check) throws IOException {
        for (ConsumerRecord<byte[], byte[]> message : consumer.poll(POLL)) {
            check.add(row(message.value()));
        }
    }

    /** Adds all rows that are committed by now. */
    public void readToEnd(ResultCheck check) throws IOException {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        List<TopicPartition> open = List.copyOf(partitions);
        while (!open.isEmpty()) {
            poll(check);
            open = open.stream().filter(p -> consumer.position(p) < ends.get(p)).toList();
        }
    }

    private static ResultRow row(byte[] value) throws IOException {
        JsonNode row = JSON.readTree(value);
        return new ResultRow(
                row.required("order_id").longValue(),
                row.required("customer_id").intValue(),
                row.required("product_id").intValue(),
                row.required("quantity").intValue(),
                row.required("customer_version").intValue(),
                row.required("segment").textValue(),
                row.required("product_version").intValue(),
                row.required("price_cents").intValue());
    }

    @Override
    public void close() {
        consumer.close();
    }
}
