// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A Flink job on an embedded cluster with as many slots as threads, timed as {@link FlinkRun}
 * describes. Flink's own settings are its defaults, but for more network and managed memory than
 * its embedded cluster would take.
 *
 * <p>A task of each kind runs in every slot, each on its own thread, so a job may use more cores
 * than there are slots: to compare at n threads, give the process n cores.
 */
public final class FlinkContender implements Contender {

    private static final long GATE_TIMEOUT_S = 300;
    private static final long JOB_TIMEOUT_S = 1800;

    /** Builds a job that joins the run's tuples. */
    interface Job {
        void define(StreamExecutionEnvironment env, FlinkRun run);
    }

    private final String name;
    private final Tuples tuples;
    private final long maxProbeRows;
    private final int threads;
    private final Configuration settings;
    private final Job job;

    /**
     * @param maxProbeRows leading probe rows that a slow contender joins, rounded up to chunks
     * @param settings for this job beside the common ones
     */
    FlinkContender(
            String name,
            Tuples tuples,
            long maxProbeRows,
            int threads,
            Configuration settings,
            Job job) {
        this.name = name;
        this.tuples = tuples;
        this.maxProbeRows = maxProbeRows;
        this.threads = threads;
        this.settings = settings;
        this.job = job;
    }

    /** A job with the common settings alone. */
    FlinkContender(String name, Tuples tuples, long maxProbeRows, int threads, Job job) {
        this(name, tuples, maxProbeRows, threads, new Configuration(), job);
    }

    /**
     * Returns the same contender with sinks that count all results and add up those of every n-th
     * fact chunk; for a job with one result a fact, in order, whose sinks are chained to the join.
     */
    public FlinkContender checkingEvery(int chunks) {
        Job checked =
                (env, run) -> {
                    run.checkEvery(chunks);
                    job.define(env, run);
                };
        return new FlinkContender(name, tuples, maxProbeRows, threads, settings, checked);
    }

    public static StreamExecutionEnvironment environment(int threads, Configuration settings) {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, threads);
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, JobCluster.halfOfTheMachine());
        configuration.addAll(settings);
        return StreamExecutionEnvironment.createLocalEnvironment(threads, configuration);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measurement run() throws Exception {
        List<Chunk> timed = tuples.probe(maxProbeRows);
        try (FlinkRun run = FlinkRun.bounded(tuples, timed, threads)) {
            StreamExecutionEnvironment env = environment(threads, settings);
            job.define(env, run);
            long submittedNs = System.nanoTime();
            JobClient client = env.executeAsync(name);
            await(client, run);
            settings.getOptional(GpuJoinOptions.ENGINE)
                    .ifPresent(engine -> EngineGauges.require(client.getJobID(), engine));
            Map<String, Long> details = new TreeMap<>(RingGauges.take(client.getJobID()));
            details.put("load_ms", (run.startNs() - submittedNs) / 1_000_000);
            return new Measurement(
                    Tuples.rowCount(timed), run.elapsedNs(), run.answer(), run.expected(), details);
        }
    }

    private void await(JobClient client, FlinkRun run) throws Exception {
        CompletableFuture<?> result = client.getJobExecutionResult();
        try {
            CompletableFuture.anyOf(run.gate(), result).get(GATE_TIMEOUT_S, TimeUnit.SECONDS);
            result.get(JOB_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            client.cancel();
            throw new IllegalStateException(
                    "The job did not finish in time: contender=" + name + ", " + run.progress(), e);
        }
    }
}
