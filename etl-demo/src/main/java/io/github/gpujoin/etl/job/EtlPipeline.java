// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.etl.data.Topics;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.kafka.ColumnarKafka;
import io.github.gpujoin.kafka.json.JsonFormat;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * Orders joined with the live rows of customers and products. Facts are read as columnar chunks and
 * wait until the first versions of both dimensions are complete; then each one is joined with the
 * rows that the dimensions hold at that moment. Customers are the large dimension: each subtask
 * holds a part of them, and all products.
 *
 * @param brokers of Kafka
 * @param completeAtMs watermark of the dimensions at which their first versions are complete
 * @param warehouse folder of the lake table, as a URI; null for none
 */
public record EtlPipeline(String brokers, long completeAtMs, @Nullable String warehouse) {

    /** Uid of the join, and its name in metrics. */
    public static final String JOIN = "enrich";

    /** Columns of the results in SQL. */
    static final String RESULT_COLUMNS =
            "order_id BIGINT, customer_id INT, product_id INT, quantity INT,"
                    + " customer_version INT, segment STRING, product_version INT, price_cents INT";

    private static final ChunkSchema ORDERS =
            ChunkSchema.of(
                    Column.of("order_id", ColumnType.INT64),
                    Column.of("customer_id", ColumnType.INT32),
                    Column.of("product_id", ColumnType.INT32),
                    Column.of("quantity", ColumnType.INT32));

    private static final RowTypeInfo CUSTOMERS =
            (RowTypeInfo)
                    Types.ROW_NAMED(
                            new String[] {"customer_id", "customer_version", "segment"},
                            Types.INT,
                            Types.INT,
                            Types.STRING);

    private static final RowTypeInfo PRODUCTS =
            (RowTypeInfo)
                    Types.ROW_NAMED(
                            new String[] {"product_id", "product_version", "price_cents"},
                            Types.INT,
                            Types.INT,
                            Types.INT);

    private static final String GROUP = "etl";

    /** Below the broker's limit of 15 minutes; a job that is down for longer loses results. */
    private static final Duration TRANSACTION_TIMEOUT = Duration.ofMinutes(14);

    /** Adds sources, join and sinks to a job. */
    public void define(StreamExecutionEnvironment env) {
        DataStream<Chunk> orders =
                ColumnarKafka.of(JsonFormat.create(), ORDERS, kafka -> source(kafka, Topics.ORDERS))
                        .toStream(env, "orders");
        DataStream<Row> results =
                StarJoin.ofChunks(orders)
                        .select("order_id", "customer_id", "product_id", "quantity")
                        .dimension(
                                changelog(env, Topics.CUSTOMERS, CUSTOMERS),
                                d ->
                                        d.named("customers")
                                                .on("customer_id", "customer_id")
                                                .select("customer_version", "segment")
                                                .partitioned()
                                                .changelog()
                                                .completeAtWatermark(completeAtMs))
                        .dimension(
                                changelog(env, Topics.PRODUCTS, PRODUCTS),
                                d ->
                                        d.named("products")
                                                .on("product_id", "product_id")
                                                .select("product_version", "price_cents")
                                                .changelog()
                                                .completeAtWatermark(completeAtMs))
                        .uid(JOIN)
                        .toRows();
        results.sinkTo(topic(results)).name("enriched-orders topic").uid("results-topic");
        if (warehouse != null) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(env);
            LakeTable.create(tables, warehouse);
            StreamStatementSet statements = tables.createStatementSet();
            statements.add(tables.fromDataStream(results).insertInto(LakeTable.NAME));
            statements.attachAsDataStream();
        }
    }

    private <T> void source(KafkaSourceBuilder<T> kafka, String topic) {
        kafka.setBootstrapServers(brokers)
                .setTopics(topic)
                .setGroupId(GROUP)
                .setStartingOffsets(OffsetsInitializer.earliest());
    }

    private DataStream<Row> changelog(
            StreamExecutionEnvironment env, String topic, RowTypeInfo type) {
        KafkaSourceBuilder<Row> kafka = KafkaSource.builder();
        source(kafka, topic);
        return env.fromSource(
                        kafka.setDeserializer(new UpsertRows(type)).build(),
                        WatermarkStrategy.forMonotonousTimestamps(),
                        topic)
                .uid(topic);
    }

    private KafkaSink<Row> topic(DataStream<Row> results) {
        String[] fields = ((RowTypeInfo) results.getType()).getFieldNames();
        return KafkaSink.<Row>builder()
                .setBootstrapServers(brokers)
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(GROUP)
                .setProperty(
                        "transaction.timeout.ms", Long.toString(TRANSACTION_TIMEOUT.toMillis()))
                .setRecordSerializer(new ResultJson(Topics.RESULTS, fields))
                .build();
    }
}
