// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobSubmissionResult;
import org.apache.flink.api.dag.Pipeline;
import org.apache.flink.client.deployment.executors.PipelineExecutorUtils;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.PipelineExecutor;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient.JobFinalizationBehavior;
import org.apache.flink.streaming.api.graph.StreamGraph;

/**
 * Submits jobs to a cluster in this process by method calls. The REST client would upload each job,
 * and poll for its end.
 */
final class EmbeddedExecutor
        implements PipelineExecutorServiceLoader, PipelineExecutorFactory, PipelineExecutor {

    static final String NAME = "embedded";

    private final MiniCluster cluster;

    EmbeddedExecutor(MiniCluster cluster) {
        this.cluster = cluster;
    }

    @Override
    public PipelineExecutorFactory getExecutorFactory(Configuration configuration) {
        return this;
    }

    @Override
    public Stream<String> getExecutorNames() {
        return Stream.of(NAME);
    }

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public boolean isCompatibleWith(Configuration configuration) {
        return true;
    }

    @Override
    public PipelineExecutor getExecutor(Configuration configuration) {
        return this;
    }

    @Override
    public CompletableFuture<JobClient> execute(
            Pipeline pipeline, Configuration configuration, ClassLoader userClasses)
            throws Exception {
        StreamGraph job = PipelineExecutorUtils.getStreamGraph(pipeline, configuration);
        job.serializeUserDefinedInstances();
        return cluster.submitJob(job)
                .thenApply(JobSubmissionResult::getJobID)
                .thenApply(
                        id ->
                                new MiniClusterJobClient(
                                        id, cluster, userClasses, JobFinalizationBehavior.NOTHING));
    }
}
