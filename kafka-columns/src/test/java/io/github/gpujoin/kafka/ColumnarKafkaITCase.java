// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.kafka.csv.CsvFormat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.CollectionUtil;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that read a real broker. */
@Timeout(180)
class ColumnarKafkaITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int PARTITIONS = 3;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("key", ColumnType.INT64),
                    Column.of("name", ColumnType.STRING));

    private static Broker broker;

    /**
     * Rows until a failure, which happens once; how many chunks hold them is the broker's choice.
     */
    private static final AtomicLong ROWS_LEFT = new AtomicLong();

    private static final Queue<Long> SEEN = new ConcurrentLinkedQueue<>();

    private String topic;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = new Broker();
    }

    @AfterAll
    static void stopBroker() throws Exception {
        broker.close();
    }

    @BeforeEach
    void createTopic(TestInfo test) throws Exception {
        topic = test.getTestMethod().orElseThrow().getName();
        broker.createTopic(topic, PARTITIONS);
        ROWS_LEFT.set(Long.MAX_VALUE);
    }

    /** Row {@code id} is in partition {@code id % PARTITIONS}, with its id as timestamp. */
    private void send(int from, int to) throws Exception {
        for (int id = from; id < to; id++) {
            send(id, id + "," + id % 10 + ",\"row \"\"" + id + "\"\"\"");
        }
        broker.flush();
    }

    private void send(int id, String line) {
        byte[] value = line == null ? null : line.getBytes(StandardCharsets.UTF_8);
        byte[] key = Integer.toString(id).getBytes(StandardCharsets.UTF_8);
        broker.send(topic, id % PARTITIONS, id, key, value);
    }

    private ColumnarKafka source(boolean isBounded) {
        return ColumnarKafka.of(
                CsvFormat.of("id", "key", "name"),
                SCHEMA,
                kafka -> {
                    kafka.setBootstrapServers(broker.servers())
                            .setTopics(topic)
                            .setGroupId("group of " + topic)
                            .setStartingOffsets(OffsetsInitializer.earliest())
                            .setProperty("max.poll.records", "1000");
                    if (isBounded) {
                        kafka.setBounded(OffsetsInitializer.latest());
                    }
                });
    }

    private static StreamExecutionEnvironment environment(Configuration settings) {
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        settings.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(2);
        return env;
    }

    private static StreamExecutionEnvironment environment() {
        return environment(new Configuration());
    }

    /** Emits the ids of a chunk's rows, and fails once. */
    private static final class Ids implements FlatMapFunction<Chunk, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public void flatMap(Chunk chunk, Collector<Long> out) {
            long left = ROWS_LEFT.getAndAdd(-chunk.rowCount());
            if (left > 0 && left <= chunk.rowCount()) {
                throw new IllegalStateException("as the test wants it");
            }
            for (int row = 0; row < chunk.rowCount(); row++) {
                out.collect(chunk.getLong(0, row));
            }
        }
    }

    private static DataStream<Long> ids(DataStream<Chunk> chunks) {
        return chunks.flatMap(new Ids()).returns(Types.LONG).uid("ids");
    }

    private static List<Long> numbers(long count) {
        return LongStream.range(0, count).boxed().toList();
    }

    private static List<Long> sorted(List<Long> ids) {
        List<Long> sorted = new ArrayList<>(ids);
        Collections.sort(sorted);
        return sorted;
    }

    @Test
    void shouldReadValuesAndFieldsOfAllPartitions() throws Exception {
        send(0, 100);
        ColumnarKafka source =
                source(true)
                        .withField(KafkaField.PARTITION, "partition")
                        .withField(KafkaField.OFFSET, "offset")
                        .withField(KafkaField.TIMESTAMP, "timestamp")
                        .withField(KafkaField.KEY, "kafka_key");
        List<String> rows =
                CollectionUtil.iteratorToList(
                        source.toStream(environment(), topic)
                                .flatMap(
                                        (FlatMapFunction<Chunk, String>)
                                                (chunk, out) ->
                                                        DecodedRows.of(chunk)
                                                                .forEach(r -> out.collect("" + r)))
                                .returns(Types.STRING)
                                .executeAndCollect());

        String key = "java.nio.HeapByteBuffer[pos=0 lim=%1$d cap=%1$d]";
        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100)
                                .mapToObj(
                                        i ->
                                                List.of(
                                                                i,
                                                                i % 10,
                                                                "row \"" + i + "\"",
                                                                i % PARTITIONS,
                                                                i / PARTITIONS,
                                                                i,
                                                                key.formatted(i < 10 ? 1 : 2))
                                                        .toString())
                                .toList());
    }

    /** Results are collected exactly once, so rows that were read twice would be there twice. */
    @Test
    void shouldReadEachRowOnceAcrossARestart() throws Exception {
        send(0, 300_000);
        ROWS_LEFT.set(100_000);
        StreamExecutionEnvironment env = environment();
        env.enableCheckpointing(10);
        List<Long> ids =
                CollectionUtil.iteratorToList(
                        ids(source(true).toStream(env, topic)).executeAndCollect());

        assertThat(ROWS_LEFT.get()).isNotPositive();
        assertThat(sorted(ids)).isEqualTo(numbers(300_000));
    }

    /** Keeps ids in {@link #SEEN}: a savepoint cuts between chunks, so none is seen twice. */
    private static final class Keeping implements MapFunction<Long, Long> {

        private static final long serialVersionUID = 1L;

        @Override
        public Long map(Long id) {
            SEEN.add(id);
            return id;
        }
    }

    private JobClient keepIds(Configuration settings) throws Exception {
        StreamExecutionEnvironment env = environment(settings);
        env.enableCheckpointing(20);
        ids(source(false).toStream(env, "source"))
                .map(new Keeping())
                .uid("keeping")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
        return env.executeAsync();
    }

    private static void awaitSeen(int count) throws InterruptedException {
        while (SEEN.size() < count) {
            Thread.sleep(10);
        }
    }

    private long committedRows() throws Exception {
        return broker.committed("group of " + topic).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    @Test
    void shouldContinueFromASavepointAndCommitOffsets(@TempDir Path folder) throws Exception {
        SEEN.clear();
        send(0, 10_000);
        JobClient job = keepIds(new Configuration());
        awaitSeen(10_000);
        while (committedRows() < 10_000) {
            Thread.sleep(10);
        }
        String savepoint =
                job.stopWithSavepoint(
                                false, folder.toUri().toString(), SavepointFormatType.CANONICAL)
                        .get();
        send(10_000, 20_000);
        Configuration settings = new Configuration();
        settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        job = keepIds(settings);
        awaitSeen(20_000);
        job.cancel().get();
        assertThat(sorted(List.copyOf(SEEN))).isEqualTo(numbers(20_000));
    }

    @Test
    void shouldNameTopicPartitionAndOffsetOfABadRecord() throws Exception {
        send(0, 10);
        send(10, "ten,0,bad");
        broker.flush();
        Configuration settings = new Configuration();
        StreamExecutionEnvironment env = environment(settings);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        env.configure(settings);
        assertThatThrownBy(
                        () ->
                                ids(source(true).toStream(env, topic))
                                        .executeAndCollect()
                                        .forEachRemaining(id -> {}))
                .hasStackTraceContaining(
                        "A Kafka record cannot be read: topic="
                                + topic
                                + ", partition=1, offset=3, cause=Field is no number of its column")
                .hasStackTraceContaining("field=ten");
    }

    @Test
    void shouldSkipTombstonesAndBadRecordsIfToldTo() throws Exception {
        send(0, 10);
        send(10, "ten,0,bad");
        send(11, null);
        send(12, "12,1");
        send(13, "13,1,a,b");
        send(14, "14,\"1,unclosed");
        send(10, "10,0,good");
        broker.flush();
        List<Long> ids =
                CollectionUtil.iteratorToList(
                        ids(source(true).skipBadRecords().toStream(environment(), topic))
                                .executeAndCollect());
        assertThat(sorted(ids)).isEqualTo(numbers(11));
    }

    /** Checks that no row is late and that a chunk is of one partition; emits its row count. */
    private static final class Times extends ProcessFunction<Chunk, Integer> {

        private static final long serialVersionUID = 1L;

        @Override
        public void processElement(Chunk chunk, Context context, Collector<Integer> out) {
            long watermark = context.timerService().currentWatermark();
            for (int row = 0; row < chunk.rowCount(); row++) {
                long id = chunk.getLong(0, row);
                assertThat(id).isGreaterThan(watermark).isLessThanOrEqualTo(context.timestamp());
                assertThat(id % PARTITIONS).isEqualTo(chunk.getLong(0, 0) % PARTITIONS);
            }
            out.collect(chunk.rowCount());
        }
    }

    /** Partition 0 is far ahead of the others, whose rows must not be late. */
    @Test
    void shouldWatermarkEachPartitionByItself() throws Exception {
        for (int id = 0; id < 30_000; id += PARTITIONS) {
            send(id, id + ",0,x");
        }
        broker.flush();
        send(1, 1 + ",0,x");
        send(2, 2 + ",0,x");
        send(4, 4 + ",0,x");
        broker.flush();
        StreamExecutionEnvironment env = environment();
        env.setParallelism(1);
        List<Integer> rows =
                CollectionUtil.iteratorToList(
                        source(true)
                                .toStream(
                                        env,
                                        topic,
                                        WatermarkStrategy.<Chunk>forMonotonousTimestamps()
                                                .withTimestampAssigner(
                                                        ColumnTimestamps.of(SCHEMA, "id")))
                                .process(new Times())
                                .executeAndCollect());
        assertThat(rows.stream().mapToInt(Integer::intValue).sum()).isEqualTo(10_003);
    }

    @Test
    void shouldJoinAsAStar() throws Exception {
        send(0, 1000);
        StreamExecutionEnvironment env = environment();
        DataStream<Row> dimension =
                env.fromData(
                        IntStream.range(0, 5).mapToObj(k -> Row.of((long) k, "d" + k)).toList(),
                        Types.ROW_NAMED(new String[] {"key", "label"}, Types.LONG, Types.STRING));
        StarJoin<RowView> star =
                StarJoin.ofChunks(source(true).toStream(env, "facts")).select("id", "name");
        star.dimension(dimension, d -> d.on("key", "key").select("label"));
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> results = star.toRows().executeAndCollect()) {
            results.forEachRemaining(row -> rows.add(row.toString()));
        }
        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 1000)
                                .filter(id -> id % 10 < 5)
                                .mapToObj(
                                        id ->
                                                Row.of(
                                                                (long) id,
                                                                "row \"" + id + "\"",
                                                                "d" + id % 10)
                                                        .toString())
                                .toList());
    }
}
