// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Metric reporter that records the engine of each join, so that no figure is measured on an engine
 * other than the one it names. It reads the gauges after the job ended, so it sees a fallback. For
 * jobs of an embedded cluster in this process. Thread-safe.
 */
public final class EngineGauges implements MetricReporter, MetricReporterFactory {

    private static final String METRIC = "gpuJoin.engine";
    private static final String JOB = "<job_id>";
    private static final Map<String, Queue<Gauge<?>>> OF_JOBS = new ConcurrentHashMap<>();

    /** Adds the reporter to the configuration of a cluster, which {@link #require} needs. */
    static void addTo(Configuration cluster) {
        MetricOptions.forReporter(cluster, "engine-gauges")
                .set(MetricOptions.REPORTER_FACTORY_CLASS, EngineGauges.class.getName());
    }

    /**
     * Checks the engine of all subtasks of a job, and forgets the job.
     *
     * @throws IllegalStateException if a subtask ended with another engine, or none reported one
     */
    static void require(JobID job, GpuJoinOptions.Engine engine) {
        Queue<Gauge<?>> gauges = OF_JOBS.remove(job.toString());
        String name = engine.name().toLowerCase(Locale.ROOT);
        TreeSet<String> names = new TreeSet<>();
        if (gauges != null) {
            gauges.forEach(gauge -> names.add(String.valueOf(gauge.getValue())));
        }
        if (names.size() != 1 || !names.contains(name)) {
            throw new IllegalStateException(
                    "The join did not run on the engine of its case: engine="
                            + name
                            + ", engines="
                            + names);
        }
    }

    @Override
    public MetricReporter createMetricReporter(Properties properties) {
        return this;
    }

    @Override
    public void open(MetricConfig config) {}

    @Override
    public void close() {}

    @Override
    public void notifyOfAddedMetric(Metric metric, String metricName, MetricGroup group) {
        String job = group.getAllVariables().get(JOB);
        if (job != null
                && metric instanceof Gauge<?> gauge
                && group.getMetricIdentifier(metricName).endsWith(METRIC)) {
            OF_JOBS.computeIfAbsent(job, id -> new ConcurrentLinkedQueue<>()).add(gauge);
        }
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String metricName, MetricGroup group) {}
}
