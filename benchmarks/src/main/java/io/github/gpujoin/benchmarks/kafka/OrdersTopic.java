// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;

/** A broker in this process with a topic of {@link Orders}, of one partition. */
public final class OrdersTopic implements AutoCloseable {

    public static final String NAME = "orders";

    private final KafkaClusterTestKit kit;

    public OrdersTopic(int records) throws Exception {
        kit =
                new KafkaClusterTestKit.Builder(
                                new TestKitNodes.Builder()
                                        .setCombined(true)
                                        .setNumControllerNodes(1)
                                        .setNumBrokerNodes(1)
                                        .build())
                        .setConfigProp("offsets.topic.replication.factor", "1")
                        .build();
        kit.format();
        kit.startup();
        kit.waitForReadyBrokers();
        fill(records);
    }

    private void fill(int records) throws Exception {
        Properties client = kit.clientProperties();
        try (Admin admin = Admin.create(client)) {
            admin.createTopics(List.of(new NewTopic(NAME, 1, (short) 1))).all().get();
        }
        client.putAll(Map.of("linger.ms", "50", "batch.size", "262144", "acks", "1"));
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer())) {
            Orders orders = new Orders();
            for (int id = 0; id < records; id++) {
                producer.send(new ProducerRecord<>(NAME, orders.value(id)));
            }
        }
    }

    String servers() {
        return kit.bootstrapServers();
    }

    @Override
    public void close() throws Exception {
        kit.close();
    }
}
