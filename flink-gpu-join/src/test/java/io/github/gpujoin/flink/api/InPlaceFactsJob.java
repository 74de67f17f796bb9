// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;

/**
 * A job whose facts arrive when the tables are complete, so that the CPU engine reads them in
 * place. Its sink is slow. One runs at a time in a process.
 */
final class InPlaceFactsJob {

    private static final int PARALLELISM = 2;
    private static final long KEYS = 1_000;
    private static final String RESULTS = "results";
    private static final String NUMBERS = "numbers";

    private static CountDownLatch tablesComplete;

    private final InMemoryReporter metrics;
    private final JobClient job;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    private InPlaceFactsJob(InMemoryReporter metrics, JobClient job) {
        this.metrics = metrics;
        this.job = job;
    }

    /**
     * Runs the job to its end, and checks its answer.
     *
     * @param metrics of the cluster
     * @param transport of chunks between subtasks
     * @param partitioned whether the dimension is partitioned, so that facts use the transport
     * @param options of job and cluster
     * @throws IllegalStateException if results are missing, repeated or wrong
     */
    static InPlaceFactsJob run(
            InMemoryReporter metrics,
            String transport,
            boolean partitioned,
            long facts,
            Configuration options)
            throws Exception {
        tablesComplete = new CountDownLatch(1);
        Configuration config = new Configuration(options);
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        InPlaceFactsJob running = new InPlaceFactsJob(metrics, start(partitioned, facts, config));
        running.awaitTables();
        tablesComplete.countDown();
        JobExecutionResult result = running.job.getJobExecutionResult().get();
        requireEqual(RESULTS, result, facts);
        requireEqual(NUMBERS, result, facts * (facts - 1) / 2);
        return running;
    }

    private static void requireEqual(String name, JobExecutionResult result, long expected) {
        long found = result.getAccumulatorResult(name);
        if (found != expected) {
            throw new IllegalStateException(
                    "Wrong answer: sum of=%s, expected=%d, found=%d"
                            .formatted(name, expected, found));
        }
    }

    private static JobClient start(boolean partitioned, long facts, Configuration config)
            throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        StarJoin.of(numbers(env, facts).map(new AwaitTables()))
                .select("number")
                .dimension(
                        numbers(env, KEYS),
                        d -> {
                            d.on("key", "key").select("number AS matched");
                            if (partitioned) {
                                d.partitioned();
                            }
                        })
                .uid("in-place")
                .toRows()
                .rebalance()
                .filter(new SlowCheck())
                .sinkTo(new DiscardingSink<>());
        return env.executeAsync();
    }

    private static DataStream<Numbered> numbers(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .map(InPlaceFactsJob::numbered)
                .returns(TypeInformation.of(Numbered.class));
    }

    private static Numbered numbered(long number) {
        Numbered row = new Numbered();
        row.key = number % KEYS;
        row.number = number;
        return row;
    }

    private void awaitTables() throws Exception {
        CompletableFuture<JobExecutionResult> result = job.getJobExecutionResult();
        while (metrics("buildProgress").stream().filter(InPlaceFactsJob::isOne).count()
                < PARALLELISM) {
            if (result.isDone()) {
                result.get(); // the job has failed
            }
            Thread.sleep(200);
        }
    }

    private static boolean isOne(Metric progress) {
        return ((Number) ((Gauge<?>) progress).getValue()).doubleValue() == 1;
    }

    private Collection<Metric> metrics(String name) {
        return metrics.findMetrics(job.getJobID(), ".*\\." + name).values();
    }

    /** Returns a gauge, summed over subtasks. */
    long sum(String gauge) {
        return metrics(gauge).stream()
                .mapToLong(metric -> ((Number) ((Gauge<?>) metric).getValue()).longValue())
                .sum();
    }

    /** Returns a gauge, by subtask. */
    List<Long> values(String gauge) {
        return metrics(gauge).stream()
                .map(metric -> ((Number) ((Gauge<?>) metric).getValue()).longValue())
                .toList();
    }

    /** Returns a counter, summed over subtasks. */
    long count(String counter) {
        return metrics(counter).stream().mapToLong(metric -> ((Counter) metric).getCount()).sum();
    }

    /** Holds the facts back until the tables are complete. */
    private static final class AwaitTables implements MapFunction<Numbered, Numbered> {

        private static final long serialVersionUID = 1L;

        @Override
        public Numbered map(Numbered fact) throws Exception {
            tablesComplete.await();
            return fact;
        }
    }

    /** Checks, counts and drops results, so slowly that the join waits for room in its output. */
    private static final class SlowCheck extends RichFilterFunction<Row> {

        private static final long serialVersionUID = 1L;

        private final LongCounter results = new LongCounter();
        private final LongCounter numbers = new LongCounter();

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator(RESULTS, results);
            getRuntimeContext().addAccumulator(NUMBERS, numbers);
        }

        @Override
        public boolean filter(Row row) {
            long number = row.<Long>getFieldAs("number");
            if (row.<Long>getFieldAs("matched") != number % KEYS) {
                throw new IllegalStateException("Wrong result: row=" + row);
            }
            results.add(1);
            numbers.add(number);
            if (results.getLocalValuePrimitive() % 1000 == 0) {
                LockSupport.parkNanos(5_000_000);
            }
            return false;
        }
    }
}
