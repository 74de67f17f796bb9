// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.StarJoin;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that end or restart while a full join pauses the senders of its facts. */
@Timeout(180)
class PausedSenderITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int KEYS = 100;
    private static final int FACTS = 100_000;

    /** Makes facts of 50 MB in total, a hundred times what the join holds for a slow output. */
    private static final String PADDING = "x".repeat(500);

    private static final Set<Long> RESULTS = ConcurrentHashMap.newKeySet();
    private static volatile boolean isSlow;
    private static volatile boolean fails;

    private JobClient job;

    /** A fact or a row of the dimension. */
    public static class Numbered {
        public long key;
        public long number;
        public String padding;

        public Numbered() {}
    }

    /** Needs 200 us per row while it is slow; runs in the task of the join. */
    private static final class SlowSink extends RichMapFunction<Row, Row> {
        private static final long serialVersionUID = 1L;

        @Override
        public Row map(Row row) {
            if (fails && getRuntimeContext().getTaskInfo().getAttemptNumber() == 0) {
                isSlow = false;
                throw new IllegalStateException("Failure while senders are paused");
            }
            if (isSlow) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(200));
            }
            RESULTS.add(row.<Long>getFieldAs("number"));
            return row;
        }
    }

    @BeforeEach
    void reset() {
        RESULTS.clear();
        isSlow = true;
        fails = false;
    }

    @AfterEach
    void cancel() throws Exception {
        if (!job.getJobStatus().get(60, TimeUnit.SECONDS).isGloballyTerminalState()) {
            job.cancel().get(60, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest(name = "partitioned: {0}")
    @ValueSource(booleans = {true, false})
    void shouldReturnAllBuffersOfAJobCancelledWhileSendersArePaused(boolean isPartitioned)
            throws Exception {
        job = startUntilPaused(isPartitioned);
        job.cancel().get(60, TimeUnit.SECONDS);
        awaitEnd();
        assertThatNothingIsHeld();
    }

    @ParameterizedTest(name = "partitioned: {0}")
    @ValueSource(booleans = {true, false})
    void shouldEmitAllResultsAfterAFailureWhileSendersArePaused(boolean isPartitioned)
            throws Exception {
        job = startUntilPaused(isPartitioned);
        fails = true;
        job.getJobExecutionResult().get(120, TimeUnit.SECONDS);
        assertThat(RESULTS).hasSize(FACTS);
        assertThatNothingIsHeld();
    }

    @ParameterizedTest(name = "partitioned: {0}")
    @ValueSource(booleans = {true, false})
    void shouldEmitAllResultsOnceTheSinkIsFast(boolean isPartitioned) throws Exception {
        job = startUntilPaused(isPartitioned);
        isSlow = false;
        job.getJobExecutionResult().get(120, TimeUnit.SECONDS);
        assertThat(RESULTS).hasSize(FACTS);
        assertThatNothingIsHeld();
    }

    private void awaitEnd() throws Exception {
        while (!job.getJobStatus().get(60, TimeUnit.SECONDS).isGloballyTerminalState()) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Flink recycles the buffers of a job some ms after its end. */
    private static void assertThatNothingIsHeld() throws Exception {
        for (int i = 0; i < 200 && usedBuffers() > 0; i++) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        assertThat(usedBuffers()).isZero();
        assertThat(OutputHold.openCount()).isZero();
    }

    private static long usedBuffers() {
        List<Metric> used =
                METRICS.getMetricsByGroup().values().stream()
                        .map(metrics -> metrics.get("UsedMemorySegments"))
                        .filter(Objects::nonNull)
                        .toList();
        assertThat(used).isNotEmpty();
        return used.stream()
                .mapToLong(metric -> ((Number) ((Gauge<?>) metric).getValue()).longValue())
                .sum();
    }

    private JobClient startUntilPaused(boolean isPartitioned) throws Exception {
        JobClient client = start(isPartitioned);
        while (OutputHold.pausedCount() == 0) {
            assertThat(client.getJobExecutionResult()).isNotDone();
            TimeUnit.MILLISECONDS.sleep(5);
        }
        return client;
    }

    private static JobClient start(boolean isPartitioned) throws Exception {
        Configuration config = new Configuration();
        // A GPU's ring has room for all facts, so none would wait.
        config.setString("gpu-join.engine", "cpu");
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        env.enableCheckpointing(300);
        DataStream<Row> rows =
                StarJoin.of(numbers(env, FACTS, PADDING))
                        .select("number", "padding")
                        .dimension(
                                numbers(env, KEYS, ""),
                                d -> {
                                    d.on("key", "key").select("number AS match");
                                    if (isPartitioned) {
                                        d.partitioned();
                                    } else {
                                        d.replicated();
                                    }
                                })
                        .toRows();
        rows.map(new SlowSink()).returns(rows.getType()).sinkTo(new DiscardingSink<>());
        return env.executeAsync("paused senders");
    }

    private static DataStream<Numbered> numbers(
            StreamExecutionEnvironment env, int count, String padding) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        "numbers")
                .map(
                        n -> {
                            Numbered row = new Numbered();
                            row.key = n % KEYS;
                            row.number = n;
                            row.padding = padding;
                            return row;
                        })
                .returns(TypeInformation.of(Numbered.class));
    }
}
