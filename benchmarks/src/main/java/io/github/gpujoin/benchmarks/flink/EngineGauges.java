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
 * Remembers which engine each join says that it has, so that no figure is taken of another one than
 * its name says. A gauge can be read when its job is over, and tells the engine of its end. For
 * jobs of an embedded cluster. Thread-safe.
 */
public final class EngineGauges implements MetricReporter, MetricReporterFactory {

    private static final String METRIC = "gpuJoin.engine";
    private static final String JOB = "<job_id>";
    private static final Map<String, Queue<Gauge<?>>> OF_JOBS = new ConcurrentHashMap<>();

    /** Sets a job's cluster up so that {@link #require} can be asked. */
    static void addTo(Configuration cluster) {
        MetricOptions.forReporter(cluster, "engine-gauges")
                .set(MetricOptions.REPORTER_FACTORY_CLASS, EngineGauges.class.getName());
    }

    /**
     * Forgets a job.
     *
     * @throws IllegalStateException where a subtask's join ended with another engine
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
