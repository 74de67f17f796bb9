// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The adaptive scheduler makes coordinators anew in each restart, as a restored savepoint does. */
@Timeout(120)
class FinishedFactsITCase {

    private static final int PARALLELISM = 2;
    private static final int ROWS = 2_000;
    private static final int FACTS = 400;

    /** INT64 key and number. */
    private static final int BYTES = ROWS * 16;

    private static final int FAIL_AFTER_CHECKPOINTS = 6;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setConfiguration(
                                    new Configuration()
                                            .set(
                                                    JobManagerOptions.SCHEDULER,
                                                    JobManagerOptions.SchedulerType.Adaptive))
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(PARALLELISM)
                            .build());

    private static final AtomicBoolean FAILED = new AtomicBoolean();
    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @BeforeEach
    void reset() {
        FAILED.set(false);
        CHECKPOINTS.set(0);
    }

    /** Flink drops the state of the packers' coordinator: all facts were read. */
    @ParameterizedTest(name = "limit: {0} bytes")
    @ValueSource(ints = {BYTES - 1, BYTES / 4})
    void shouldKeepTheDistributionOfADimensionThatOutlivesTheFacts(int limit) throws Exception {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        config.set(GpuJoinOptions.CHUNK_BYTES, new MemorySize(256));
        config.set(GpuJoinOptions.REPLICATE_MAX_BYTES, new MemorySize(limit));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(50);
        List<Long> results = new ArrayList<>();
        try (CloseableIterator<Row> rows =
                StarJoin.of(numbers(env, FACTS, "facts"))
                        .select("number")
                        .dimension(
                                numbers(env, ROWS, "rows")
                                        .map(new FailsInTheMiddle())
                                        .returns(Numbered.class),
                                d -> d.named("first").on("key", "key").select("number AS match"))
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            rows.forEachRemaining(row -> results.add((Long) row.getField(0)));
        }
        assertThat(FAILED).isTrue();
        results.sort(null);
        assertThat(results).isEqualTo(LongStream.range(0, FACTS).boxed().toList());
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, long count, String name) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n;
                            row.number = n;
                            return row;
                        })
                .returns(Numbered.class);
    }

    /** The subtask with the first number pauses after half of its records until it fails. */
    private static final class FailsInTheMiddle extends RichMapFunction<Numbered, Numbered>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        private int records;

        @Override
        public Numbered map(Numbered row) throws Exception {
            boolean first = row.number < ROWS / PARALLELISM;
            if (first && !FAILED.get() && ++records > ROWS / PARALLELISM / 2) {
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
            if (records > ROWS / PARALLELISM / 2) {
                CHECKPOINTS.incrementAndGet();
            }
        }
    }
}
