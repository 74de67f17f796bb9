// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;

/** One real broker in this process, with a producer that keeps the order of a partition. */
final class Broker implements AutoCloseable {

    private final KafkaClusterTestKit kit;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Admin admin;

    /** Of the records since the last {@link #flush}. */
    private final List<Future<RecordMetadata>> sent = new ArrayList<>();

    Broker() throws Exception {
        kit =
                new KafkaClusterTestKit.Builder(
                                new TestKitNodes.Builder()
                                        .setCombined(true)
                                        .setNumControllerNodes(1)
                                        .setNumBrokerNodes(1)
                                        .build())
                        .setConfigProp("offsets.topic.replication.factor", "1")
                        .setConfigProp("group.initial.rebalance.delay.ms", "0")
                        .build();
        kit.format();
        kit.startup();
        kit.waitForReadyBrokers();
        Properties client = kit.clientProperties();
        admin = Admin.create(client);
        client.put("linger.ms", "5");
        // Brokers forget an idempotent producer whose records have old timestamps, as in tests.
        client.put("enable.idempotence", "false");
        // A topic's first batch often comes before its leader and is sent again. Without
        // idempotence only one request in flight keeps it before the second batch.
        client.put("max.in.flight.requests.per.connection", "1");
        producer =
                new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer());
    }

    String servers() {
        return kit.bootstrapServers();
    }

    void createTopic(String name, int partitions) throws Exception {
        // Tests choose timestamps that are long past any retention.
        NewTopic topic =
                new NewTopic(name, partitions, (short) 1).configs(Map.of("retention.ms", "-1"));
        admin.createTopics(List.of(topic)).all().get();
    }

    /** Sends a record; {@link #flush} waits for all, and fails if one was not stored. */
    void send(String topic, int partition, long timestamp, byte[] key, byte[] value) {
        sent.add(producer.send(new ProducerRecord<>(topic, partition, timestamp, key, value)));
    }

    void flush() throws Exception {
        producer.flush();
        for (Future<RecordMetadata> record : sent) {
            record.get();
        }
        sent.clear();
    }

    /** Returns the offset up to which a group has committed a partition of a topic. */
    Map<String, Long> committed(String group) throws Exception {
        Map<String, Long> offsets = new TreeMap<>();
        admin.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach((partition, offset) -> offsets.put(partition.toString(), offset.offset()));
        return offsets;
    }

    @Override
    public void close() throws Exception {
        producer.close();
        admin.close();
        kit.close();
    }
}
