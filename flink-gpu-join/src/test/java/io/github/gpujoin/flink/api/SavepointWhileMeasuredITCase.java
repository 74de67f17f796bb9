// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A savepoint that does not stop the job, while a dimension is measured. */
@Timeout(120)
class SavepointWhileMeasuredITCase {

    private static final int PARALLELISM = 2;
    private static final InMemoryReporter METRICS = InMemoryReporter.create();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(PARALLELISM)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final AtomicBoolean SAVED = new AtomicBoolean();

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;

        public Numbered() {}
    }

    @TempDir private Path folder;

    /** Flink does not report to coordinators that such a savepoint is complete. */
    @Test
    void shouldReplicateTheDimensionBehindTheSavepoint() throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(PARALLELISM);
        env.enableCheckpointing(100);
        StarJoin.of(numbers(env, 1_000_000_000L, "facts", row -> pause(row, true)))
                .dimension(
                        numbers(env, 1_000, "rows", row -> pause(row, !SAVED.get())),
                        d -> d.on("key", "key").select("key AS match"))
                .uid("join")
                .toRows()
                .sinkTo(new DiscardingSink<>());
        JobClient job = env.executeAsync();
        save(job);
        assertThat(exchangedLocally()).isZero();
        SAVED.set(true);
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (exchangedLocally() == 0 && System.nanoTime() - deadlineNs < 0) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        assertThat(exchangedLocally()).isPositive();
        job.cancel().get(60, TimeUnit.SECONDS);
    }

    private void save(JobClient job) throws Exception {
        while (true) {
            try {
                job.triggerSavepoint(folder.toUri().toString(), SavepointFormatType.CANONICAL)
                        .get(60, TimeUnit.SECONDS);
                return;
            } catch (ExecutionException e) {
                // Some task does not run yet.
                assertThat(job.getJobExecutionResult()).isNotDone();
                TimeUnit.MILLISECONDS.sleep(50);
            }
        }
    }

    /** Barriers pass between two rows. */
    private static Numbered pause(Numbered row, boolean slow) throws InterruptedException {
        if (slow) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return row;
    }

    private static long exchangedLocally() {
        long sum = 0;
        for (Map<String, Metric> group : METRICS.getMetricsByGroup().values()) {
            if (group.get("chunksExchangedLocally") instanceof Counter count) {
                sum += count.getCount();
            }
        }
        return sum;
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env,
            long count,
            String name,
            MapFunction<Numbered, Numbered> pause) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % 100;
                            return row;
                        })
                .returns(Numbered.class)
                .map(pause)
                .returns(Numbered.class);
    }
}
