// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.metrics.reporter.Scheduled;

/**
 * Metric reporter that sums the metrics of rings over all subtasks of a job. Gauges are those of
 * the moment with the largest sum, since rings close before the job ends. For jobs of an embedded
 * cluster in this process. Thread-safe.
 */
public final class RingGauges implements MetricReporter, MetricReporterFactory, Scheduled {

    private static final String JOB = "<job_id>";
    private static final Duration INTERVAL = Duration.ofMillis(100);
    private static final Map<String, OfJob> OF_JOBS = new ConcurrentHashMap<>();

    /** The metrics of a job. */
    private static final class OfJob {

        private final Map<Gauge<?>, String> gauges = new ConcurrentHashMap<>();
        private final Map<Counter, String> counters = new ConcurrentHashMap<>();
        private final Map<String, AtomicLong> largest = new ConcurrentHashMap<>();

        void sample() {
            Map<String, Long> sums = new TreeMap<>();
            gauges.forEach(
                    (gauge, name) ->
                            sums.merge(name, ((Number) gauge.getValue()).longValue(), Long::sum));
            sums.forEach(
                    (name, sum) ->
                            largest.computeIfAbsent(name, key -> new AtomicLong())
                                    .accumulateAndGet(sum, Math::max));
        }

        long largest(String name) {
            return largest.getOrDefault(name, new AtomicLong()).get();
        }

        long count(String name) {
            return counters.entrySet().stream()
                    .filter(counter -> counter.getValue().equals(name))
                    .mapToLong(counter -> counter.getKey().getCount())
                    .sum();
        }
    }

    /** Adds the reporter to the configuration of a cluster. */
    static void addTo(Configuration cluster) {
        MetricOptions.forReporter(cluster, "ring-gauges")
                .set(MetricOptions.REPORTER_FACTORY_CLASS, RingGauges.class.getName())
                .set(MetricOptions.REPORTER_INTERVAL, INTERVAL);
    }

    /**
     * Returns the figures of a job, and forgets it; none if its cluster has no such reporter.
     *
     * <ul>
     *   <li>{@code rings}, {@code ring_kib}: the most that were open and reserved at once
     *   <li>{@code ring_chunks}, {@code ring_chunk_bytes}: chunks in slots, and their mean length
     *   <li>{@code inline_chunks}: chunks through Flink's channels
     *   <li>{@code shared_slots}, {@code shared_chunks}: slots of shared rings, and chunks in them
     * </ul>
     */
    static Map<String, Long> take(JobID job) {
        OfJob metrics = OF_JOBS.remove(job.toString());
        if (metrics == null) {
            return Map.of();
        }
        metrics.sample();
        long chunks = metrics.count("chunksThroughRings");
        Map<String, Long> figures = new TreeMap<>();
        figures.put("rings", metrics.largest("openRings"));
        figures.put("ring_kib", metrics.largest("ringBytes") >> 10);
        figures.put("ring_chunks", chunks);
        figures.put("ring_chunk_bytes", metrics.count("bytesThroughRings") / Math.max(1, chunks));
        figures.put("inline_chunks", metrics.count("chunksInline"));
        figures.put("shared_slots", metrics.count("slotsOfSharedRings"));
        figures.put("shared_chunks", metrics.count("chunksThroughSharedRings"));
        return figures;
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
    public void report() {
        OF_JOBS.values().forEach(OfJob::sample);
    }

    @Override
    public void notifyOfAddedMetric(Metric metric, String metricName, MetricGroup group) {
        String job = group.getAllVariables().get(JOB);
        if (job == null) {
            return;
        }
        OfJob metrics = OF_JOBS.computeIfAbsent(job, id -> new OfJob());
        switch (metricName) {
            case "openRings", "ringBytes" -> metrics.gauges.put((Gauge<?>) metric, metricName);
            case "chunksThroughRings",
                    "bytesThroughRings",
                    "chunksInline",
                    "slotsOfSharedRings",
                    "chunksThroughSharedRings" ->
                    metrics.counters.put((Counter) metric, metricName);
            default -> {
                // of no rings
            }
        }
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String metricName, MetricGroup group) {}
}
