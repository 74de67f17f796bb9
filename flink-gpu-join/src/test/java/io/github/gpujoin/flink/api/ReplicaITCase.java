// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicated dimensions in checkpoints and after restores. */
@Timeout(120)
class ReplicaITCase {

    private static final int PARALLELISM = 4;
    private static final int ROWS = 100_000;
    private static final int FACTS = 4_000;
    private static final int NEVER = Integer.MAX_VALUE;

    /** INT64 number, which no encoding shortens. The sequence of keys takes next to nothing. */
    private static final long ROW_BYTES = 8;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(2)
                            .setNumberSlotsPerTaskManager(PARALLELISM / 2)
                            .build());

    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();
    private static final AtomicBoolean FAILED = new AtomicBoolean();

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @BeforeEach
    void reset() {
        CHECKPOINTS.set(0);
        FAILED.set(false);
    }

    @Test
    void shouldHoldOneCopyOfADimensionInACheckpoint(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        StreamExecutionEnvironment env = environment("hashmap");
        join(env, ROWS, 1_000_000_000, NEVER).uid("join").toRows().sinkTo(new DiscardingSink<>());
        JobClient job = env.executeAsync();
        try {
            CompletedCheckpointStats last = null;
            while (last == null || last.getStateSize() < ROWS * ROW_BYTES) {
                assertThat(job.getJobExecutionResult()).isNotDone();
                TimeUnit.MILLISECONDS.sleep(20);
                last =
                        cluster.getExecutionGraph(job.getJobID())
                                .get()
                                .getCheckpointStatsSnapshot()
                                .getHistory()
                                .getLatestCompletedCheckpoint();
            }
            assertThat(last.getStateSize()).isLessThan(2 * ROWS * ROW_BYTES);
        } finally {
            job.cancel().get();
        }
    }

    /** Subtasks whose facts end early would take their part of the dimension with them. */
    @ParameterizedTest
    @ValueSource(strings = {"hashmap", "rocksdb"})
    void shouldKeepTheDimensionWhenFactsOfSomeSubtasksHaveEnded(String backend) throws Exception {
        StreamExecutionEnvironment env = environment(backend);
        List<Long> results = new ArrayList<>();
        try (CloseableIterator<Row> rows =
                join(env, 1_000, FACTS, FACTS / PARALLELISM / 2)
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            rows.forEachRemaining(row -> results.add((Long) row.getField(0)));
        }
        assertThat(FAILED).isTrue();
        List<Long> expected = new ArrayList<>();
        for (long fact = 0; fact < FACTS; fact++) {
            expected.add(fact);
        }
        results.sort(null);
        assertThat(results).isEqualTo(expected);
    }

    /** A version stream may outlive the facts, which then wait for its watermark. */
    @Test
    void shouldKeepTheDimensionWhileFactsThatHaveEndedWaitForVersions() throws Exception {
        StreamExecutionEnvironment env = environment("hashmap");
        List<Row> results = new ArrayList<>();
        try (CloseableIterator<Row> rows =
                StarJoin.of(timed(env, new LastFact(), "key", "number"))
                        .select("number")
                        .dimension(
                                numbers(env, 1_000, "dimension", 1_000),
                                d -> d.on("key", "key").select("number AS match").replicated())
                        .dimension(
                                timed(env, new SlowDimension(), "key", "price"),
                                d -> d.on("key", "key").select("price").versioned())
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            rows.forEachRemaining(results::add);
        }
        assertThat(FAILED).isTrue();
        assertThat(results).containsExactly(Row.of(1L, 7L, 100L));
    }

    @Test
    void shouldKeepTheDimensionWhileFactsThatHaveEndedWaitForThePartitionedDimension()
            throws Exception {
        StreamExecutionEnvironment env = environment("hashmap");
        List<Row> results = new ArrayList<>();
        try (CloseableIterator<Row> rows =
                StarJoin.of(timed(env, new LastFact(), "key", "number"))
                        .select("number")
                        .dimension(
                                numbers(env, 1_000, "dimension", 1_000),
                                d -> d.on("key", "key").select("number AS match").replicated())
                        .dimension(
                                timed(env, new SlowDimension(), "key", "price"),
                                d ->
                                        d.on("key", "key")
                                                .select("price")
                                                .partitioned()
                                                .completeAtWatermark(200))
                        .uid("join")
                        .toRows()
                        .executeAndCollect()) {
            rows.forEachRemaining(results::add);
        }
        assertThat(FAILED).isTrue();
        assertThat(results).containsExactly(Row.of(1L, 7L, 100L));
    }

    private static StreamExecutionEnvironment environment(String backend) {
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, backend);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        config.set(GpuJoinOptions.CHUNK_BYTES, new MemorySize(4 << 10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(50);
        return env;
    }

    /**
     * @param failAfter facts of the slow subtask; {@link #NEVER} to have all facts come slowly
     */
    private static StarJoin<Numbered> join(
            StreamExecutionEnvironment env, int rows, long facts, int failAfter) {
        DataStream<Numbered> probe =
                numbers(env, facts, "facts", rows)
                        .map(new SlowSubtask(failAfter))
                        .returns(Numbered.class);
        return StarJoin.of(probe)
                .select("number")
                .dimension(
                        numbers(env, rows, "dimension", rows)
                                .map(ReplicaITCase::withRandomNumber)
                                .returns(Numbered.class),
                        d -> d.on("key", "key").select("number AS match").replicated());
    }

    private static Numbered withRandomNumber(Numbered row) {
        row.number = new Random(row.key).nextLong();
        return row;
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

    private static DataStream<Row> timed(
            StreamExecutionEnvironment env, SourceFunction<Row> source, String... columns) {
        return env.addSource(source, columns[1], Types.ROW_NAMED(columns, Types.LONG, Types.LONG));
    }

    /** Ends at once. */
    private static final class LastFact implements SourceFunction<Row> {

        private static final long serialVersionUID = 1L;

        @Override
        public void run(SourceContext<Row> context) {
            if (!FAILED.get()) {
                context.collectWithTimestamp(Row.of(7L, 1L), 100);
            }
        }

        @Override
        public void cancel() {}
    }

    /** A dimension that fails once checkpoints cover the end of the facts, and then ends. */
    private static final class SlowDimension implements SourceFunction<Row>, CheckpointListener {

        private static final long serialVersionUID = 1L;
        private static final int CHECKPOINTS_AFTER_THE_FACTS = 12;

        private volatile boolean cancelled;

        @Override
        public void run(SourceContext<Row> context) throws Exception {
            if (FAILED.get()) {
                context.emitWatermark(new Watermark(200));
                return;
            }
            context.collectWithTimestamp(Row.of(7L, 100L), 5);
            context.emitWatermark(new Watermark(20));
            while (!cancelled) {
                if (CHECKPOINTS.get() > CHECKPOINTS_AFTER_THE_FACTS) {
                    FAILED.set(true);
                    throw new IllegalStateException("a failure to recover from");
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            CHECKPOINTS.incrementAndGet();
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /**
     * The subtask that reads the first split pauses in the middle, until checkpoints cover that the
     * others have ended, and then fails once.
     */
    private static final class SlowSubtask extends RichMapFunction<Numbered, Numbered>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;
        private static final int CHECKPOINTS_AFTER_THE_OTHERS = 12;

        private final int failAfter;
        private int records;

        SlowSubtask(int failAfter) {
            this.failAfter = failAfter;
        }

        @Override
        public Numbered map(Numbered row) throws Exception {
            if (failAfter == NEVER) {
                Thread.sleep(1);
                return row;
            }
            boolean slow = row.number < FACTS / PARALLELISM;
            if (slow && !FAILED.get() && ++records > failAfter) {
                if (CHECKPOINTS.get() > CHECKPOINTS_AFTER_THE_OTHERS
                        && FAILED.compareAndSet(false, true)) {
                    throw new IllegalStateException("a failure to recover from");
                }
                // Barriers pass between two records, never inside one.
                Thread.sleep(20);
            }
            return row;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (records > failAfter) {
                CHECKPOINTS.incrementAndGet();
            }
        }
    }
}
