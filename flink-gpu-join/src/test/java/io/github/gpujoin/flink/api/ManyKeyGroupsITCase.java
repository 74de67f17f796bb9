// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs of 4096 key groups that are rescaled, with aligned and with unaligned checkpoints. */
@Timeout(180)
class ManyKeyGroupsITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(3)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int KEY_GROUPS = 4096;
    private static final int FAST = 1_000_000;

    /** A job whose sources have ended waits for one more checkpoint. */
    private static final Duration OFTEN = Duration.ofMillis(300);

    @TempDir private Path folder;

    @BeforeEach
    void reset() {
        NumbersJoin.reset();
    }

    @ParameterizedTest(name = "from {0} to {1} subtasks over {2}, encoded={3}")
    @CsvSource({
        "2, 3, flink, false",
        "3, 1, flink, true",
        "1, 2, flink, false",
        "2, 3, shm, false",
        "3, 2, shm, true"
    })
    void shouldGiveEveryResultOnceWhenRescaledFromASavepoint(
            int from,
            int to,
            String transport,
            boolean encoded,
            @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        long chunksBefore = chunksOfFacts();
        Configuration config = config(false);
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.ENCODE_NETWORK, encoded);
        JobClient job = start(config, from, 1, FAST, OFTEN);
        CommonTestUtils.waitForAllTaskRunning(cluster, job.getJobID(), true);
        awaitResults(job, 2_000);
        String savepoint =
                job.stopWithSavepoint(
                                false, folder.toUri().toString(), SavepointFormatType.CANONICAL)
                        .get(60, TimeUnit.SECONDS);
        assertThat(NumbersJoin.results()).hasSizeLessThan(2 * NumbersJoin.FACTS);
        config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        start(config, to, FAST, FAST, OFTEN).getJobExecutionResult().get();

        assertThat(sorted(NumbersJoin.results())).isEqualTo(expected());
        // One chunk for each key group and flush interval would be many more.
        assertThat(chunksOfFacts() - chunksBefore).isLessThan(NumbersJoin.FACTS / 8);
    }

    @ParameterizedTest(name = "from {0} to {1} subtasks, unaligned={2}, encoded={3}")
    @CsvSource({"2, 3, true, false", "3, 1, true, true", "2, 3, false, false"})
    void shouldLoseNothingWhenRescaledFromACheckpointAmidBackpressure(
            int from,
            int to,
            boolean unaligned,
            boolean encoded,
            @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        Configuration config = config(unaligned);
        config.set(GpuJoinOptions.ENCODE_NETWORK, encoded);
        JobClient job = start(config, from, 10, 4, Duration.ofHours(1));
        CommonTestUtils.waitForAllTaskRunning(cluster, job.getJobID(), true);
        awaitResults(job, 2_000);
        checkpoint(job, cluster);
        String checkpoint =
                cluster.getExecutionGraph(job.getJobID())
                        .get(60, TimeUnit.SECONDS)
                        .getCheckpointStatsSnapshot()
                        .getHistory()
                        .getLatestCompletedCheckpoint()
                        .getExternalPath();
        cancel(job);
        int before = NumbersJoin.results().size();
        config.set(StateRecoveryOptions.SAVEPOINT_PATH, checkpoint);
        start(config, to, FAST, FAST, OFTEN).getJobExecutionResult().get();

        // The sink takes part in no transaction: results behind the checkpoint come again.
        List<String> results = NumbersJoin.results();
        assertThat(sorted(new HashSet<>(results))).isEqualTo(expected());
        assertThat(new HashSet<>(results.subList(before, results.size())))
                .hasSize(results.size() - before);
    }

    private Configuration config(boolean unaligned) {
        Configuration config = new Configuration();
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, unaligned);
        config.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        return config;
    }

    private static JobClient start(
            Configuration config,
            int parallelism,
            int factsPerPause,
            int resultsPerMs,
            Duration checkpointInterval)
            throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(parallelism);
        env.setMaxParallelism(KEY_GROUPS);
        env.enableCheckpointing(checkpointInterval.toMillis());
        NumbersJoin.define(env, factsPerPause, resultsPerMs);
        return env.executeAsync("numbers");
    }

    /** Tries again where Flink declines a checkpoint, as while a source ends. */
    private static void checkpoint(JobClient job, MiniCluster cluster) throws Exception {
        boolean isComplete = false;
        while (!isComplete) {
            try {
                cluster.triggerCheckpoint(job.getJobID(), CheckpointType.FULL)
                        .get(60, TimeUnit.SECONDS);
                isComplete = true;
            } catch (ExecutionException e) {
                assertThat(job.getJobStatus().get().isGloballyTerminalState())
                        .as("%s", e)
                        .isFalse();
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** Returns when all tasks have ended: a task that is being cancelled still emits results. */
    private static void cancel(JobClient job) throws Exception {
        job.cancel().get(60, TimeUnit.SECONDS);
        while (!job.getJobStatus().get().isGloballyTerminalState()) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private static void awaitResults(JobClient job, int count) throws Exception {
        while (NumbersJoin.results().size() < count) {
            assertThat(job.getJobStatus().get().isGloballyTerminalState()).isFalse();
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private static List<String> expected() {
        return sorted(
                NumbersJoin.expected(LongStream.range(0, NumbersJoin.FACTS).boxed().toList()));
    }

    /** Sorted lists of so many results are compared in no time, sets of them in minutes. */
    private static List<String> sorted(Collection<String> results) {
        return results.stream().sorted().toList();
    }

    private static long chunksOfFacts() {
        return METRICS.getMetricsByGroup().entrySet().stream()
                .filter(group -> group.getKey().getAllVariables().containsValue("pack facts"))
                .map(group -> group.getValue().get("chunksOut"))
                .filter(Objects::nonNull)
                .mapToLong(counter -> ((Counter) counter).getCount())
                .sum();
    }
}
