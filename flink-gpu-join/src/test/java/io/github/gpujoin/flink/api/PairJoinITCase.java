// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of two streams of every kind, with a condition and without, as nested loops do. */
class PairJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    static final TypeInformation<Row> RECORD = Types.ROW(Types.INT, Types.INT);

    enum Kind {
        INNER,
        LEFT,
        RIGHT,
        FULL,
        SEMI,
        ANTI;

        void set(PairJoin.Keyed<?, ?> join) {
            switch (this) {
                case INNER -> {}
                case LEFT -> join.left();
                case RIGHT -> join.right();
                case FULL -> join.full();
                case SEMI -> join.semi();
                case ANTI -> join.anti();
            }
        }

        boolean keepsProbe() {
            return this == LEFT || this == FULL || this == ANTI;
        }

        boolean keepsBuild() {
            return this == RIGHT || this == FULL;
        }
    }

    static int number(Row record) {
        return record.<Integer>getFieldAs(1);
    }

    static List<Row> records(Random random, int count, int keys) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer key = random.nextInt(10) == 0 ? null : (Integer) random.nextInt(keys);
            records.add(Row.of(key, i));
        }
        return records;
    }

    @ParameterizedTest(name = "{0} conditioned={1} replicated={2} engine={3}")
    @CsvSource({
        "INNER, true, false, cpu",
        "LEFT, false, false, cpu",
        "LEFT, false, true, reference",
        "LEFT, true, false, cpu",
        "LEFT, true, true, gpu",
        "RIGHT, false, false, cpu",
        "RIGHT, true, false, reference",
        "FULL, false, false, gpu",
        "FULL, true, false, cpu",
        "SEMI, false, false, gpu",
        "SEMI, true, false, cpu",
        "ANTI, false, true, cpu",
        "ANTI, true, false, reference",
        "ANTI, true, true, cpu"
    })
    void shouldJoinAsNestedLoopsDo(
            Kind kind, boolean conditioned, boolean replicated, String engine) throws Exception {
        Random random = new Random(kind.ordinal());
        List<Row> builds = records(random, 400, 150);
        List<Row> probes = records(random, 1_000, 200);
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        PairJoin.Keyed<Row, Row> join =
                keyed(env.fromData(builds, RECORD), env.fromData(probes, RECORD));
        kind.set(join);
        if (conditioned) {
            join.matching((b, p) -> (number(b) + number(p)) % 3 == 0);
        }
        if (replicated) {
            join.replicated();
        }
        List<String> actual = new ArrayList<>();
        try (CloseableIterator<String> rows =
                join.apply((JoinFunction<Row, Row, String>) (b, p) -> b + " " + p, Types.STRING)
                        .executeAndCollect()) {
            rows.forEachRemaining(actual::add);
        }
        assertThat(actual)
                .containsExactlyInAnyOrderElementsOf(expected(kind, conditioned, builds, probes));
    }

    @Test
    void shouldRefuseOuterJoinsThatCannotTellWhatIsUnmatched() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Row> bounded = env.fromData(List.of(Row.of(1, 2)), RECORD);
        DataStream<Row> endless = endless(env);
        JoinFunction<Row, Row, String> text = (b, p) -> b + " " + p;
        assertThatThrownBy(() -> keyed(bounded, endless).right().apply(text, Types.STRING))
                .hasMessageStartingWith("Probe side of a right or full join is unbounded")
                .hasMessageContaining("endless")
                .hasMessageContaining("CONTINUOUS_UNBOUNDED");
        assertThatThrownBy(
                        () -> keyed(bounded, bounded).full().replicated().apply(text, Types.STRING))
                .hasMessageContaining("Build side of a FULL join cannot be replicated");
    }

    @Test
    void shouldRefuseBuildSideThatNeverEnds() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Row> bounded = env.fromData(List.of(Row.of(1, 2)), RECORD);
        JoinFunction<Row, Row, String> text = (b, p) -> b + " " + p;
        assertThatThrownBy(() -> keyed(endless(env), bounded).apply(text, Types.STRING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("its source 'endless' is unbounded")
                .hasMessageContaining("Use a bounded source, or StarJoin with");
        assertThat(keyed(bounded, endless(env)).apply(text, Types.STRING)).isNotNull();
    }

    @Test
    void shouldRefuseANegativeSizeOfTheBuildSide() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Row> rows = env.fromData(List.of(Row.of(1, 2)), RECORD);
        assertThatThrownBy(() -> keyed(rows, rows).expectedBytes(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expectedBytes=-1");
    }

    private static DataStream<Row> endless(StreamExecutionEnvironment env) {
        return env.fromSource(
                        new NumberSequenceSource(0, Long.MAX_VALUE) {
                            @Override
                            public Boundedness getBoundedness() {
                                return Boundedness.CONTINUOUS_UNBOUNDED;
                            }
                        },
                        WatermarkStrategy.noWatermarks(),
                        "endless")
                .map(n -> Row.of(1, 2), RECORD);
    }

    private static PairJoin.Keyed<Row, Row> keyed(DataStream<Row> build, DataStream<Row> probe) {
        return PairJoin.build(build)
                .probe(probe)
                .where(b -> b.<Integer>getFieldAs(0), Types.INT)
                .equalTo(p -> p.<Integer>getFieldAs(0), Types.INT);
    }

    static List<String> expected(
            Kind kind, boolean conditioned, List<Row> builds, List<Row> probes) {
        List<String> results = new ArrayList<>();
        Set<Row> matchedBuilds = new HashSet<>();
        for (Row p : probes) {
            List<String> matches = new ArrayList<>();
            for (Row b : builds) {
                if (p.getField(0) != null
                        && p.getField(0).equals(b.getField(0))
                        && !(conditioned && (number(b) + number(p)) % 3 != 0)) {
                    matches.add(b + " " + p);
                    matchedBuilds.add(b);
                }
            }
            if (kind == Kind.SEMI && !matches.isEmpty()) {
                results.add("null " + p);
            } else if (kind != Kind.SEMI && kind != Kind.ANTI) {
                results.addAll(matches);
            }
            if (matches.isEmpty() && kind.keepsProbe()) {
                results.add("null " + p);
            }
        }
        for (Row b : builds) {
            if (kind.keepsBuild() && !matchedBuilds.contains(b)) {
                results.add(b + " null");
            }
        }
        return results;
    }
}
