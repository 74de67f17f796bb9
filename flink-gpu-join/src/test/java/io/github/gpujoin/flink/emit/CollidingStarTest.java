// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Star joins of keys whose hash is always the same: every row of a dimension is a candidate of
 * every fact, and what is joined is told by the keys alone, in dimensions of every kind.
 */
@ExtendWith(RegionLeakExtension.class)
class CollidingStarTest {

    private static final TypeInformation<Row> FACT =
            Types.ROW_NAMED(
                    new String[] {"t0", "l0", "t1", "l1", "t2", "l2", "fact"},
                    Types.STRING,
                    Types.LONG,
                    Types.STRING,
                    Types.LONG,
                    Types.STRING,
                    Types.LONG,
                    Types.INT);
    private static final TypeInformation<Row> ROW =
            Types.ROW_NAMED(
                    new String[] {"text", "number", "name"},
                    Types.STRING,
                    Types.LONG,
                    Types.STRING);

    /** A dimension and the facts' key of it. */
    private record Side(
            int number,
            JoinKind kind,
            Nulls nulls,
            List<Row> rows,
            KeyColumn<Row> factKey,
            RecordLayout<Row> layout) {

        static Side random(int number, Random random) {
            JoinKind kind = JoinKind.values()[random.nextInt(4)];
            Nulls nulls = Nulls.values()[random.nextInt(2)];
            KeyColumn<Row> key =
                    KeyColumn.of(
                            List.of("text", "number"),
                            key(ROW, List.of("text", "number"), nulls),
                            HashedDimension.numbersRows(kind));
            RecordLayout<Row> layout =
                    RecordLayout.of(ROW, List.of("name"), List.of(), new SerializerConfigImpl())
                            .withKeys(List.of(key));
            List<String> columns = List.of("t" + number, "l" + number);
            return new Side(
                    number,
                    kind,
                    nulls,
                    rows(random, number),
                    KeyColumn.of(columns, key(FACT, columns, nulls), false),
                    layout);
        }

        private static SelectedKey<Row, Row> key(
                TypeInformation<Row> type, List<String> columns, Nulls nulls) {
            ColumnsKey<Row> key = new ColumnsKey<>(type, columns);
            return new SelectedKey<>(
                    key, KeyLayout.of(key.keyType(), nulls).hashedBy((bytes, length) -> 7));
        }

        private static List<Row> rows(Random random, int number) {
            List<Row> rows = new ArrayList<>();
            int count = random.nextInt(10);
            for (int i = 0; i < count; i++) {
                String text = text(random);
                Long value = numberOrNull(random);
                rows.add(Row.of(text, value, "name " + number + " " + i % 7));
            }
            return rows;
        }

        boolean matches(Row fact, Row row) {
            return equal(fact.getField(2 * number), row.getField(0))
                    && equal(fact.getField(2 * number + 1), row.getField(1));
        }

        private boolean equal(Object a, Object b) {
            return (a != null || nulls == Nulls.MATCH_NULLS) && Objects.equals(a, b);
        }

        /** What stands in results of a fact: names, or the fact alone. */
        List<String> results(Row fact) {
            List<String> names = new ArrayList<>();
            for (Row row : rows) {
                if (matches(fact, row)) {
                    names.add(row.getFieldAs(2));
                }
            }
            List<String> none = new ArrayList<>();
            none.add(null);
            return switch (kind) {
                case INNER -> names;
                case LEFT -> names.isEmpty() ? none : names;
                case SEMI -> names.isEmpty() ? List.of() : none;
                case ANTI -> names.isEmpty() ? none : List.of();
            };
        }
    }

    private static String text(Random random) {
        return random.nextInt(6) == 0 ? null : "text " + random.nextInt(2);
    }

    private static Long numberOrNull(Random random) {
        return random.nextInt(6) == 0 ? null : (Long) (long) random.nextInt(2);
    }

    static LongStream seeds() {
        return LongStream.range(0, 40);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldJoinKeysAndNotTheirHashes(long seed) throws Exception {
        Random random = new Random(seed);
        List<Side> sides = List.of(0, 1, 2).stream().map(d -> Side.random(d, random)).toList();
        List<Row> facts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            Row fact = new Row(7);
            for (int d = 0; d < 3; d++) {
                fact.setField(2 * d, text(random));
                fact.setField(2 * d + 1, numberOrNull(random));
            }
            fact.setField(6, i);
            facts.add(fact);
        }
        RecordLayout<Row> layout = factLayout(sides);
        JoinSpec spec = spec(layout, sides);
        List<OutputField> fields = new ArrayList<>();
        fields.add(OutputField.ofFact(layout.schema().require("fact"), layout.field("fact")));
        for (Side side : sides) {
            if (side.kind.keepsPayload()) {
                int column = side.layout.schema().require("name");
                fields.add(
                        new OutputField(
                                "name" + side.number,
                                side.number,
                                column,
                                side.layout.field("name")));
            }
        }
        ResultEmitterFactory<Row> emitter =
                ResultEmitters.verified(
                        spec,
                        verified(layout, sides),
                        ResultEmitters.rows(ResultColumns.of(spec, fields)));
        List<List<Chunk>> builds = new ArrayList<>();
        for (Side side : sides) {
            builds.add(EmitterRun.pack(side.layout, side.rows, side.number));
        }
        List<Chunk> probes = EmitterRun.pack(layout, facts, ChunkDescriptor.FACTS);

        List<String> expected = expected(sides, facts);
        assertThat(texts(EmitterRun.values(EmitterRun.join(spec, builds, probes, emitter, random))))
                .as("seed=%s, sides=%s", seed, sides)
                .containsExactlyInAnyOrderElementsOf(expected);
        int sliced = random.nextInt(3);
        if (sides.get(sliced).rows.size() >= 4) {
            builds.set(sliced, halves(sides.get(sliced)));
            assertThat(
                            texts(
                                    EmitterRun.values(
                                            EmitterRun.joinInSlices(
                                                    spec, builds, sliced, probes, emitter,
                                                    random))))
                    .as("seed=%s, sliced=%s, sides=%s", seed, sliced, sides)
                    .containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    /** Both with a row whose key is not null, so that each is a candidate's. */
    private static List<Chunk> halves(Side side) throws Exception {
        List<Row> rows = side.rows;
        Row whole = Row.of("a key", 5L, "of no fact");
        rows.add(0, whole);
        rows.add(whole);
        List<Chunk> chunks = new ArrayList<>();
        chunks.addAll(EmitterRun.pack(side.layout, rows.subList(0, 3), side.number));
        chunks.addAll(EmitterRun.pack(side.layout, rows.subList(3, rows.size()), side.number));
        return chunks;
    }

    private static RecordLayout<Row> factLayout(List<Side> sides) {
        Map<String, Integer> kept = new HashMap<>();
        for (Side side : sides) {
            if (side.kind.keepsUnmatched()) {
                kept.put(side.factKey.name(), 1 << side.number);
            }
        }
        return RecordLayout.of(FACT, List.of("fact"), List.of(), new SerializerConfigImpl())
                .withKeys(sides.stream().map(Side::factKey).toList())
                .keepingNullKeys(kept)
                .withTimestamp();
    }

    private static JoinSpec spec(RecordLayout<Row> facts, List<Side> sides) {
        return new JoinSpec(
                facts.schema(),
                sides.stream()
                        .map(
                                side ->
                                        new DimensionSpec(
                                                "dimension-" + side.number,
                                                side.layout.schema(),
                                                0,
                                                facts.schema().require(side.factKey.name()),
                                                side.kind.withAllMatches()))
                        .toList(),
                List.of(),
                null,
                facts.schema().indexOf(RecordLayout.NULL_KEYS));
    }

    private static List<HashedDimension> verified(RecordLayout<Row> facts, List<Side> sides) {
        List<HashedDimension> verified = new ArrayList<>();
        for (Side side : sides) {
            String factBytes = side.factKey.bytesName();
            String bytes = side.layout.schema().column(1).name();
            verified.add(
                    new HashedDimension(
                            side.number,
                            side.kind,
                            OutputField.ofFact(
                                    facts.schema().require(factBytes), facts.field(factBytes)),
                            OutputField.ofDimension(side.number, 1, side.layout.field(bytes)),
                            side.layout.schema().indexOf(KeyColumn.ROW_NAME)));
        }
        return verified;
    }

    private static List<String> texts(List<Row> rows) {
        return rows.stream().map(Row::toString).toList();
    }

    private static List<String> expected(List<Side> sides, List<Row> facts) {
        List<String> results = new ArrayList<>();
        for (Row fact : facts) {
            for (String first : sides.get(0).results(fact)) {
                for (String second : sides.get(1).results(fact)) {
                    for (String third : sides.get(2).results(fact)) {
                        List<Object> values = new ArrayList<>();
                        values.add(fact.getField(6));
                        addName(values, sides.get(0), first);
                        addName(values, sides.get(1), second);
                        addName(values, sides.get(2), third);
                        results.add(Row.of(values.toArray()).toString());
                    }
                }
            }
        }
        return results;
    }

    private static void addName(List<Object> values, Side side, String name) {
        if (side.kind.keepsPayload()) {
            values.add(name);
        }
    }
}
