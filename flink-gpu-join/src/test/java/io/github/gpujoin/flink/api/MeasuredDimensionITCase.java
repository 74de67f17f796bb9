// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/** Dimensions of which the job says neither that they are replicated nor that they are not. */
@Timeout(120)
class MeasuredDimensionITCase {

    private static final int PARALLELISM = 4;
    private static final int ROWS = 2_000;
    private static final int FACTS = 4_000;

    /** INT64 key and number. */
    private static final int BYTES = ROWS * 16;

    private static final int FAIL_AFTER_CHECKPOINTS = 3;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(2)
                            .setNumberSlotsPerTaskManager(PARALLELISM / 2)
                            .build());

    @RegisterExtension
    final LoggerAuditingExtension log =
            new LoggerAuditingExtension("io.github.gpujoin.flink.runtime.BuildInput", Level.INFO);

    private static final AtomicBoolean FAILED = new AtomicBoolean();
    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    /** What is slow, so that checkpoints complete meanwhile, and then fails once. */
    enum Slow {
        NOTHING,
        /** The job fails before all of the dimension is measured. */
        DIMENSION,
        /** The job fails after the decision, while facts are joined. */
        FACTS
    }

    @BeforeEach
    void reset() {
        FAILED.set(false);
        CHECKPOINTS.set(0);
    }

    @ParameterizedTest(name = "{0} bytes, slow: {1}")
    @CsvSource({
        "0, NOTHING",
        "-1, NOTHING",
        "0, DIMENSION",
        "-1, DIMENSION",
        "0, FACTS",
        "-1, FACTS",
        "-31000, DIMENSION"
    })
    void shouldReplicateUpToTheLimitAndPartitionBeyondIt(int overLimit, Slow slow)
            throws Exception {
        StreamExecutionEnvironment env = environment(BYTES + overLimit, 1);
        List<Long> results = new ArrayList<>();
        try (CloseableIterator<Row> rows =
                join(env, slow).uid("join").toRows().executeAndCollect()) {
            rows.forEachRemaining(
                    row -> {
                        results.add((Long) row.getField(0));
                        assertThat(row.getField(1)).isEqualTo((Long) row.getField(0) % ROWS);
                    });
        }
        assertThat(FAILED.get()).isEqualTo(slow != Slow.NOTHING);
        results.sort(null);
        assertThat(results).isEqualTo(LongStream.range(0, FACTS).boxed().toList());
        ReasonCode expected =
                overLimit < 0 ? ReasonCode.MEASURED_OVER_LIMIT : ReasonCode.MEASURED_WITHIN_LIMIT;
        List<String> reports =
                log.getMessages().stream().filter(line -> line.contains("as it runs")).toList();
        assertThat(reports)
                .hasSizeGreaterThanOrEqualTo(PARALLELISM)
                .allMatch(line -> line.contains(expected.name()));
    }

    @ParameterizedTest
    @EnumSource(names = {"DIMENSION", "FACTS"})
    void shouldJoinInTheMidstOfOtherDimensions(Slow slow) throws Exception {
        StreamExecutionEnvironment env = environment(BYTES - 1, 1);
        long joined = 0;
        try (CloseableIterator<Row> rows =
                join(env, slow)
                        .dimension(
                                numbers(env, 10, "small", 10),
                                d ->
                                        d.named("small")
                                                .on("key", "key")
                                                .left()
                                                .select("number AS rare"))
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            while (rows.hasNext()) {
                Row row = rows.next();
                long key = (Long) row.getField(0) % ROWS;
                assertThat(row.getField(1)).isEqualTo(key);
                assertThat(row.getField(2)).isEqualTo(key < 10 ? key : null);
                joined++;
            }
        }
        assertThat(joined).isEqualTo(FACTS);
    }

    @Test
    void shouldNameTheDimensionByWhichFactsArePartitionedIfAnotherIsTooLarge() {
        StreamExecutionEnvironment env = environment(1_000, 0);
        join(env, Slow.NOTHING)
                .dimension(
                        numbers(env, ROWS, "large", ROWS), d -> d.named("second").on("key", "key"))
                .uid("join")
                .toRows()
                .sinkTo(new DiscardingSink<>());
        assertThatThrownBy(env::execute)
                .hasStackTraceContaining("Replicated dimension too large: dimension=second")
                .hasStackTraceContaining("facts have the partitions of 'first'")
                .hasStackTraceContaining("Use .partitioned() for it");
    }

    private static StreamExecutionEnvironment environment(long limit, int restarts) {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, restarts);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        config.set(GpuJoinOptions.CHUNK_BYTES, new MemorySize(256));
        config.set(GpuJoinOptions.REPLICATE_MAX_BYTES, new MemorySize(limit));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(50);
        return env;
    }

    private static StarJoin<Numbered> join(StreamExecutionEnvironment env, Slow slow) {
        DataStream<Numbered> facts = numbers(env, FACTS, "facts", ROWS);
        DataStream<Numbered> rows = numbers(env, ROWS, "rows", ROWS);
        return StarJoin.of(slow == Slow.FACTS ? slow(facts, FACTS) : facts)
                .select("number")
                .dimension(
                        slow == Slow.DIMENSION ? slow(rows, ROWS) : rows,
                        d -> d.named("first").on("key", "key").select("number AS match"));
    }

    private static DataStream<Numbered> slow(DataStream<Numbered> rows, int count) {
        return rows.map(new FailsInTheMiddle(count)).returns(Numbered.class);
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, long count, String name, int keys) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % keys;
                            row.number = n;
                            return row;
                        })
                .returns(Numbered.class);
    }

    /** The subtask with the first number pauses after half of its records until it fails. */
    private static final class FailsInTheMiddle extends RichMapFunction<Numbered, Numbered>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        private final int count;
        private int records;

        FailsInTheMiddle(int count) {
            this.count = count;
        }

        @Override
        public Numbered map(Numbered row) throws Exception {
            boolean first = row.number < count / PARALLELISM;
            if (first && !FAILED.get() && ++records > count / PARALLELISM / 2) {
                if (CHECKPOINTS.get() > FAIL_AFTER_CHECKPOINTS) {
                    FAILED.set(true);
                    throw new IllegalStateException("a failure to recover from");
                }
                // Barriers pass between two records, never inside one.
                Thread.sleep(20);
            }
            return row;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (records > count / PARALLELISM / 2) {
                CHECKPOINTS.incrementAndGet();
            }
        }
    }
}
