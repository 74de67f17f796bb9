// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packers drop facts without a match, and every result is emitted once. */
@Timeout(180)
@ExtendWith(RegionLeakExtension.class)
class FactFiltersITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final long FACTS = 300_000;

    private static final int PACED_FACTS = 40;

    private static final long LONGEST_PACE_NS = 30_000_000_000L;

    /** Until a filter drops a fact: the dimension may complete after all facts were sent. */
    private static volatile boolean isPaced;

    private static long paceFromNs;
    private static long prunedBefore;

    private static final long KEYS = 10_000;

    /** The dimension has one of so many keys. */
    private static final long MATCHING = 10;

    private static final int CHUNK_ROWS = 1_000;

    private static final ChunkSchema CHUNKS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32), Column.of("number", ColumnType.INT64));

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public String text;
        public long number;

        public Numbered() {}
    }

    private static long key(long number) {
        return number * 7 % KEYS;
    }

    private static Numbered numbered(long number) {
        Numbered row = new Numbered();
        row.key = key(number);
        row.text = "key " + row.key;
        row.number = number;
        return row;
    }

    private static StreamExecutionEnvironment env(boolean filters) {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.FACT_FILTERS, filters);
        options.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(options);
        env.setParallelism(2);
        return env;
    }

    private static DataStream<Long> sequence(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                new NumberSequenceSource(0, count - 1),
                WatermarkStrategy.noWatermarks(),
                "sequence");
    }

    private static DataStream<Numbered> numbers(StreamExecutionEnvironment env, long count) {
        return sequence(env, count)
                .map(FactFiltersITCase::numbered)
                .returns(TypeInformation.of(Numbered.class));
    }

    private static DataStream<Numbered> facts(StreamExecutionEnvironment env) {
        return numbers(env, FACTS)
                .map(
                        fact -> {
                            pace(fact.number);
                            return fact;
                        })
                .returns(TypeInformation.of(Numbered.class));
    }

    private static DataStream<Numbered> dimension(StreamExecutionEnvironment env) {
        return numbers(env, KEYS).filter(row -> row.key % MATCHING == 0);
    }

    /**
     * Returns {@link #rowsPruned}.
     *
     * @param paced whether the second half of the next facts is sent slowly until it grows
     */
    private static long rowsPrunedBefore(boolean paced) {
        prunedBefore = rowsPruned();
        paceFromNs = System.nanoTime();
        isPaced = paced;
        return prunedBefore;
    }

    private static void pace(long number) throws InterruptedException {
        if (isPaced && number >= FACTS / 2 && number % PACED_FACTS == 0) {
            Thread.sleep(1);
            isPaced =
                    rowsPruned() == prunedBefore
                            && System.nanoTime() - paceFromNs < LONGEST_PACE_NS;
        }
    }

    private static Chunk chunk(long first) throws InterruptedException {
        pace(first);
        ChunkBuilder builder = new ChunkBuilder(CHUNKS, 1 << 16);
        for (long number = first; number < first + CHUNK_ROWS; number++) {
            builder.putInt(0, (int) key(number));
            builder.putLong(1, number);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static List<Long> collect(DataStream<Row> results) throws Exception {
        List<Long> numbers = new ArrayList<>();
        try (CloseableIterator<Row> rows = results.executeAndCollect()) {
            rows.forEachRemaining(row -> numbers.add(row.getFieldAs("number")));
        }
        numbers.sort(null);
        return numbers;
    }

    private static List<Long> matching() {
        return LongStream.range(0, FACTS)
                .filter(number -> key(number) % MATCHING == 0)
                .boxed()
                .toList();
    }

    private static long rowsPruned() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("rowsPruned"))
                .filter(Objects::nonNull)
                .mapToLong(metric -> ((Counter) metric).getCount())
                .sum();
    }

    @ParameterizedTest
    @CsvSource({"key, true", "key, false", "text, true", "text, false"})
    void shouldJoinRecordsAlikeWithAndWithoutFilters(String key, boolean filters) throws Exception {
        long before = rowsPrunedBefore(filters);
        StreamExecutionEnvironment env = env(filters);
        DataStream<Row> results =
                StarJoin.of(facts(env))
                        .select("number")
                        .dimension(dimension(env), d -> d.on(key, key).select("number AS row"))
                        .toRows();
        assertThat(collect(results)).isEqualTo(matching());
        assertThat(rowsPruned() > before).isEqualTo(filters);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldJoinChunksAlikeWithAndWithoutFilters(boolean filters) throws Exception {
        long before = rowsPrunedBefore(filters);
        StreamExecutionEnvironment env = env(filters);
        DataStream<Chunk> facts =
                sequence(env, FACTS / CHUNK_ROWS)
                        .map(number -> chunk(number * CHUNK_ROWS))
                        .returns(ChunkTypeInfo.of(CHUNKS));
        DataStream<Row> results =
                StarJoin.ofChunks(facts)
                        .select("number")
                        .dimension(dimension(env), d -> d.on("key", "key").semi())
                        .toRows();
        assertThat(collect(results)).isEqualTo(matching());
        assertThat(rowsPruned() > before).isEqualTo(filters);
    }

    @Test
    void shouldKeepFactsWithoutAMatchInALeftJoin() throws Exception {
        long before = rowsPrunedBefore(false);
        StreamExecutionEnvironment env = env(true);
        DataStream<Row> results =
                StarJoin.of(facts(env))
                        .select("number")
                        .dimension(
                                dimension(env),
                                d -> d.on("key", "key").left().select("number AS row"))
                        .toRows();
        assertThat(collect(results)).hasSize((int) FACTS).doesNotHaveDuplicates();
        assertThat(rowsPruned()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"replicated", "partitioned", "right"})
    void shouldDropTheProbesOfAPairJoinThatHaveNoMatch(String how) throws Exception {
        long before = rowsPrunedBefore(true);
        StreamExecutionEnvironment env = env(true);
        PairJoin.Keyed<Numbered, Numbered> join =
                PairJoin.build(dimension(env))
                        .probe(facts(env))
                        .where(row -> row.key, Types.LONG)
                        .equalTo(row -> row.key, Types.LONG);
        switch (how) {
            case "replicated" -> join.replicated();
            case "partitioned" -> join.partitioned();
            default -> join.right();
        }
        // Each build row has a match.
        DataStream<Row> results =
                join.apply((build, probe) -> probe.number, Types.LONG)
                        .map(Row::of)
                        .returns(Types.ROW_NAMED(new String[] {"number"}, Types.LONG));
        assertThat(collect(results)).isEqualTo(matching());
        assertThat(rowsPruned()).isGreaterThan(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"key", "text"})
    void shouldDropFactsWithoutAMatchInAPartitionedDimension(String key) throws Exception {
        long before = rowsPrunedBefore(true);
        StreamExecutionEnvironment env = env(true);
        DataStream<Row> results =
                StarJoin.of(facts(env))
                        .select("number")
                        .dimension(
                                dimension(env),
                                d -> d.on(key, key).partitioned().select("number AS row"))
                        .toRows();
        assertThat(collect(results)).isEqualTo(matching());
        assertThat(rowsPruned()).isGreaterThan(before);
    }
}
