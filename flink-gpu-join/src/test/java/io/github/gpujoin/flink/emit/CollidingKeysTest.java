// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys whose hash is always the same: what is joined is told by the keys alone. */
class CollidingKeysTest {

    private static final TypeInformation<Row> RECORD =
            Types.ROW(Types.STRING, Types.LONG, Types.INT);
    private static final TypeInformation<Row> KEY = Types.ROW(Types.STRING, Types.LONG);

    private static RecordLayout<Row> layout(SelectedKey<Row, Row> key) {
        return RecordLayout.whole(RECORD, key, new SerializerConfigImpl());
    }

    private static SelectedKey<Row, Row> colliding(Nulls nulls) {
        return new SelectedKey<>(
                record -> Row.of(record.getField(0), record.getField(1)),
                KeyLayout.of(KEY, nulls).hashedBy((bytes, length) -> 7));
    }

    /** Leaves nothing as it was in the records that it is given. */
    private static String spoiling(Row build, Row probe) {
        String pair = build + " " + probe;
        if (build != null) {
            build.setField(2, -1);
        }
        probe.setField(0, "spoilt");
        probe.setField(1, null);
        probe.setField(2, -1);
        return pair;
    }

    private static List<Row> records(Random random, int count) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = random.nextInt(6) == 0 ? null : "name-" + random.nextInt(8);
            Long number = random.nextInt(6) == 0 ? null : (Long) (long) random.nextInt(4);
            records.add(Row.of(name, number, i));
        }
        return records;
    }

    @ParameterizedTest(name = "{0} {1} sliced={3} seed {2}")
    @CsvSource({
        "INNER, MATCH_NOTHING, 1, false",
        "INNER, MATCH_NULLS, 2, false",
        "LEFT, MATCH_NOTHING, 3, false",
        "LEFT, MATCH_NULLS, 4, false",
        "SEMI, MATCH_NOTHING, 5, false",
        "SEMI, MATCH_NULLS, 6, false",
        "ANTI, MATCH_NOTHING, 7, false",
        "ANTI, MATCH_NULLS, 8, false",
        "INNER, MATCH_NULLS, 9, true",
        "LEFT, MATCH_NOTHING, 10, true",
        "LEFT, MATCH_NULLS, 11, true",
        "SEMI, MATCH_NOTHING, 12, true",
        "ANTI, MATCH_NOTHING, 13, true"
    })
    void shouldJoinKeysAndNotTheirHashes(PairKind kind, Nulls nulls, long seed, boolean sliced)
            throws Exception {
        Random random = new Random(seed);
        List<Row> builds = records(random, 200);
        List<Row> probes = records(random, 100);
        SelectedKey<Row, Row> key = colliding(nulls);
        RecordLayout<Row> build = layout(key);
        RecordLayout<Row> probe =
                kind.keepsUnmatchedProbe()
                        ? layout(key).withTimestamp().keepingNullKeys(Map.of(RecordLayout.KEY, 1))
                        : layout(key).withTimestamp();
        PairJoinSpec<Row, Row, String> join =
                new PairJoinSpec<>(
                        kind, new HashedKeys<>(key, key), null, CollidingKeysTest::spoiling);
        JoinSpec spec =
                new JoinSpec(
                        probe.schema(),
                        List.of(
                                new DimensionSpec(
                                        "build",
                                        build.schema(),
                                        0,
                                        0,
                                        kind.withAllMatches(join.isVerified()))),
                        List.of(),
                        null,
                        probe.schema().indexOf(RecordLayout.NULL_KEYS));

        ResultEmitterFactory<String> emitter = ResultEmitters.function(spec, build, probe, join);
        List<Chunk> buildChunks = EmitterRun.pack(build, builds, 0);
        List<Chunk> probeChunks = EmitterRun.pack(probe, probes, -1);

        List<StreamRecord<String>> actual =
                sliced
                        ? EmitterRun.joinInSlices(
                                spec, List.of(buildChunks), 0, probeChunks, emitter, random)
                        : EmitterRun.join(spec, List.of(buildChunks), probeChunks, emitter, random);

        assertThat(EmitterRun.values(actual))
                .as("seed=%s", seed)
                .containsExactlyInAnyOrderElementsOf(expected(kind, nulls, builds, probes));
    }

    private static List<String> expected(
            PairKind kind, Nulls nulls, List<Row> builds, List<Row> probes) {
        List<String> results = new ArrayList<>();
        for (Row p : probes) {
            List<String> matches = new ArrayList<>();
            for (Row b : builds) {
                if (equal(b, p, 0, nulls) && equal(b, p, 1, nulls)) {
                    matches.add(b + " " + p);
                }
            }
            String alone = "null " + p;
            switch (kind) {
                case INNER -> results.addAll(matches);
                case LEFT -> results.addAll(matches.isEmpty() ? List.of(alone) : matches);
                case SEMI -> results.addAll(matches.isEmpty() ? List.of() : List.of(alone));
                case ANTI -> results.addAll(matches.isEmpty() ? List.of(alone) : List.of());
                default -> throw new IllegalArgumentException("kind=" + kind);
            }
        }
        return results;
    }

    private static boolean equal(Row b, Row p, int field, Nulls nulls) {
        Object value = b.getField(field);
        return (value != null || nulls == Nulls.MATCH_NULLS)
                && Objects.equals(value, p.getField(field));
    }
}
