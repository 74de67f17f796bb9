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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeAll;
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
class FactFiltersITCase extends FactFiltersScenario {

    private static final InMemoryReporter REPORTER = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension static final MiniClusterExtension CLUSTER = cluster(REPORTER, 1, 2);

    private static final long FACTS = 300_000;
    private static final int PACED_FACTS = 40;
    private static final int CHUNK_ROWS = 1_000;

    private static final ChunkSchema CHUNKS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32), Column.of("number", ColumnType.INT64));

    @BeforeAll
    static void readMetrics() {
        read(REPORTER);
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

    private static DataStream<Numbered> facts(StreamExecutionEnvironment env) {
        return numbered(sequence(env, FACTS))
                .map(
                        fact -> {
                            pace(fact.number);
                            return fact;
                        })
                .returns(TypeInformation.of(Numbered.class));
    }

    private static DataStream<Numbered> dimension(StreamExecutionEnvironment env) {
        return numbered(sequence(env, KEYS)).filter(row -> row.key % MATCHING == 0);
    }

    /** Returns {@link #rowsPruned} before facts that may be sent slowly until it grows. */
    private static long rowsPrunedBefore(boolean isPaced) {
        long before = pace();
        if (!isPaced) {
            stopPacing();
        }
        return before;
    }

    private static void pace(long number) throws InterruptedException {
        pace(number, FACTS, PACED_FACTS, FactFiltersScenario::isPruned);
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

    /** Sends facts until a filter drops one and a later snapshot is complete; then fails once. */
    private static final class FailOnce extends RichMapFunction<Numbered, Numbered>
            implements CheckpointListener {

        private static final int SNAPSHOTS = 2;
        private static final int PACED_FACTS = 4;

        private static final AtomicInteger SNAPSHOTS_SINCE_PRUNED = new AtomicInteger();
        private static volatile long prunedAfterRestart;

        private transient int attempt;

        @Override
        public void open(OpenContext context) {
            attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
            if (attempt == 0) {
                SNAPSHOTS_SINCE_PRUNED.set(0);
            } else {
                prunedAfterRestart = pace();
            }
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) {
            if (isPruned()) {
                SNAPSHOTS_SINCE_PRUNED.incrementAndGet();
            }
        }

        @Override
        public Numbered map(Numbered fact) throws InterruptedException {
            boolean wasPaced = isPaced();
            pace(fact.number, FACTS, PACED_FACTS, this::isEnough);
            if (attempt == 0 && wasPaced && !isPaced()) {
                throw new IllegalStateException("The first attempt fails.");
            }
            return fact;
        }

        private boolean isEnough() {
            return isPruned() && (attempt > 0 || SNAPSHOTS_SINCE_PRUNED.get() > SNAPSHOTS);
        }
    }

    /** Its rows are in the snapshot, since its source had ended. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldDropFactsWithoutAMatchInARestoredDimension(boolean isPartitioned) throws Exception {
        pace();
        StreamExecutionEnvironment env = env(true);
        env.enableCheckpointing(50);
        DataStream<Numbered> facts =
                numbered(sequence(env, FACTS))
                        .map(new FailOnce())
                        .returns(TypeInformation.of(Numbered.class));
        DataStream<Row> results =
                StarJoin.of(facts)
                        .select("number")
                        .dimension(
                                dimension(env),
                                d -> {
                                    d.on("key", "key").select("number AS row");
                                    if (isPartitioned) {
                                        d.partitioned();
                                    } else {
                                        d.replicated();
                                    }
                                })
                        .toRows();
        assertThat(collect(results)).isEqualTo(matching());
        assertThat(rowsPruned()).isGreaterThan(FailOnce.prunedAfterRestart);
    }
}
