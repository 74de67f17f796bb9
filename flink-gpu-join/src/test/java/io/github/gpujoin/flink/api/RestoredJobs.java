// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that are stopped with a savepoint and restored by another version of the job. */
@Timeout(120)
abstract class RestoredJobs {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    static final int KEYS = 100;
    static final int FACTS = 10_000;
    static final Queue<String> RESULTS = new ConcurrentLinkedQueue<>();

    @TempDir private Path folder;

    private final List<JobClient> jobs = new ArrayList<>();

    /** Defines a job, paced so slowly that it does not end before it is stopped, or not. */
    @FunctionalInterface
    interface Job {
        void define(StreamExecutionEnvironment env, boolean paced);
    }

    @BeforeEach
    void reset() {
        RESULTS.clear();
    }

    /** A job that a failed test leaves behind would keep its slots. */
    @AfterEach
    void cancel() throws Exception {
        for (JobClient job : jobs) {
            if (!job.getJobStatus().get(60, TimeUnit.SECONDS).isGloballyTerminalState()) {
                job.cancel().get(60, TimeUnit.SECONDS);
            }
        }
    }

    static void assertThatResultsAre(String format) {
        assertThat(RESULTS).hasSizeGreaterThanOrEqualTo(FACTS);
        List<String> expected =
                LongStream.range(0, KEYS)
                        .mapToObj(k -> String.format(format, 10 * k + 1, 10 * k + 2))
                        .toList();
        assertThat(RESULTS.stream().distinct()).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** Joins whole records with facts of the same key. */
    static <T> Job whole(
            TypeInformation<T> type,
            MapFunction<Long, T> record,
            KeySelector<T, Long> key,
            JoinFunction<T, Row, String> text) {
        return whole(false, type, record, key, text);
    }

    /** Joins whole records with facts of the same key. */
    static <T> Job whole(
            boolean replicated,
            TypeInformation<T> type,
            MapFunction<Long, T> record,
            KeySelector<T, Long> key,
            JoinFunction<T, Row, String> text) {
        return (env, paced) -> {
            PairJoin.Keyed<T, Row> join =
                    PairJoin.build(numbers(env, "numbers", KEYS).map(record).returns(type))
                            .probe(facts(env, paced))
                            .where(key, Types.LONG)
                            .equalTo(fact -> fact.getFieldAs(0), Types.LONG);
            if (replicated) {
                join.replicated();
            }
            sink(join.uid("join").apply(text, Types.STRING));
        };
    }

    static DataStream<Long> numbers(StreamExecutionEnvironment env, String name, int n) {
        return source(env, name, n).uid(name);
    }

    static SingleOutputStreamOperator<Long> source(
            StreamExecutionEnvironment env, String name, int n) {
        return env.fromSource(
                new NumberSequenceSource(0, n - 1), WatermarkStrategy.noWatermarks(), name);
    }

    static DataStream<Row> facts(StreamExecutionEnvironment env, boolean paced) {
        return numbers(env, "facts", FACTS)
                .map(
                        n -> {
                            if (paced) {
                                TimeUnit.MILLISECONDS.sleep(3);
                            }
                            return Row.of(n % KEYS);
                        })
                .returns(Types.ROW_NAMED(new String[] {"key"}, Types.LONG));
    }

    static void sink(DataStream<String> results) {
        results.map(
                        result -> {
                            RESULTS.add(result);
                            return result;
                        })
                .returns(Types.STRING)
                .sinkTo(new DiscardingSink<>())
                .uid("results");
    }

    // ------------------------------------------------------------------ runs

    String stop(String backend, Job job) throws Exception {
        return stop(start(new Configuration(), backend, job, true));
    }

    Path folder() {
        return folder;
    }

    /** Stops a job that has given some results, and not all. */
    String stop(JobClient client) throws Exception {
        while (RESULTS.size() < 50) {
            assertThat(client.getJobExecutionResult()).isNotDone();
            TimeUnit.MILLISECONDS.sleep(5);
        }
        while (true) {
            try {
                return client.stopWithSavepoint(
                                false, folder.toUri().toString(), SavepointFormatType.CANONICAL)
                        .get(60, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                // Tasks of the dimension that end decline it.
                assertThat(client.getJobExecutionResult()).isNotDone();
                TimeUnit.MILLISECONDS.sleep(200);
            }
        }
    }

    void restore(String savepoint, String backend, Job job) throws Exception {
        restore(savepoint, backend, job, new Configuration());
    }

    void restore(String savepoint, String backend, Job job, Configuration config) throws Exception {
        config.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        start(config, backend, job, false).getJobExecutionResult().get(60, TimeUnit.SECONDS);
    }

    JobClient start(Configuration config, String backend, Job job, boolean paced) throws Exception {
        config.set(StateBackendOptions.STATE_BACKEND, backend);
        config.setString("gpu-join.flush-interval", "10ms");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        env.setMaxParallelism(16);
        env.enableCheckpointing(100);
        job.define(env, paced);
        JobClient client = env.executeAsync("restored columns");
        jobs.add(client);
        return client;
    }
}
