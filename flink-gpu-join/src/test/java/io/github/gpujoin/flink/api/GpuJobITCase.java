// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.kernels.gpu.GpuTestDevice;
import io.github.gpujoin.kernels.gpu.GridMode;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
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
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs that ask for a GPU, with and without one; what joins is told by the job's metrics. */
@ExtendWith(RegionLeakExtension.class)
class GpuJobITCase {

    private static final InMemoryReporter REPORTER = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setConfiguration(REPORTER.addToConfiguration(new Configuration()))
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final int FACTS = 50_000;
    private static final int KEYS = 1_000;

    /** A running job, and its expected results. */
    private record Job(JobID id, CloseableIterator<Row> rows) {

        List<Long> results() throws Exception {
            List<Long> results = new ArrayList<>();
            try (rows) {
                rows.forEachRemaining(row -> results.add((Long) row.getField(0)));
            }
            results.sort(null);
            return results;
        }
    }

    private static Job start(String... keysAndValues) throws Exception {
        return start(false, keysAndValues);
    }

    private static Job start(boolean partitioned, String... keysAndValues) throws Exception {
        Configuration config = new Configuration();
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.GPU);
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.setString(keysAndValues[i], keysAndValues[i + 1]);
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        DataStream<Row> result =
                StarJoin.of(numbers(env, FACTS))
                        .select("number")
                        .dimension(
                                numbers(env, KEYS),
                                d -> {
                                    d.on("key", "number");
                                    if (partitioned) {
                                        d.partitioned();
                                    }
                                })
                        .uid("join")
                        .toRows();
        CloseableIterator<Row> rows = result.collectAsync();
        JobClient job = env.executeAsync();
        return new Job(job.getJobID(), rows);
    }

    /** Rows (number, key): key is in the dimension for every other number. */
    private static DataStream<Row> numbers(StreamExecutionEnvironment env, long count) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .map(n -> Row.of(n, n % (2 * KEYS)))
                .returns(Types.ROW_NAMED(new String[] {"number", "key"}, Types.LONG, Types.LONG));
    }

    private static List<Long> expected() {
        List<Long> expected = new ArrayList<>();
        for (long n = 0; n < FACTS; n++) {
            if (n % (2 * KEYS) < KEYS) {
                expected.add(n);
            }
        }
        return expected;
    }

    private static List<String> engines(Job job) {
        return REPORTER.findMetrics(job.id, ".*gpuJoin.engine").values().stream()
                .map(metric -> ((Gauge<?>) metric).getValue().toString())
                .toList();
    }

    private static long fallbacks(Job job, String reason) {
        long sum = 0;
        for (Metric counter :
                REPORTER.findMetrics(job.id, ".*gpuJoin.reason." + reason + ".fallbacks")
                        .values()) {
            sum += ((Counter) counter).getCount();
        }
        return sum;
    }

    @Test
    void shouldSayThatTheCpuJoinsWhereThereIsNoGpu() throws Exception {
        assumeFalse(GpuTestDevice.isThere(), "this machine has a GPU");
        Job job = start();
        assertThat(job.results()).isEqualTo(expected());
        assertThat(engines(job)).containsExactly("cpu", "cpu");
        assertThat(
                        fallbacks(job, "NO_DRIVER")
                                + fallbacks(job, "NO_DEVICE")
                                + fallbacks(job, "NO_KERNEL_IMAGE"))
                .isEqualTo(2);
        assertThat(fallbacks(job, "DEVICE_LOST")).isZero();
    }

    @NeedsGpu
    @Test
    void shouldLetTwoJobsShareTheDevice() throws Exception {
        Job first = start();
        Job second = start();
        assertThat(first.results()).isEqualTo(expected());
        assertThat(second.results()).isEqualTo(expected());
        assertThat(engines(first)).containsExactly("gpu", "gpu");
        assertThat(engines(second)).containsExactly("gpu", "gpu");
    }

    @NeedsGpu
    @ParameterizedTest
    @EnumSource
    void shouldJoinAPartitionedDimensionInEveryGridMode(GridMode mode) throws Exception {
        Job job = start(true, "gpu-join.gpu.grid", mode.name());
        assertThat(job.results()).isEqualTo(expected());
        assertThat(engines(job)).containsExactly("gpu", "gpu");
    }

    @NeedsGpu
    @Test
    void shouldJoinOnTheCpuWhereTheBudgetIsTooSmall() throws Exception {
        Job job = start("gpu-join.gpu.device-memory", "1mb");
        assertThat(job.results()).isEqualTo(expected());
        assertThat(engines(job)).containsExactly("cpu", "cpu");
        assertThat(fallbacks(job, "OUT_OF_DEVICE_MEMORY")).isEqualTo(2);
    }

    @NeedsGpu
    @Test
    void shouldJoinOnTheCpuWhereThereIsNoSuchDevice() throws Exception {
        Job job = start("gpu-join.gpu.devices", "1000");
        assertThat(job.results()).isEqualTo(expected());
        assertThat(fallbacks(job, "NO_DEVICE")).isEqualTo(2);
    }
}
