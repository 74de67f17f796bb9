// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import io.github.gpujoin.etl.job.EtlPipeline;
import java.net.MalformedURLException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;

/** The job on the demo's cluster. */
final class RunningJob {

    private static final long STOP_SECONDS = 120;

    private final JobClient client;

    private RunningJob(JobClient client) {
        this.client = client;
    }

    /**
     * Submits the job.
     *
     * @param jars that the cluster loads its classes from
     */
    static RunningJob submit(
            URI cluster,
            EtlPipeline pipeline,
            List<Path> jars,
            int parallelism,
            Duration checkpointInterval)
            throws Exception {
        Configuration config = new Configuration();
        config.set(DeploymentOptions.TARGET, "remote");
        config.set(RestOptions.ADDRESS, cluster.getHost());
        config.set(RestOptions.PORT, cluster.getPort());
        config.set(PipelineOptions.CLASSPATHS, urls(jars));
        config.set(PipelineOptions.NAME, "etl");
        config.set(CoreOptions.DEFAULT_PARALLELISM, parallelism);
        config.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, checkpointInterval);
        config.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        StreamExecutionEnvironment env = new StreamExecutionEnvironment(config);
        pipeline.define(env);
        return new RunningJob(env.executeAsync("etl"));
    }

    /** All processes run on this machine, so they load the job's classes from its files. */
    private static List<String> urls(List<Path> jars) throws MalformedURLException {
        List<String> urls = new ArrayList<>();
        for (Path jar : jars) {
            urls.add(jar.toUri().toURL().toString());
        }
        return urls;
    }

    JobID id() {
        return client.getJobID();
    }

    /** Returns whether the job has failed for good. */
    boolean hasEnded() throws Exception {
        JobStatus status = client.getJobStatus().get(STOP_SECONDS, TimeUnit.SECONDS);
        return status.isGloballyTerminalState();
    }

    /** Returns why the job failed, in Flink's words. */
    String failure() throws InterruptedException, TimeoutException {
        try {
            client.getJobExecutionResult().get(STOP_SECONDS, TimeUnit.SECONDS);
            return "it ended by itself";
        } catch (ExecutionException e) {
            return ExceptionUtils.stringifyException(e.getCause());
        }
    }

    /** Stops the job after it has committed everything that it has read. */
    void stop(Path savepoints) throws Exception {
        client.stopWithSavepoint(
                        false, savepoints.toUri().toString(), SavepointFormatType.CANONICAL)
                .get(STOP_SECONDS, TimeUnit.SECONDS);
        client.getJobExecutionResult().get(STOP_SECONDS, TimeUnit.SECONDS);
    }
}
