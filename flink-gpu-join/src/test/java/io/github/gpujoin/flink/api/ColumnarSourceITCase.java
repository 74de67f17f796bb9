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
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Facts that the join takes by reference, in the chunks that their source made. */
class ColumnarSourceITCase {

    private static final int PARALLELISM = 3;

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(PARALLELISM)
                            .build());

    private static final int KEYS = 1_000;
    private static final int CHUNK_ROWS = 20;
    private static final int FACT_CHUNKS = 600;
    private static final int CHUNKS_PER_CHECKPOINT = 90;

    /** The key stands behind a column that no result has. */
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("unused", ColumnType.INT32),
                    Column.of("key", ColumnType.INT64),
                    Column.of("number", ColumnType.INT64));

    private static final ChunkSchema DIMENSION =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));

    private static final AtomicBoolean FAILED = new AtomicBoolean();

    @BeforeEach
    void reset() {
        FAILED.set(false);
    }

    @ParameterizedTest(name = "state={0}, unaligned={1}")
    @CsvSource({"hashmap,false", "hashmap,true", "rocksdb,false"})
    void shouldGiveEveryResultOnceThoughTheSourceFails(String state, boolean unaligned)
            throws Exception {
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, state);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.setString("restart-strategy.fixed-delay.delay", "10 ms");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(30);
        env.getCheckpointConfig().enableUnalignedCheckpoints(unaligned);

        long exchangedBefore = chunksExchangedLocally();
        List<String> results = new ArrayList<>();
        try (CloseableIterator<Row> rows = join(env).executeAndCollect()) {
            rows.forEachRemaining(r -> results.add(r.getField(0) + "|" + r.getField(1)));
        }

        List<String> expected = new ArrayList<>();
        for (long number = 0; number < (long) FACT_CHUNKS * CHUNK_ROWS; number++) {
            expected.add(number + "|" + (number % KEYS + 7));
        }
        results.sort(null);
        expected.sort(null);
        assertThat(FAILED).isTrue();
        assertThat(chunksExchangedLocally()).isGreaterThan(exchangedBefore);
        assertThat(results).isEqualTo(expected);
    }

    private static long chunksExchangedLocally() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("chunksExchangedLocally"))
                .filter(Objects::nonNull)
                .mapToLong(counter -> ((Counter) counter).getCount())
                .sum();
    }

    private static DataStream<Row> join(StreamExecutionEnvironment env) {
        DataStream<Chunk> facts =
                chunks(
                        env,
                        "facts",
                        FACTS,
                        FACT_CHUNKS,
                        RateLimiterStrategy.perCheckpoint(CHUNKS_PER_CHECKPOINT),
                        new FailingFacts());
        DataStream<Chunk> dimension =
                chunks(
                        env,
                        "dimension",
                        DIMENSION,
                        KEYS / CHUNK_ROWS,
                        RateLimiterStrategy.noOp(),
                        ColumnarSourceITCase::dimensionChunk);
        return StarJoin.ofChunks(facts)
                .select("number")
                .dimensionChunks(dimension, d -> d.on("key", "key").select("value"))
                .uid("join")
                .toRows();
    }

    private static DataStream<Chunk> chunks(
            StreamExecutionEnvironment env,
            String name,
            ChunkSchema schema,
            long count,
            RateLimiterStrategy<?> rate,
            GeneratorFunction<Long, Chunk> maker) {
        ChunkTypeInfo type = ChunkTypeInfo.of(schema);
        return env.fromSource(
                new DataGeneratorSource<>(maker, count, rate, type),
                WatermarkStrategy.noWatermarks(),
                name,
                type);
    }

    private static Chunk dimensionChunk(long index) {
        ChunkBuilder builder = new ChunkBuilder(DIMENSION, CHUNK_ROWS * 16);
        for (long key = index * CHUNK_ROWS; key < (index + 1) * CHUNK_ROWS; key++) {
            builder.putLong(0, key);
            builder.putLong(1, key + 7);
            builder.endRow();
        }
        return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, index);
    }

    /** Fails once, when checkpoints have let so many chunks go that two of them are complete. */
    private static final class FailingFacts implements GeneratorFunction<Long, Chunk> {

        private static final long serialVersionUID = 1L;

        private int made;

        @Override
        public Chunk map(Long index) {
            if (++made > 2 * CHUNKS_PER_CHECKPOINT / PARALLELISM
                    && FAILED.compareAndSet(false, true)) {
                throw new IllegalStateException("a failure to recover from");
            }
            ChunkBuilder builder = new ChunkBuilder(FACTS, CHUNK_ROWS * 20);
            for (int row = 0; row < CHUNK_ROWS; row++) {
                long number = index * CHUNK_ROWS + row;
                builder.putInt(0, row);
                builder.putLong(1, number % KEYS);
                builder.putLong(2, number);
                builder.endRow();
            }
            // A foreign header: the partition of a chunk of a user's source means nothing to us.
            return builder.seal(0, index.intValue(), 5, index);
        }
    }
}
