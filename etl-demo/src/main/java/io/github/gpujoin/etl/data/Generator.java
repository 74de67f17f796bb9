// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.data;

import io.github.gpujoin.etl.data.Shop.Order;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The process that writes orders, and changes of customers and products, to Kafka.
 *
 * <p>Arguments: brokers, seed, customers, products, orders a second, updates a second of each
 * dimension, epoch. First versions have the timestamp {@code epoch}, but the last one of each
 * partition a later one, as all later versions have. So a watermark from {@code epoch} says that
 * the first versions are complete. It writes until its input ends, then prints {@code orders
 * updates} and exits. With an idempotent producer that retries for ever, a broker may restart
 * meanwhile.
 */
public final class Generator {

    private static final int BATCHES_A_SECOND = 50;

    private final Shop shop;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final int[] customerVersions;
    private final int[] productVersions;
    private long orders;
    private long updates;

    private Generator(Shop shop, KafkaProducer<byte[], byte[]> producer) {
        this.shop = shop;
        this.producer = producer;
        customerVersions = new int[shop.customers()];
        productVersions = new int[shop.products()];
    }

    /** Writes until the input of this process ends. */
    public static void main(String[] arguments) throws Exception {
        Shop shop =
                new Shop(
                        Long.parseLong(arguments[1]),
                        Integer.parseInt(arguments[2]),
                        Integer.parseInt(arguments[3]));
        Map<String, Object> settings =
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        arguments[0],
                        ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                        true,
                        ProducerConfig.ACKS_CONFIG,
                        "all",
                        ProducerConfig.LINGER_MS_CONFIG,
                        5,
                        ProducerConfig.MAX_BLOCK_MS_CONFIG,
                        Integer.toString(Integer.MAX_VALUE),
                        ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                        Integer.MAX_VALUE,
                        ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG,
                        1_000);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(
                        settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            Generator generator = new Generator(shop, producer);
            generator.writeFirstVersions(Long.parseLong(arguments[6]));
            generator.writeUntilInputEnds(
                    Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
            System.out.println(generator.orders + " " + generator.updates);
        }
    }

    private void writeFirstVersions(long epoch) {
        for (int customer = 0; customer < shop.customers(); customer++) {
            writeCustomer(customer, firstTimestamp(customer, shop.customers(), epoch));
        }
        for (int product = 0; product < shop.products(); product++) {
            writeProduct(product, firstTimestamp(product, shop.products(), epoch));
        }
        producer.flush();
    }

    /** A watermark is one less than the latest timestamp of a partition. */
    private static long firstTimestamp(int id, int count, long epoch) {
        boolean isLastOfPartition = id >= count - Topics.PARTITIONS;
        return isLastOfPartition ? epoch + 1 : epoch;
    }

    private void writeUntilInputEnds(int ordersPerSecond, int updatesPerSecond) throws Exception {
        long start = System.nanoTime();
        AtomicBoolean hasInputEnded = new AtomicBoolean();
        Thread reader = new Thread(() -> awaitInputEnd(hasInputEnded), "input");
        reader.setDaemon(true);
        reader.start();
        while (!hasInputEnded.get()) {
            double seconds = (System.nanoTime() - start) / 1e9;
            for (; updates < seconds * updatesPerSecond; updates++) {
                long now = System.currentTimeMillis();
                writeCustomer(shop.updatedCustomer(updates), now);
                writeProduct(shop.updatedProduct(updates), now);
            }
            for (; orders < seconds * ordersPerSecond; orders++) {
                writeOrder(shop.order(orders));
            }
            throwIfFailed();
            TimeUnit.MILLISECONDS.sleep(1_000 / BATCHES_A_SECOND);
        }
        producer.flush();
        throwIfFailed();
    }

    /** Input ends when the command closes it, and also when the command dies. */
    private static void awaitInputEnd(AtomicBoolean hasEnded) {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // The other end has gone.
        }
        hasEnded.set(true);
    }

    private void throwIfFailed() throws Exception {
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    private void writeOrder(Order order) {
        String value =
                "{\"order_id\":%d,\"customer_id\":%d,\"product_id\":%d,\"quantity\":%d}"
                        .formatted(order.id(), order.customer(), order.product(), order.quantity());
        send(Topics.ORDERS, order.id(), System.currentTimeMillis(), value);
    }

    private void writeCustomer(int id, long timestamp) {
        int version = ++customerVersions[id];
        String value =
                "{\"customer_id\":%d,\"customer_version\":%d,\"segment\":\"%s\"}"
                        .formatted(id, version, shop.segment(id, version));
        send(Topics.CUSTOMERS, id, timestamp, value);
    }

    private void writeProduct(int id, long timestamp) {
        int version = ++productVersions[id];
        String value =
                "{\"product_id\":%d,\"product_version\":%d,\"price_cents\":%d}"
                        .formatted(id, version, shop.priceCents(id, version));
        send(Topics.PRODUCTS, id, timestamp, value);
    }

    private void send(String topic, long key, long timestamp, String value) {
        producer.send(
                new ProducerRecord<>(
                        topic,
                        (int) (key % Topics.PARTITIONS),
                        timestamp,
                        bytes(Long.toString(key)),
                        bytes(value)),
                (metadata, error) -> {
                    if (error != null) {
                        failure.compareAndSet(null, error);
                    }
                });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
