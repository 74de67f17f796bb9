// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.SideOutputTransformation;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A dimension without end that is complete at a watermark, with an idle subtask and late rows. */
@Timeout(120)
class LateDimensionITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int KEYS = 20;
    private static final TypeInformation<Row> ROW =
            Types.ROW_NAMED(new String[] {"id", "n"}, Types.LONG, Types.LONG);

    private static StreamExecutionEnvironment environment(Configuration config) {
        config.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(2);
        env.getConfig().setAutoWatermarkInterval(20);
        return env;
    }

    /** Rows of keys 0, 1, 2 ... at times 0, 1, 2 ..., for ever, from the first subtask alone. */
    private static DataStream<Row> endless(StreamExecutionEnvironment env) {
        DataGeneratorSource<Long> numbers =
                new DataGeneratorSource<>(
                        n -> n, Long.MAX_VALUE, RateLimiterStrategy.perSecond(400), Types.LONG);
        return env.fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers")
                .filter(new OfFirstSubtask())
                .map(new Counting())
                .returns(ROW)
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Row>forMonotonousTimestamps()
                                .withTimestampAssigner((row, at) -> (Long) row.getField(0))
                                .withIdleness(Duration.ofMillis(200)));
    }

    private static final class OfFirstSubtask extends RichFilterFunction<Long> {
        @Override
        public boolean filter(Long n) {
            return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
        }
    }

    private static final class Counting implements MapFunction<Long, Row> {
        private long next;

        @Override
        public Row map(Long any) {
            return Row.of(next, 10 * next++);
        }
    }

    private static DataStream<Row> facts(StreamExecutionEnvironment env) {
        List<Row> facts = new ArrayList<>();
        for (long i = 0; i < KEYS; i++) {
            facts.add(Row.of(i, i));
        }
        return env.fromData(facts, ROW);
    }

    private static StarJoin<Row> join(StreamExecutionEnvironment env, boolean partitioned) {
        return join(
                env,
                d -> {
                    if (partitioned) {
                        d.partitioned();
                    } else {
                        d.replicated();
                    }
                });
    }

    private static StarJoin<Row> join(
            StreamExecutionEnvironment env, Consumer<Dimension<Row>> more) {
        return StarJoin.of(facts(env))
                .select("id")
                .dimension(
                        endless(env),
                        d ->
                                more.accept(
                                        d.named("date")
                                                .on("id", "id")
                                                .select("n AS value")
                                                .completeAtWatermark(KEYS)));
    }

    /** As many rows at least, until all results are among them. */
    private static List<String> take(DataStream<Row> stream, int atLeast) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> all = stream.executeAndCollect()) {
            while (rows.size() < atLeast || !rows.containsAll(expected())) {
                rows.add(all.next().toString());
            }
        }
        return rows;
    }

    private static List<String> expected() {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            rows.add("+I[" + i + ", " + 10 * i + "]");
        }
        return rows;
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {false, true})
    void shouldJoinAlthoughASourceSubtaskIsIdle(boolean partitioned) throws Exception {
        Configuration config = new Configuration();
        config.setString("gpu-join.late-dimension-rows", "drop");
        List<String> rows = take(join(environment(config), partitioned).toRows(), KEYS);
        assertThat(rows).containsExactlyInAnyOrderElementsOf(expected());
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {false, true})
    void shouldGiveLateRowsToTheirStreamOnce(boolean partitioned) throws Exception {
        List<DataStream<Row>> late = new ArrayList<>();
        DataStream<Row> results =
                join(
                                environment(new Configuration()),
                                d -> {
                                    d.lateRows(late::add);
                                    if (partitioned) {
                                        d.partitioned();
                                    } else {
                                        d.replicated();
                                    }
                                })
                        .toRows()
                        .map(row -> Row.of(row.getField(0), row.getField(1)))
                        .returns(ROW);
        DataStream<Row> both =
                late.get(0)
                        .map(row -> Row.of(row.getField("id"), row.getField("n")))
                        .returns(ROW)
                        .union(results);
        List<String> rows = take(both, 2 * KEYS);
        assertThat(rows).doesNotHaveDuplicates();
        rows.removeAll(expected());
        assertThat(rows).isNotEmpty().allMatch(row -> row.endsWith("0]"));
    }

    @Test
    void shouldSeparateLateRowsOfADimensionNamedVersionsFromLateVersions() {
        List<DataStream<Row>> late = new ArrayList<>();
        StreamExecutionEnvironment env = environment(new Configuration());
        StarJoin<Row> join =
                join(env, d -> d.named("versions").lateRows(late::add))
                        .dimension(endless(env), d -> d.named("price").on("id", "id").versioned());
        join.toRows();
        assertThat(late.get(0).getTransformation().getTransitivePredecessors())
                .filteredOn(SideOutputTransformation.class::isInstance)
                .isNotEmpty()
                .extracting(input -> ((SideOutputTransformation<?>) input).getOutputTag().getId())
                .doesNotContain(join.lateVersions().getId());
    }

    @Test
    void shouldRefuseAStreamOfLateRowsOfADimensionThatChanges() {
        StarJoin<Row> changing =
                join(
                        environment(new Configuration()),
                        d -> d.replicated().changelog().lateRows(rows -> {}));
        assertThatIllegalArgumentException()
                .isThrownBy(changing::toRows)
                .withMessage(
                        "Dimension 'date' changes, so its rows are never late. Remove"
                                + " .lateRows(...).");
    }
}
