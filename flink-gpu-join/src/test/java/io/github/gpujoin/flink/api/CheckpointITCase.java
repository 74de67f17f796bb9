// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints and savepoints of whole jobs, where something is in their way. */
@Timeout(120)
class CheckpointITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int FAST = 1_000_000;

    /** Of 16 bytes each; tables take some more while they are made. */
    private static final int ROWS_THAT_SPILL = 1_500_000;

    @TempDir private Path folder;

    private final List<JobClient> jobs = new ArrayList<>();

    @BeforeEach
    void reset() {
        NumbersJoin.reset();
    }

    /** A job that a failed test leaves behind would go on adding results. */
    @AfterEach
    void cancel() throws Exception {
        for (JobClient job : jobs) {
            if (!job.getJobStatus().get(60, TimeUnit.SECONDS).isGloballyTerminalState()) {
                job.cancel().get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldGoOnAfterAStopWithoutDraining(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        JobClient first = start(config(folder), 1, FAST);
        await(first, () -> NumbersJoin.results().size() > 1_000);
        awaitSteadyTasks(cluster, first);
        String savepoint = stop(first, false);
        assertThat(NumbersJoin.results()).hasSizeLessThan(2 * NumbersJoin.FACTS);

        Configuration config = config(folder);
        config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        start(config, FAST, FAST).getJobExecutionResult().get();
        assertThatAllResultsCameOnce();
    }

    @Test
    void shouldAnswerAllThatWasReadWhenItIsDrained(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        JobClient job = start(config(folder), 1, FAST);
        await(job, () -> NumbersJoin.results().size() > 1_000);
        awaitSteadyTasks(cluster, job);
        stop(job, true);
        assertThat(NumbersJoin.read()).hasSizeLessThan(NumbersJoin.FACTS);
        assertThat(NumbersJoin.results())
                .containsExactlyInAnyOrderElementsOf(NumbersJoin.expected(NumbersJoin.read()));
    }

    @Test
    void shouldCompleteCheckpointsInFlatMemoryBehindASlowSink(
            @InjectMiniCluster MiniCluster cluster) throws Exception {
        Configuration config = config(folder);
        // Aligned barriers would stand behind all that Flink's buffers hold.
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
        // What packers hold goes ahead of a barrier and, in few chunks, into Flink's buffers.
        config.setString(GpuJoinOptions.FLUSH_INTERVAL.key(), "1s");
        // The sink is the slower one, and facts last 15 s: at their end all that waits is emitted
        // in
        // one go, behind which no checkpoint completes.
        JobClient job = start(config, 2, 1);
        await(job, () -> NumbersJoin.results().size() > 4_000);
        long completed = completedCheckpoints(cluster, job);
        long openBytes = Region.openBytes();
        await(job, () -> completedCheckpoints(cluster, job) > completed + 2);
        await(job, () -> NumbersJoin.results().size() > 30_000);
        assertThat(Region.openBytes()).isLessThanOrEqualTo(openBytes + (1 << 20));
        job.getJobExecutionResult().get();
        assertThatAllResultsCameOnce();
    }

    @Test
    void shouldGoOnWhenADiskThatWasFullHasSpaceAgain(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=4k", "none", disk.toString()),
                "a small file system can be mounted");
        try {
            JobClient job = start(config(disk), 6, FAST);
            await(job, () -> hasFailedCheckpoint(cluster, job));
            assertThat(checkpoints(cluster, job).getCounts().getNumberOfCompletedCheckpoints())
                    .isZero();

            assertThat(run("mount", "-o", "remount,size=64m", disk.toString())).isTrue();
            job.getJobExecutionResult().get();
            assertThat(checkpoints(cluster, job).getCounts().getNumberOfCompletedCheckpoints())
                    .isPositive();
            assertThatAllResultsCameOnce();
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void shouldFailForWantOfSpaceForSpilledRowsAndGoOnWhenThereIsSome(
            @InjectMiniCluster MiniCluster cluster) throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=256m", "none", disk.toString()),
                "a small file system can be mounted");
        try {
            JobClient job = start(spilling(disk), 1, FAST, ROWS_THAT_SPILL);
            await(job, () -> NumbersJoin.results().size() > 1_000);
            await(job, () -> completedCheckpoints(cluster, job) > 0);

            Path others = fill(disk);
            await(job, () -> failure(cluster, job).contains("No space left on device"));
            Files.delete(others);

            job.getJobExecutionResult().get();
            // The sink takes part in no transaction: results since the last checkpoint come again.
            List<Long> facts = LongStream.range(0, NumbersJoin.FACTS).boxed().toList();
            assertThat(NumbersJoin.results().stream().distinct())
                    .containsExactlyInAnyOrderElementsOf(NumbersJoin.expected(facts));
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    /** Memory for a part of the tables, and state on that disk. */
    private Configuration spilling(Path disk) {
        Configuration config = config(folder);
        config.setString(GpuJoinOptions.CPU_MEMORY.key(), "16mb");
        config.setString(GpuJoinOptions.SPILL_DELAY.key(), "100ms");
        config.setString("state.backend.rocksdb.localdir", disk.toString());
        config.setString("state.backend.rocksdb.writebuffer.size", "256kb");
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(100));
        return config;
    }

    /** Takes all the space that a file system has left, with the file that is returned. */
    private static Path fill(Path disk) throws IOException {
        Path file = disk.resolve("of-others");
        try (OutputStream out = Files.newOutputStream(file)) {
            writeUntilFull(out, new byte[1 << 20]);
            writeUntilFull(out, new byte[4096]);
            return file;
        }
    }

    private static void writeUntilFull(OutputStream out, byte[] block) {
        try {
            while (true) {
                out.write(block);
            }
        } catch (IOException full) {
            // as was meant
        }
    }

    private static String failure(MiniCluster cluster, JobClient job) {
        try {
            ErrorInfo failure =
                    cluster.getExecutionGraph(job.getJobID())
                            .get(60, TimeUnit.SECONDS)
                            .getFailureInfo();
            return failure == null ? "" : failure.getExceptionAsString();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldEndJobWhoseClusterCheckpointsAtLeastOnce() throws Exception {
        StreamExecutionEnvironment env = environment(config(folder));
        NumbersJoin.define(env, FAST, FAST);
        env.enableCheckpointing(100, CheckpointingMode.AT_LEAST_ONCE);
        JobClient job = env.executeAsync("numbers");
        jobs.add(job);
        // Flink would restart a job with checkpoints for ever.
        assertThatThrownBy(() -> job.getJobExecutionResult().get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("Checkpointing mode AT_LEAST_ONCE would count");
    }

    @Test
    void shouldRefuseSavepointWithoutCheckpointing() throws Exception {
        Configuration config = config(folder);
        config.removeConfig(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        StreamExecutionEnvironment env = environment(config);
        NumbersJoin.define(env, 1, FAST);
        JobClient job = env.executeAsync("numbers");
        jobs.add(job);
        await(job, () -> NumbersJoin.results().size() > 1_000);
        String target = folder.toUri().toString();
        assertThatThrownBy(
                        () ->
                                job.triggerSavepoint(target, SavepointFormatType.CANONICAL)
                                        .get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("a savepoint would count dimension rows twice");
        job.getJobExecutionResult().get();
        assertThatAllResultsCameOnce();
    }

    /** The operators are the same whatever the transport, and no ring is in state. */
    @Test
    void shouldGoOnOverAnotherTransportThanThatOfTheSavepoint(
            @InjectMiniCluster MiniCluster cluster) throws Exception {
        String savepoint = null;
        for (String transport : List.of("flink", "shm", "in-process")) {
            int resultsBefore = NumbersJoin.results().size();
            JobClient job = start(restoring(savepoint, transport), 1, FAST);
            await(job, () -> NumbersJoin.results().size() > resultsBefore + 500);
            awaitSteadyTasks(cluster, job);
            savepoint = stop(job, false);
        }
        start(restoring(savepoint, "flink"), FAST, FAST).getJobExecutionResult().get();
        assertThatAllResultsCameOnce();
    }

    private Configuration restoring(String savepoint, String transport) {
        Configuration config = config(folder);
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.RING_OPEN_TIMEOUT, Duration.ofMinutes(1));
        if (savepoint != null) {
            config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        }
        return config;
    }

    private static void assertThatAllResultsCameOnce() {
        List<Long> facts = LongStream.range(0, NumbersJoin.FACTS).boxed().toList();
        List<String> missing = new ArrayList<>(NumbersJoin.expected(facts));
        List<String> tooMany = new ArrayList<>();
        Map<String, Long> left =
                missing.stream().collect(Collectors.groupingBy(r -> r, Collectors.counting()));
        for (String result : NumbersJoin.results()) {
            if (left.merge(result, -1L, Long::sum) < 0) {
                tooMany.add(result);
            }
        }
        missing.removeIf(result -> left.get(result) <= 0);
        assertThat(tooMany).as("results that came too often").isEmpty();
        assertThat(missing).as("results that did not come").isEmpty();
    }

    private JobClient start(Configuration config, int factsPerPause, int resultsPerMs)
            throws Exception {
        return start(config, factsPerPause, resultsPerMs, 2 * NumbersJoin.KEYS);
    }

    private JobClient start(
            Configuration config, int factsPerPause, int resultsPerMs, int dimensionRows)
            throws Exception {
        StreamExecutionEnvironment env = environment(config);
        env.enableCheckpointing(100);
        NumbersJoin.define(env, factsPerPause, resultsPerMs, dimensionRows);
        JobClient job = env.executeAsync("numbers");
        jobs.add(job);
        return job;
    }

    private static StreamExecutionEnvironment environment(Configuration config) {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        return env;
    }

    private String stop(JobClient job, boolean drain) throws Exception {
        return job.stopWithSavepoint(
                        drain, folder.toUri().toString(), SavepointFormatType.CANONICAL)
                .get(60, TimeUnit.SECONDS);
    }

    private static CheckpointStatsSnapshot checkpoints(MiniCluster cluster, JobClient job)
            throws Exception {
        return cluster.getExecutionGraph(job.getJobID())
                .get(60, TimeUnit.SECONDS)
                .getCheckpointStatsSnapshot();
    }

    /** One that was begun: those that are asked for before all tasks run count as failed, too. */
    private static boolean hasFailedCheckpoint(MiniCluster cluster, JobClient job) {
        try {
            return checkpoints(cluster, job).getHistory().getLatestFailedCheckpoint() != null;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static long completedCheckpoints(MiniCluster cluster, JobClient job) {
        try {
            return checkpoints(cluster, job).getCounts().getNumberOfCompletedCheckpoints();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Results may come before all tasks run, and tasks of the dimension end with the first
     * checkpoint after their input: either would decline a savepoint.
     */
    private static void awaitSteadyTasks(MiniCluster cluster, JobClient job) throws Exception {
        long completed = completedCheckpoints(cluster, job);
        await(job, () -> completedCheckpoints(cluster, job) > completed + 2);
    }

    /** Until the condition holds, or the job ends too early. */
    private static void await(JobClient job, BooleanSupplier condition) throws Exception {
        while (!condition.getAsBoolean()) {
            assertThat(job.getJobExecutionResult()).isNotDone();
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** False where the command is not there or fails. */
    private static boolean run(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private Configuration config(Path checkpoints) {
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
        config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
        config.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        config.setString(GpuJoinOptions.FLUSH_INTERVAL.key(), "10ms");
        return config;
    }
}
