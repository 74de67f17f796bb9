// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.kernels.gpu.GridMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/** Four subtasks in two TaskManagers load a dimension; most rows have one key. */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class GlobalHistogramITCase {

    private static final int TASK_MANAGERS = 2;
    private static final int PARALLELISM = 4;
    private static final int KEYS = 1_000;
    private static final int HEAVY_ROWS = 4_000;
    private static final int FACTS = 3_000;

    private static final InMemoryReporter REPORTER = InMemoryReporter.create();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setConfiguration(REPORTER.addToConfiguration(new Configuration()))
                            .setNumberTaskManagers(TASK_MANAGERS)
                            .setNumberSlotsPerTaskManager(PARALLELISM / TASK_MANAGERS)
                            .build());

    @RegisterExtension
    final LoggerAuditingExtension coordinator =
            new LoggerAuditingExtension(
                    "io.github.gpujoin.flink.runtime.histogram.HistogramExchange", Level.INFO);

    private static volatile CountDownLatch histogramArrived;
    private static final AtomicBoolean MUST_FAIL = new AtomicBoolean();

    @BeforeEach
    void reset() {
        histogramArrived = new CountDownLatch(1);
        MUST_FAIL.set(false);
    }

    /** Facts arrive after the histogram. Then the job may fail once. */
    private static DataStream<Row> facts(StreamExecutionEnvironment env) {
        return numbers(env, FACTS)
                .map(
                        n -> {
                            histogramArrived.await();
                            if (MUST_FAIL.compareAndSet(true, false)) {
                                histogramArrived = new CountDownLatch(1);
                                throw new IllegalStateException("The job fails once.");
                            }
                            return Row.of(1 + n % (2 * KEYS), n);
                        })
                .returns(Types.ROW_NAMED(new String[] {"key", "number"}, Types.LONG, Types.LONG));
    }

    /** Keys from 1 have one row; key 0 has all others. */
    private static DataStream<Row> dimension(StreamExecutionEnvironment env) {
        return numbers(env, KEYS + HEAVY_ROWS)
                .map(n -> Row.of(n <= KEYS ? n : 0L, n))
                .returns(Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG));
    }

    private static DataStream<Long> numbers(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                new NumberSequenceSource(0, count - 1),
                WatermarkStrategy.noWatermarks(),
                "numbers");
    }

    private static StreamExecutionEnvironment environment(GridMode grid) {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.GPU_GRID, grid);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        // The first checkpoint begins after the histogram has arrived: Flink holds the
        // coordinator's events until the barrier is there, which the waiting facts prevent.
        env.enableCheckpointing(2_000);
        env.getCheckpointConfig().setMinPauseBetweenCheckpoints(1_500);
        return env;
    }

    /** Joins and returns the sorted numbers of facts with a match. */
    private List<Long> run(GridMode grid, int attempts) throws Exception {
        StreamExecutionEnvironment env = environment(grid);
        DataStream<Row> joined =
                StarJoin.of(facts(env))
                        .select("number")
                        .dimension(
                                dimension(env),
                                d -> d.named("d").on("key", "key").partitioned().select("value"))
                        .uid("join")
                        .toRows();
        List<Long> results = new ArrayList<>();
        try (CloseableIterator<Row> rows = joined.collectAsync()) {
            JobClient job = env.executeAsync();
            for (int attempt = 1; attempt <= attempts; attempt++) {
                CountDownLatch ofAttempt = histogramArrived;
                awaitHistogram(job.getJobID(), attempt);
                MUST_FAIL.set(attempt < attempts);
                ofAttempt.countDown();
                while (attempt < attempts && histogramArrived == ofAttempt) {
                    Thread.sleep(10);
                }
            }
            rows.forEachRemaining(row -> results.add((Long) row.getField(0)));
        }
        results.sort(null);
        return results;
    }

    /** Waits until each subtask of an attempt knows its share. */
    private void awaitHistogram(JobID job, int attempt) throws InterruptedException {
        while (true) {
            List<Double> shares = shares(job);
            if (coordinator.getMessages().size() == attempt
                    && shares.size() == PARALLELISM
                    && shares.stream().allMatch(share -> share > 0)) {
                assertThat(shares.stream().mapToDouble(share -> share).sum())
                        .as("1 in each TaskManager: %s", shares)
                        .isCloseTo(TASK_MANAGERS, within(1e-9));
                assertThat(shares).anyMatch(share -> share > 0.8);
                return;
            }
            Thread.sleep(10);
        }
    }

    private static List<Double> shares(JobID job) {
        Collection<?> gauges = REPORTER.findMetrics(job, ".*gpuJoin.buildShare").values();
        return gauges.stream().map(gauge -> (Double) ((Gauge<?>) gauge).getValue()).toList();
    }

    private static List<Long> expected() {
        List<Long> expected = new ArrayList<>();
        for (long n = 0; n < FACTS; n++) {
            if (1 + n % (2 * KEYS) <= KEYS) {
                expected.add(n);
            }
        }
        return expected;
    }

    private static final String SUMS =
            "global histogram of 4 subtasks in 2 TaskManagers: rows=5000, ";

    @ParameterizedTest
    @EnumSource
    void shouldTellEachSubtaskItsShareOfItsTaskManager(GridMode grid) throws Exception {
        assertThat(run(grid, 1)).isEqualTo(expected());
        assertThat(coordinator.getMessages()).hasSize(1).first().asString().contains(SUMS);
    }

    @Test
    void shouldExchangeHistogramsAgainAfterARestart() throws Exception {
        assertThat(run(GridMode.HISTOGRAM, 2)).isEqualTo(expected());
        assertThat(coordinator.getMessages())
                .hasSize(2)
                .allMatch(message -> message.contains(SUMS));
    }
}
