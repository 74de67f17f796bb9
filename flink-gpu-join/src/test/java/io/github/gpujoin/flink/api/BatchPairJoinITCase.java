// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.PairJoinITCase.Kind;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of two bounded streams of every kind in batch mode, as nested loops do. */
@Timeout(120)
class BatchPairJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(2)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(
                                    new Configuration()
                                            .set(
                                                    BatchExecutionOptions
                                                            .ADAPTIVE_AUTO_PARALLELISM_AVG_DATA_VOLUME_PER_TASK,
                                                    MemorySize.parse("1kb")))
                            .build());

    private static final JoinFunction<Row, Row, String> TEXT = (b, p) -> b + " " + p;

    @ParameterizedTest(name = "{0} mode={1} key={2} replicated={3} engine={4}")
    @CsvSource({
        "INNER, BATCH, INT, false, cpu",
        "INNER, AUTOMATIC, STRING, true, auto",
        "LEFT, BATCH, INT, true, cpu",
        "LEFT, AUTOMATIC, STRING, false, reference",
        "RIGHT, BATCH, INT, false, cpu",
        "RIGHT, BATCH, STRING, false, cpu",
        "FULL, BATCH, INT, false, reference",
        "FULL, BATCH, STRING, false, cpu",
        "SEMI, BATCH, INT, false, cpu",
        "SEMI, BATCH, STRING, true, cpu",
        "ANTI, BATCH, INT, false, cpu",
        "ANTI, BATCH, STRING, true, reference",
        "INNER, BATCH, INT, false, gpu",
        "LEFT, BATCH, INT, false, gpu",
        "RIGHT, BATCH, INT, false, gpu",
        "FULL, BATCH, INT, false, gpu",
        "SEMI, BATCH, INT, true, gpu",
        "ANTI, BATCH, INT, false, gpu"
    })
    void shouldJoinAsNestedLoopsDo(
            Kind kind, RuntimeExecutionMode mode, String key, boolean replicated, String engine)
            throws Exception {
        Random random = new Random(kind.ordinal());
        List<Row> builds = PairJoinITCase.records(random, 400, 150);
        List<Row> probes = PairJoinITCase.records(random, 1_000, 200);
        StreamExecutionEnvironment env = environment(mode, engine);
        PairJoin.Keyed<Row, Row> join = keyed(env, key, builds, probes);
        kind.set(join);
        if (replicated) {
            join.replicated();
        }
        assertThat(results(join))
                .containsExactlyInAnyOrderElementsOf(
                        PairJoinITCase.expected(kind, false, builds, probes));
    }

    @Test
    void shouldEvaluateConditionOfInnerJoin() throws Exception {
        Random random = new Random(7);
        List<Row> builds = PairJoinITCase.records(random, 400, 150);
        List<Row> probes = PairJoinITCase.records(random, 1_000, 200);
        PairJoin.Keyed<Row, Row> join =
                keyed(environment(RuntimeExecutionMode.BATCH, "cpu"), "STRING", builds, probes)
                        .matching(
                                (b, p) ->
                                        (PairJoinITCase.number(b) + PairJoinITCase.number(p)) % 3
                                                == 0);
        assertThat(results(join))
                .containsExactlyInAnyOrderElementsOf(
                        PairJoinITCase.expected(Kind.INNER, true, builds, probes));
    }

    @Test
    void shouldKeepEventTimeOfProbeRecords() throws Exception {
        List<Row> builds = PairJoinITCase.records(new Random(1), 100, 50);
        List<Row> probes = PairJoinITCase.records(new Random(2), 900, 60);
        StreamExecutionEnvironment env = environment(RuntimeExecutionMode.BATCH, "cpu");
        DataStream<Row> timed =
                env.fromData(probes, PairJoinITCase.RECORD)
                        .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Row>forMonotonousTimestamps()
                                        .withTimestampAssigner(
                                                (probe, before) -> PairJoinITCase.number(probe)));
        DataStream<String> counts =
                PairJoin.build(env.fromData(builds, PairJoinITCase.RECORD))
                        .probe(timed)
                        .where(b -> b.<Integer>getFieldAs(0), Types.INT)
                        .equalTo(p -> p.<Integer>getFieldAs(0), Types.INT)
                        .left()
                        .apply((b, p) -> PairJoinITCase.number(p), Types.INT)
                        .map(number -> Tuple2.of(number / 100, 1))
                        .returns(Types.TUPLE(Types.INT, Types.INT))
                        .keyBy(result -> 0)
                        .window(TumblingEventTimeWindows.of(Duration.ofMillis(100)))
                        .reduce((a, b) -> a.f0.equals(b.f0) ? Tuple2.of(a.f0, a.f1 + b.f1) : null)
                        .map(Tuple2::toString)
                        .returns(Types.STRING);
        Map<Integer, Integer> expected = new TreeMap<>();
        for (Row probe : probes) {
            long matches =
                    builds.stream()
                            .filter(
                                    b ->
                                            probe.getField(0) != null
                                                    && probe.getField(0).equals(b.getField(0)))
                            .count();
            expected.merge(
                    PairJoinITCase.number(probe) / 100, (int) Math.max(1, matches), Integer::sum);
        }
        List<String> actual = new ArrayList<>();
        try (CloseableIterator<String> rows = counts.executeAndCollect()) {
            rows.forEachRemaining(actual::add);
        }
        assertThat(actual)
                .containsExactlyInAnyOrderElementsOf(
                        expected.entrySet().stream()
                                .map(entry -> "(" + entry.getKey() + "," + entry.getValue() + ")")
                                .toList());
    }

    @Test
    void shouldRefuseConditionOfOuterJoin() {
        List<Row> rows = List.of(Row.of(1, 2));
        PairJoin.Keyed<Row, Row> join =
                keyed(environment(RuntimeExecutionMode.BATCH, "cpu"), "INT", rows, rows)
                        .left()
                        .matching((b, p) -> true);
        assertThatThrownBy(() -> join.apply(TEXT, Types.STRING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Batch mode has no conditions of LEFT joins: uid=gpu-join. Remove .matching(...),"
                                + " use an inner join, or set execution.runtime-mode to STREAMING.");
    }

    private static StreamExecutionEnvironment environment(
            RuntimeExecutionMode mode, String engine) {
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, mode);
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        return env;
    }

    private static PairJoin.Keyed<Row, Row> keyed(
            StreamExecutionEnvironment env, String key, List<Row> builds, List<Row> probes) {
        DataStream<Row> build = env.fromData(builds, PairJoinITCase.RECORD);
        PairJoin.Inputs<Row, Row> inputs =
                PairJoin.build(build).probe(env.fromData(probes, PairJoinITCase.RECORD));
        return key.equals("INT")
                ? inputs.where(b -> b.<Integer>getFieldAs(0), Types.INT)
                        .equalTo(p -> p.<Integer>getFieldAs(0), Types.INT)
                : inputs.where(BatchPairJoinITCase::text, Types.STRING)
                        .equalTo(BatchPairJoinITCase::text, Types.STRING);
    }

    /** A key that exceeds 64 bits. */
    private static String text(Row record) {
        Integer key = record.getFieldAs(0);
        return key == null ? null : "customer number " + key;
    }

    private static List<String> results(PairJoin.Keyed<Row, Row> join) throws Exception {
        List<String> results = new ArrayList<>();
        try (CloseableIterator<String> rows = join.apply(TEXT, Types.STRING).executeAndCollect()) {
            rows.forEachRemaining(results::add);
        }
        return results;
    }
}
