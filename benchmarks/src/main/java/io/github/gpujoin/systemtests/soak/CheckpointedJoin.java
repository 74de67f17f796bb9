// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import io.github.gpujoin.benchmarks.flink.FlinkRun;
import io.github.gpujoin.benchmarks.flink.Sinks;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.flink.TupleSource;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.examples.run.JobCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsCounts;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * The columnar star join on a cluster of this process, with its state in RocksDB and incremental
 * checkpoints in a folder.
 *
 * <p>Every method that waits fails after 600 s, with an {@link IllegalStateException} or a {@link
 * TimeoutException}. Not thread-safe. Closing cancels the job and stops the cluster; the
 * checkpoints stay in the folder.
 */
public final class CheckpointedJoin implements EndlessJob {

    /** Interval of jobs whose checkpoints are triggered only by {@link #checkpoint()}. */
    private static final Duration NEVER = Duration.ofDays(365);

    private static final long TIMEOUT_S = 600;

    /** RocksDB's memory of all slots together. */
    private static final MemorySize ROCKSDB_MEMORY = MemorySize.ofMebiBytes(512);

    private static final int MAX_ATTEMPTS = 20;
    private static final long RETRY_MS = 200;

    private final FlinkRun run;
    private final MiniCluster cluster;
    private final JobID job;
    private final CompletableFuture<JobExecutionResult> result;
    private final long submittedNs;

    /**
     * Size and location of a checkpoint.
     *
     * @param newBytes bytes that this checkpoint wrote
     * @param allBytes bytes that it refers to, including those of earlier checkpoints
     * @param path to restore from
     */
    public record Checkpoint(long newBytes, long allBytes, String path) {}

    /**
     * Settings that all jobs have in common.
     *
     * @param threads slots of the cluster, and parallelism
     * @param folder of the checkpoints
     * @param options of Flink; they override the settings of this class
     */
    public record Job(int threads, Path folder, Map<String, String> options) {

        private Configuration settings() {
            Configuration settings = new Configuration();
            settings.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
            settings.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
            settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
            settings.set(
                    CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                    ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
            settings.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(TIMEOUT_S));
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, NEVER);
            settings.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
            options.forEach(settings::setString);
            return settings;
        }
    }

    private CheckpointedJoin(FlinkRun run, MiniCluster cluster, JobGraph graph) throws Exception {
        this.run = run;
        this.cluster = cluster;
        this.job = graph.getJobID();
        this.submittedNs = System.nanoTime();
        cluster.submitJob(graph).get(TIMEOUT_S, TimeUnit.SECONDS);
        this.result =
                cluster.requestJobResult(job)
                        .thenApply(
                                done -> {
                                    try {
                                        return done.toJobExecutionResult(
                                                CheckpointedJoin.class.getClassLoader());
                                    } catch (Exception e) {
                                        throw new IllegalStateException(e);
                                    }
                                });
    }

    /**
     * Starts a join that repeats its probe side, with checkpoints at an interval.
     *
     * @param interval null for no periodic checkpoints
     */
    public static CheckpointedJoin endless(Tuples tuples, Job job, @Nullable Duration interval)
            throws Exception {
        return endless(tuples, job, interval, new Sinks(0, false, false, 1));
    }

    /** Like {@link #endless(Tuples, Job, Duration)}, with other sinks. */
    public static CheckpointedJoin endless(Tuples tuples, Job job, Duration interval, Sinks sinks)
            throws Exception {
        Configuration settings = job.settings();
        if (interval != null) {
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        }
        FlinkRun run = FlinkRun.endless(tuples, job.threads());
        run.holdSinksTo(sinks.rowsPerSecond());
        run.multiplyBuild(sinks.fanOut());
        return start(run, job, settings, env -> StarJoinJobs.toSinks(env, run, sinks));
    }

    /**
     * Starts a join whose build side is partitioned and arrives in portions, one at each {@link
     * #sendBuild}. Its probe sources send only the primes and then wait.
     */
    public static CheckpointedJoin inPortions(Tuples tuples, Job job, int portions)
            throws Exception {
        return start(
                FlinkRun.inPortions(tuples, job.threads(), portions),
                job,
                job.settings(),
                Long.MAX_VALUE);
    }

    /**
     * Starts a join of all probe tuples whose build side is restored.
     *
     * @param from checkpoint of a join of {@link #inPortions} with the same tuples
     */
    public static CheckpointedJoin restored(Tuples tuples, Job job, Checkpoint from)
            throws Exception {
        Configuration settings = job.settings();
        settings.set(StateRecoveryOptions.SAVEPOINT_PATH, from.path());
        return start(
                FlinkRun.bounded(tuples, tuples.probe(), job.threads()),
                job,
                settings,
                Long.MAX_VALUE);
    }

    private static CheckpointedJoin start(
            FlinkRun run, Job job, Configuration settings, long expectedBytes) throws Exception {
        return start(run, job, settings, env -> StarJoinJobs.columnar(env, run, expectedBytes));
    }

    private static CheckpointedJoin start(
            FlinkRun run,
            Job job,
            Configuration settings,
            Consumer<StreamExecutionEnvironment> topology)
            throws Exception {
        Configuration machine = new Configuration();
        machine.set(RestOptions.BIND_PORT, "0");
        machine.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        machine.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        machine.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, JobCluster.halfOfTheMachine());
        machine.set(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE, ROCKSDB_MEMORY.divide(job.threads()));
        MiniCluster cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(machine)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(job.threads())
                                .build());
        try {
            cluster.start();
            StreamExecutionEnvironment env = new StreamExecutionEnvironment(settings);
            env.setParallelism(job.threads());
            topology.accept(env);
            return new CheckpointedJoin(run, cluster, env.getStreamGraph().getJobGraph());
        } catch (Exception e) {
            cluster.close();
            run.close();
            throw e;
        }
    }

    /**
     * Waits until the build side is loaded and the results of all primes have arrived.
     *
     * @return nanoseconds since the submission of the job
     */
    public long awaitJoining() throws Exception {
        awaitOrFail(run.gate());
        return run.startNs() - submittedNs;
    }

    /**
     * Sends a portion of the build side, and waits until the sources have sent it.
     *
     * @param portion number from 0; send them in order
     */
    public void sendBuild(int portion) throws InterruptedException {
        if (!run.sendBuild(portion, TIMEOUT_S)) {
            throw new IllegalStateException(
                    "A build portion was not sent in time: portion=" + portion);
        }
    }

    /**
     * Takes a checkpoint after everything that was sent, with up to 20 attempts. Returns the latest
     * completed checkpoint, which may be a later one if the job also takes them periodically.
     */
    public Checkpoint checkpoint() throws Exception {
        trigger();
        CompletedCheckpointStats stats =
                cluster.getExecutionGraph(job)
                        .get(TIMEOUT_S, TimeUnit.SECONDS)
                        .getCheckpointStatsSnapshot()
                        .getHistory()
                        .getLatestCompletedCheckpoint();
        return new Checkpoint(
                stats.getCheckpointedSize(), stats.getStateSize(), stats.getExternalPath());
    }

    /** Returns the completed checkpoints in Flink's history, oldest first. */
    public List<CheckpointTrend.Sample> recentCheckpoints() throws Exception {
        return cluster
                .getExecutionGraph(job)
                .get(TIMEOUT_S, TimeUnit.SECONDS)
                .getCheckpointStatsSnapshot()
                .getHistory()
                .getCheckpoints()
                .stream()
                .filter(stats -> stats.getStatus() == CheckpointStatsStatus.COMPLETED)
                .map(CheckpointedJoin::sample)
                .sorted(Comparator.comparingLong(CheckpointTrend.Sample::id))
                .toList();
    }

    private static CheckpointTrend.Sample sample(AbstractCheckpointStats stats) {
        return new CheckpointTrend.Sample(
                stats.getCheckpointId(), stats.getStateSize(), stats.getEndToEndDuration());
    }

    /** Retries, because Flink declines a checkpoint that meets a source at its end. */
    private void trigger() throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                cluster.triggerCheckpoint(job, CheckpointType.INCREMENTAL)
                        .get(TIMEOUT_S, TimeUnit.SECONDS);
                return;
            } catch (ExecutionException e) {
                if (attempt == MAX_ATTEMPTS) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(RETRY_MS);
            }
        }
    }

    /** Returns the number of checkpoints that the job completed. */
    public long completedCheckpoints() throws Exception {
        return checkpoints().getNumberOfCompletedCheckpoints();
    }

    /** Waits until the job has completed more than this number of checkpoints. */
    public void awaitCheckpointAfter(long checkpoints) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (completedCheckpoints() <= checkpoints) {
            requireRunning();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(
                        "No checkpoint completed in time: timeoutSeconds=" + TIMEOUT_S);
            }
            TimeUnit.MILLISECONDS.sleep(RETRY_MS);
        }
    }

    /**
     * Waits until the sources of the build side have ended. Flink declines checkpoints that meet a
     * source at its end.
     */
    public void awaitBuildEnded() throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (!isBuildEnded()) {
            requireRunning();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(
                        "Sources of the build side did not end: timeoutSeconds=%d, progress=%s."
                                .formatted(TIMEOUT_S, run.progress()));
            }
            TimeUnit.MILLISECONDS.sleep(RETRY_MS);
        }
    }

    private boolean isBuildEnded() throws Exception {
        String build = "Source: " + TupleSource.Side.BUILD.name().toLowerCase(Locale.ROOT);
        for (AccessExecutionJobVertex vertex :
                cluster.getExecutionGraph(job)
                        .get(TIMEOUT_S, TimeUnit.SECONDS)
                        .getVerticesTopologically()) {
            if (vertex.getName().startsWith(build)
                    && vertex.getAggregateState() != ExecutionState.FINISHED) {
                return false;
            }
        }
        return true;
    }

    /** Returns the number of checkpoints that failed. */
    public long failedCheckpoints() throws Exception {
        return checkpoints().getNumberOfFailedCheckpoints();
    }

    private CheckpointStatsCounts checkpoints() throws Exception {
        return cluster.getExecutionGraph(job)
                .get(TIMEOUT_S, TimeUnit.SECONDS)
                .getCheckpointStatsSnapshot()
                .getCounts();
    }

    @Override
    public long resultRows() {
        return run.resultRows();
    }

    /** Waits for all results of a bounded run. Its job may still wait for a last checkpoint. */
    public JoinAnswer answer() throws Exception {
        awaitOrFail(run.allFinished());
        return run.answer();
    }

    @Override
    public void requireRunning() throws Exception {
        if (result.isDone()) {
            result.get();
            throw new IllegalStateException("The endless job ended: job=" + job);
        }
    }

    private void awaitOrFail(CompletableFuture<?> awaited) throws Exception {
        try {
            CompletableFuture.anyOf(awaited, result).get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("The job did not finish in time: " + run.progress(), e);
        }
        if (!awaited.isDone()) {
            result.get();
        }
    }

    /** Returns the bytes of the build side's tuples. */
    public static long buildBytes(Tuples tuples) {
        return tuples.buildRows() * TupleSchemas.TUPLE_BYTES;
    }

    @Override
    public void close() throws Exception {
        try (cluster) {
            if (!result.isDone()) {
                cluster.cancelJob(job).get(TIMEOUT_S, TimeUnit.SECONDS);
                result.handle((done, error) -> done).get(TIMEOUT_S, TimeUnit.SECONDS);
            }
        } finally {
            run.close();
        }
    }
}
