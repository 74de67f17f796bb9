// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.runtime.bulk.JoinThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichJoinFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.SlowTaskDetectorOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What Flink does with a job in batch mode: chosen parallelism, restarts, attempts, spilling. */
@Timeout(180)
@ExtendWith(RegionLeakExtension.class)
class BatchJobITCase {

    private static final int TASK_MANAGERS = 2;
    private static final int SLOTS = 2;
    private static final long SLOT_BYTES = 16 << 20;
    private static final long BUILD_ROWS = 2_000;
    private static final long PROBE_ROWS = 20_000;

    private static final InMemoryReporter REPORTER = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(TASK_MANAGERS)
                            .setNumberSlotsPerTaskManager(SLOTS)
                            .setConfiguration(cluster())
                            .build());

    private static Configuration cluster() {
        return REPORTER.addToConfiguration(new Configuration())
                .set(TaskManagerOptions.MANAGED_MEMORY_SIZE, new MemorySize(SLOTS * SLOT_BYTES))
                .set(
                        BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_AVG_DATA_VOLUME_PER_TASK,
                        MemorySize.parse("16kb"))
                .set(BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_DEFAULT_SOURCE_PARALLELISM, 2)
                .set(BatchExecutionOptions.SPECULATIVE_ENABLED, true)
                .set(BatchExecutionOptions.BLOCK_SLOW_NODE_DURATION, Duration.ZERO)
                .set(SlowTaskDetectorOptions.CHECK_INTERVAL, Duration.ofMillis(100))
                .set(
                        SlowTaskDetectorOptions.EXECUTION_TIME_BASELINE_LOWER_BOUND,
                        Duration.ofSeconds(2))
                .set(SlowTaskDetectorOptions.EXECUTION_TIME_BASELINE_RATIO, 0.5);
    }

    /** Attempts that have joined, {@code subtask/parallelism#attempt}. */
    private static final Set<String> ATTEMPTS = ConcurrentHashMap.newKeySet();

    private static CountDownLatch running;

    /** What the first attempt of the first subtask does after some results. */
    private enum Fault {
        NONE,
        FAIL,
        HANG
    }

    @BeforeEach
    void reset() {
        ATTEMPTS.clear();
        running = new CountDownLatch(1);
    }

    private static final class Sum extends RichJoinFunction<Long, Long, Long> {

        private static final long serialVersionUID = 1L;

        private final Fault fault;
        private long results;

        Sum(Fault fault) {
            this.fault = fault;
        }

        @Override
        public Long join(Long build, Long probe) throws Exception {
            TaskInfo task = getRuntimeContext().getTaskInfo();
            if (results == 0) {
                ATTEMPTS.add(
                        "%d/%d#%d"
                                .formatted(
                                        task.getIndexOfThisSubtask(),
                                        task.getNumberOfParallelSubtasks(),
                                        task.getAttemptNumber()));
            }
            boolean isFirst = task.getIndexOfThisSubtask() == 0 && task.getAttemptNumber() == 0;
            if (++results == 500 && isFirst) {
                running.countDown();
                switch (fault) {
                    case FAIL -> throw new IllegalStateException("Failure of the first attempt");
                    case HANG -> Thread.sleep(Duration.ofMinutes(10).toMillis());
                    case NONE -> {}
                }
            }
            return 1_000_000 * build + probe;
        }
    }

    private static Configuration batch() {
        return new Configuration().set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
    }

    private static DataStream<Long> joined(StreamExecutionEnvironment env, Fault fault) {
        return PairJoin.build(numbers(env, "build", BUILD_ROWS))
                .probe(numbers(env, "probe", PROBE_ROWS))
                .where(n -> n, Types.LONG)
                .equalTo(n -> n % (2 * BUILD_ROWS), Types.LONG)
                .apply(new Sum(fault), Types.LONG);
    }

    private static DataStream<Long> numbers(
            StreamExecutionEnvironment env, String name, long count) {
        return env.fromSource(
                new NumberSequenceSource(0, count - 1), WatermarkStrategy.noWatermarks(), name);
    }

    /** The exchange behind the join lets Flink discard results of an attempt that fails. */
    private static List<Long> collected(DataStream<Long> results) throws Exception {
        List<Long> all = new ArrayList<>();
        try (CloseableIterator<Long> each =
                results.rebalance().map(n -> n).returns(Types.LONG).executeAndCollect()) {
            each.forEachRemaining(all::add);
        }
        return all;
    }

    private static List<Long> expected() {
        return LongStream.range(0, PROBE_ROWS)
                .filter(n -> n % (2 * BUILD_ROWS) < BUILD_ROWS)
                .mapToObj(n -> 1_000_000 * (n % (2 * BUILD_ROWS)) + n)
                .toList();
    }

    @Test
    void shouldRunWithParallelismChosenAtRunTime() throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(batch());
        env.setParallelism(3); // the most that the scheduler may choose

        assertThat(collected(joined(env, Fault.NONE)))
                .containsExactlyInAnyOrderElementsOf(expected());

        assertThat(ATTEMPTS).contains("0/3#0", "1/3#0", "2/3#0");
    }

    @Test
    void shouldRunWithoutLimitOfParallelism() throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(batch());
        env.setParallelism(ExecutionConfig.PARALLELISM_DEFAULT); // as parallelism.default: -1

        assertThat(collected(joined(env, Fault.NONE)))
                .containsExactlyInAnyOrderElementsOf(expected());
    }

    @Test
    void shouldJoinAgainAfterFailure() throws Exception {
        Configuration config =
                batch().set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay")
                        .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1)
                        .set(
                                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY,
                                Duration.ofMillis(10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);

        assertThat(collected(joined(env, Fault.FAIL)))
                .containsExactlyInAnyOrderElementsOf(expected());

        assertThat(ATTEMPTS).contains("0/2#0", "0/2#1");
    }

    @Test
    void shouldReturnResultsOfOneOfSeveralAttempts() throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(batch());
        env.setParallelism(2);

        assertThat(collected(joined(env, Fault.HANG)))
                .containsExactlyInAnyOrderElementsOf(expected());

        assertThat(ATTEMPTS).contains("0/2#0", "0/2#1");
    }

    @Test
    void shouldSpillRowsThatExceedManagedMemory() throws Exception {
        long rows = 1_000_000;
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(batch());
        env.setParallelism(2);
        DataStream<Long> joined =
                PairJoin.build(numbers(env, "build", rows))
                        .probe(numbers(env, "probe", rows))
                        .where(n -> n, Types.LONG)
                        .equalTo(n -> n, Types.LONG)
                        .apply(new Sum(Fault.NONE), Types.LONG);

        long count = 0;
        JobID job;
        try (CloseableIterator<Long> counts =
                joined.map(n -> 1L)
                        .returns(Types.LONG)
                        .keyBy(n -> n)
                        .reduce(Long::sum)
                        .collectAsync()) {
            job = env.executeAsync().getJobID();
            while (counts.hasNext()) {
                count += counts.next();
            }
        }

        assertThat(count).isEqualTo(rows);
        assertThat(REPORTER.findMetrics(job, ".*gpuJoin.spilledBytes").values())
                .anySatisfy(
                        spilled -> assertThat((Long) ((Gauge<?>) spilled).getValue()).isPositive());
    }

    @Test
    void shouldCountRowsWithNullKeys() throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(
                        batch().set(GpuJoinOptions.METRICS, MetricLevel.ALL));
        env.setParallelism(2);
        DataStream<Long> joined =
                PairJoin.build(numbers(env, "build", BUILD_ROWS))
                        .probe(numbers(env, "probe", PROBE_ROWS))
                        .where(n -> n, Types.LONG)
                        .equalTo(n -> n % 2 == 0 ? n : null, Types.LONG)
                        .left()
                        .apply((build, probe) -> probe, Types.LONG);

        JobID job;
        try (CloseableIterator<Long> results = joined.collectAsync()) {
            job = env.executeAsync().getJobID();
            results.forEachRemaining(probe -> {});
        }

        assertThat(sum(job, "probeRows")).isEqualTo(PROBE_ROWS);
        assertThat(sum(job, "resultRows")).isEqualTo(PROBE_ROWS);
        assertThat(sum(job, "buildRows")).isEqualTo(BUILD_ROWS);
        assertThat(sum(job, "dimension.build.rows")).isEqualTo(BUILD_ROWS);
        assertThat(sum(job, "dimension.build.bytes")).isGreaterThan(8 * BUILD_ROWS);
    }

    private static long sum(JobID job, String metric) {
        return REPORTER.findMetrics(job, ".*gpuJoin." + metric).values().stream()
                .mapToLong(gauge -> (Long) ((Gauge<?>) gauge).getValue())
                .sum();
    }

    @Test
    void shouldReleaseEverythingWhenCancelled() throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(batch());
        env.setParallelism(2);
        // A million results for each pair of subtasks, so that the join waits for its output.
        PairJoin.build(numbers(env, "build", 30_000))
                .probe(numbers(env, "probe", 30_000))
                .where(n -> n % 4, Types.LONG)
                .equalTo(n -> n % 4, Types.LONG)
                .apply(new Sum(Fault.NONE), Types.LONG)
                .sinkTo(new DiscardingSink<>());

        JobClient job = env.executeAsync();
        assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
        job.cancel().get(20, TimeUnit.SECONDS);

        long deadlineNs = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!job.getJobStatus().get().isGloballyTerminalState()
                && System.nanoTime() - deadlineNs < 0) {
            Thread.sleep(50);
        }
        assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.CANCELED);
        JoinThreads.assertEnded();
    }
}
