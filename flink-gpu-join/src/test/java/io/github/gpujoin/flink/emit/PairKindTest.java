// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.types.Row;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind of join that keeps no build record, with a condition and without, by definition. */
class PairKindTest {

    private static final TypeInformation<Row> PAIR = Types.ROW(Types.INT, Types.INT);

    /** Some candidates of a key meet it, others do not, and some keys have none that does. */
    private static final JoinFunction<Row, Row, Boolean> CONDITION =
            (build, probe) ->
                    (build.<Integer>getFieldAs(1) + probe.<Integer>getFieldAs(1)) % 5 == 0;

    static LongStream seeds() {
        return LongStream.range(0, 12);
    }

    private static RecordLayout<Row> layout() {
        KeySelector<Row, Integer> key = record -> record.getFieldAs(0);
        return RecordLayout.whole(
                PAIR,
                SelectedKey.of(key, Types.INT, Nulls.MATCH_NOTHING),
                new SerializerConfigImpl());
    }

    private static List<Row> records(Random random, int count, int keys) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer key = random.nextInt(8) == 0 ? null : (Integer) random.nextInt(keys);
            records.add(Row.of(key, random.nextInt(100)));
        }
        return records;
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldGiveWhatTheKindSaysOfRecordsThatMatch(long seed) throws Exception {
        Random random = new Random(seed);
        // few keys have more candidates than a batch of the engine holds
        int keys = random.nextBoolean() ? 3 : 60;
        List<Row> builds = records(random, random.nextInt(3_000), keys);
        List<Row> probes = records(random, 40, keys + 5);
        for (PairKind kind : PairKind.values()) {
            if (!kind.keepsUnmatchedBuild()) {
                assertGivesWhatTheKindSays(kind, null, builds, probes, random);
                assertGivesWhatTheKindSays(kind, CONDITION, builds, probes, random);
            }
        }
    }

    private static void assertGivesWhatTheKindSays(
            PairKind kind,
            JoinFunction<Row, Row, Boolean> condition,
            List<Row> builds,
            List<Row> probes,
            Random random)
            throws Exception {
        RecordLayout<Row> build = layout();
        RecordLayout<Row> probe =
                kind.keepsUnmatchedProbe()
                        ? layout().withTimestamp().keepingNullKeys(Map.of(RecordLayout.KEY, 1))
                        : layout().withTimestamp();
        JoinSpec spec =
                new JoinSpec(
                        probe.schema(),
                        List.of(
                                new DimensionSpec(
                                        "build",
                                        build.schema(),
                                        0,
                                        0,
                                        kind.withAllMatches(condition != null))),
                        List.of(),
                        null,
                        probe.schema().indexOf(RecordLayout.NULL_KEYS));
        List<String> actual =
                EmitterRun.values(
                        EmitterRun.join(
                                spec,
                                List.of(EmitterRun.pack(build, builds, 0)),
                                EmitterRun.pack(probe, probes, -1),
                                ResultEmitters.function(
                                        spec,
                                        build,
                                        probe,
                                        new PairJoinSpec<>(
                                                kind, null, condition, (b, p) -> b + " " + p)),
                                random));
        assertThat(actual)
                .as("%s, conditioned=%s", kind, condition != null)
                .containsExactlyInAnyOrderElementsOf(expected(kind, condition, builds, probes));
    }

    private static List<String> expected(
            PairKind kind,
            JoinFunction<Row, Row, Boolean> condition,
            List<Row> builds,
            List<Row> probes)
            throws Exception {
        List<String> results = new ArrayList<>();
        for (Row p : probes) {
            List<String> matches = new ArrayList<>();
            for (Row b : builds) {
                if (p.getField(0) != null
                        && p.getField(0).equals(b.getField(0))
                        && (condition == null || condition.join(b, p))) {
                    matches.add(b + " " + p);
                }
            }
            boolean unmatched = matches.isEmpty();
            switch (kind) {
                case INNER -> results.addAll(matches);
                case LEFT -> results.addAll(unmatched ? List.of("null " + p) : matches);
                case SEMI -> results.addAll(unmatched ? List.of() : List.of("null " + p));
                case ANTI -> results.addAll(unmatched ? List.of("null " + p) : List.of());
                default -> throw new IllegalArgumentException("kind=" + kind);
            }
        }
        return results;
    }
}
