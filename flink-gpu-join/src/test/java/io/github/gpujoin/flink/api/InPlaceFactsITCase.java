// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.Collection;
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
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs whose facts arrive when the tables are complete, so that the engine reads them in place. */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class InPlaceFactsITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int PARALLELISM = 2;
    private static final long FACTS = 300_000;
    private static final long KEYS = 1_000;
    private static final String RESULTS = "results";

    private static CountDownLatch tablesComplete;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;

        public Numbered() {}
    }

    @ParameterizedTest(name = "partitioned={0}, transport={1}")
    @CsvSource({"true,shm", "false,flink"})
    void shouldReadFactsInPlace(boolean partitioned, String transport) throws Exception {
        tablesComplete = new CountDownLatch(1);
        JobClient job = start(partitioned, transport);
        awaitTables(job);
        tablesComplete.countDown();
        JobExecutionResult result = job.getJobExecutionResult().get();
        assertThat((long) result.getAccumulatorResult(RESULTS)).isEqualTo(FACTS);
        assertThat(sum(job, "payloadBytesCopied")).isZero();
        if (partitioned) {
            assertThat(count(job, "chunksThroughRings")).isPositive();
            assertThat(sum(job, "ringBytes")).isPositive();
            assertThat(sum(job, "heldSlots")).isZero();
        } else {
            assertThat(count(job, "chunksExchangedLocally")).isPositive();
            assertThat(sum(job, "exchangeBytes")).isPositive();
        }
    }

    private static JobClient start(boolean partitioned, String transport) throws Exception {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.TRANSPORT, transport);
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        // Fewer than the engine has chunks in flight.
        config.set(GpuJoinOptions.RING_SLOTS, 4);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        StarJoin.of(numbers(env, FACTS).map(new AwaitTables()))
                .select("number")
                .dimension(
                        numbers(env, KEYS),
                        d -> {
                            d.on("key", "key").select("number AS matched");
                            if (partitioned) {
                                d.partitioned();
                            }
                        })
                .uid("in-place-" + transport)
                .toRows()
                .rebalance()
                .filter(new SlowCount())
                .sinkTo(new DiscardingSink<>());
        return env.executeAsync();
    }

    private static DataStream<Numbered> numbers(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .map(InPlaceFactsITCase::numbered)
                .returns(TypeInformation.of(Numbered.class));
    }

    private static Numbered numbered(long number) {
        Numbered row = new Numbered();
        row.key = number % KEYS;
        row.number = number;
        return row;
    }

    private static void awaitTables(JobClient job) throws Exception {
        while (metrics(job, "buildProgress").stream().filter(InPlaceFactsITCase::isOne).count()
                < PARALLELISM) {
            Thread.sleep(20);
        }
    }

    private static boolean isOne(Metric progress) {
        return ((Number) ((Gauge<?>) progress).getValue()).doubleValue() == 1;
    }

    private static Collection<Metric> metrics(JobClient job, String name) {
        return METRICS.findMetrics(job.getJobID(), ".*\\." + name).values();
    }

    private static long sum(JobClient job, String gauge) {
        return metrics(job, gauge).stream()
                .mapToLong(metric -> ((Number) ((Gauge<?>) metric).getValue()).longValue())
                .sum();
    }

    private static long count(JobClient job, String counter) {
        return metrics(job, counter).stream()
                .mapToLong(metric -> ((Counter) metric).getCount())
                .sum();
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

    /** Counts results, and drops them, so slowly that the join waits for room in its output. */
    private static final class SlowCount extends RichFilterFunction<Row> {

        private static final long serialVersionUID = 1L;

        private final LongCounter results = new LongCounter();

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator(RESULTS, results);
        }

        @Override
        public boolean filter(Row row) {
            results.add(1);
            if (results.getLocalValue() % 1000 == 0) {
                LockSupport.parkNanos(5_000_000);
            }
            return false;
        }
    }
}
