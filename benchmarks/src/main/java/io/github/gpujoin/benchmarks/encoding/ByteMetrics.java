// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.encoding;

import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Metric reporter that sums byte counts over the subtasks of all jobs since the last {@link
 * #clear}. For one job after the other of an embedded cluster in this process. Thread-safe.
 */
public final class ByteMetrics implements MetricReporter, MetricReporterFactory {

    private static final Map<String, Queue<LongSupplier>> BY_NAME = new ConcurrentHashMap<>();

    /** Adds the reporter to the configuration of a cluster. */
    static void addTo(Configuration cluster) {
        MetricOptions.forReporter(cluster, "byte-metrics")
                .set(MetricOptions.REPORTER_FACTORY_CLASS, ByteMetrics.class.getName());
    }

    /** Forgets the metrics of earlier jobs. */
    static void clear() {
        BY_NAME.clear();
    }

    /** Returns the sum of all metrics of that name. */
    static long sum(String name) {
        return BY_NAME.getOrDefault(name, new ConcurrentLinkedQueue<>()).stream()
                .mapToLong(LongSupplier::getAsLong)
                .sum();
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
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        // Operators repeat the counts of their task.
        boolean isOfOperator = group.getAllVariables().containsKey("<operator_id>");
        if (name.equals("numBytesOut") && isOfOperator) {
            return;
        }
        if (metric instanceof Counter counter) {
            add(name, counter::getCount);
        } else if (name.startsWith("logged") && metric instanceof Gauge<?> gauge) {
            add(name, () -> (Long) gauge.getValue());
        }
    }

    private static void add(String name, LongSupplier value) {
        BY_NAME.computeIfAbsent(name, added -> new ConcurrentLinkedQueue<>()).add(value);
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}
}
