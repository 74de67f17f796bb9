// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.collect;
import static io.github.gpujoin.flink.api.SalesData.environment;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.KeyTypesITCase.KeyType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Star joins by keys of all types, as nested loops with the type's own comparison do. */
@ExtendWith(RegionLeakExtension.class)
class StarKeyTypesITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** A key type's parts as columns {@code c0, c1, ...}, and a number. */
    private static RowTypeInfo rowType(KeyType type) {
        List<TypeInformation<?>> types = new ArrayList<>();
        if (type.type() instanceof RowTypeInfo parts) {
            types.addAll(List.of(parts.getFieldTypes()));
        } else {
            types.add(type.type());
        }
        List<String> names = new ArrayList<>();
        for (int i = 0; i < types.size(); i++) {
            names.add("c" + i);
        }
        types.add(Types.INT);
        names.add("n");
        return new RowTypeInfo(
                types.toArray(TypeInformation<?>[]::new), names.toArray(String[]::new));
    }

    private static List<Row> rows(KeyType type, Random random, int count) {
        int parts = rowType(type).getArity() - 1;
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Row row = new Row(parts + 1);
            Object key = type.value(random.nextInt(24));
            for (int part = 0; part < parts; part++) {
                Object value = key instanceof Row several ? several.getField(part) : key;
                row.setField(part, random.nextInt(10) == 0 ? null : value);
            }
            row.setField(parts, i);
            rows.add(row);
        }
        return rows;
    }

    private static boolean areEqual(KeyType type, Row a, Row b, boolean nullSafe) {
        for (int part = 0; part < a.getArity() - 1; part++) {
            Object x = a.getField(part);
            Object y = b.getField(part);
            boolean equal =
                    x == null || y == null
                            ? nullSafe && x == y
                            : a.getArity() > 2 ? x.equals(y) : type.areEqual(x, y);
            if (!equal) {
                return false;
            }
        }
        return true;
    }

    @ParameterizedTest(name = "{0} {1} nullSafe={2} partitioned={3} engine={4}")
    @CsvSource({
        "BOOLEAN, INNER, false, false, cpu",
        "INT, LEFT, true, true, cpu",
        "BYTE, LEFT, false, true, cpu",
        "SHORT, ANTI, true, false, cpu",
        "SHORT, INNER, false, true, gpu",
        "DOUBLE, LEFT, false, false, cpu",
        "DATE, ANTI, false, true, cpu",
        "TIMESTAMP, INNER, false, true, gpu",
        "INSTANT, SEMI, true, false, cpu",
        "DECIMAL, LEFT, false, true, cpu",
        "STRING, INNER, false, false, cpu",
        "STRING, LEFT, false, true, reference",
        "STRING, SEMI, false, true, cpu",
        "STRING, ANTI, true, false, cpu",
        "BYTES, INNER, true, false, cpu",
        "TWO_INTS, LEFT, false, true, cpu",
        "TWO_INTS, ANTI, true, false, reference",
        "MIXED, INNER, false, true, cpu",
        "MIXED, LEFT, true, false, gpu"
    })
    void shouldJoinAsNestedLoopsDo(
            KeyType type, JoinKind kind, boolean nullSafe, boolean partitioned, String engine)
            throws Exception {
        Random random = new Random(47L * type.ordinal() + kind.ordinal());
        List<Row> facts = rows(type, random, 120);
        List<Row> rows = rows(type, random, 50);
        List<Row> halves = rows(KeyType.INT, random, 20);
        StreamExecutionEnvironment env = environment(engine, 2);
        DataStream<Row> factStream = env.fromData(facts, rowType(type));
        StarJoin<Row> join =
                StarJoin.of(factStream)
                        .select("n AS fact")
                        .dimension(
                                env.fromData(halves, rowType(KeyType.INT)),
                                d -> d.named("half").on("n", "c0").left().select("n AS half"))
                        .dimension(
                                env.fromData(rows, rowType(type)),
                                d -> describe(d, type, kind, nullSafe, partitioned));

        assertThat(collect(join.toRows()))
                .containsExactlyInAnyOrderElementsOf(
                        expected(type, kind, nullSafe, facts, rows, halves));
    }

    private static void describe(
            Dimension<Row> dimension,
            KeyType type,
            JoinKind kind,
            boolean nullSafe,
            boolean partitioned) {
        dimension.named("keyed");
        for (int part = 0; part < rowType(type).getArity() - 1; part++) {
            dimension.on("c" + part, "c" + part);
        }
        switch (kind) {
            case INNER -> dimension.select("n AS row");
            case LEFT -> dimension.left().select("n AS row");
            case SEMI -> dimension.semi();
            case ANTI -> dimension.anti();
        }
        if (nullSafe) {
            dimension.nullSafe();
        }
        if (partitioned) {
            dimension.partitioned();
        }
    }

    @ParameterizedTest(name = "{0} {1} nullSafe={2} partitioned={3} engine={4}")
    @CsvSource({
        "INT, LEFT, true, true, cpu",
        "TIMESTAMP, INNER, false, true, auto",
        "DECIMAL, LEFT, false, true, cpu",
        "STRING, INNER, false, false, cpu",
        "STRING, LEFT, false, true, reference",
        "STRING, SEMI, true, true, cpu",
        "STRING, ANTI, false, false, cpu",
        "BYTES, INNER, true, false, gpu",
        "TWO_INTS, ANTI, true, false, cpu",
        "MIXED, INNER, false, true, cpu",
        "MIXED, LEFT, true, false, cpu"
    })
    void shouldJoinTheFinalRowsOfAChangelogAsNestedLoopsDo(
            KeyType type, JoinKind kind, boolean nullSafe, boolean partitioned, String engine)
            throws Exception {
        Random random = new Random(53L * type.ordinal() + kind.ordinal());
        List<Row> facts = rows(type, random, 120);
        List<Row> halves = rows(KeyType.INT, random, 20);
        List<Row> changes = rows(type, random, 300);
        List<Row> live = new ArrayList<>();
        for (Row change : changes) {
            live.removeIf(row -> areEqual(type, row, change, nullSafe));
            if (random.nextInt(3) == 0) {
                change.setKind(RowKind.DELETE);
            } else {
                live.add(change);
            }
        }
        StreamExecutionEnvironment env = environment(engine, 2);
        StarJoin<Row> join =
                StarJoin.of(env.fromData(facts, rowType(type)))
                        .select("n AS fact")
                        .dimension(
                                env.fromData(halves, rowType(KeyType.INT)),
                                d -> d.named("half").on("n", "c0").left().select("n AS half"))
                        .dimension(
                                env.fromData(changes, rowType(type)),
                                d -> {
                                    describe(d, type, kind, nullSafe, partitioned);
                                    d.changelog().completeAtWatermark(Long.MAX_VALUE);
                                });

        assertThat(collect(join.toRows()))
                .containsExactlyInAnyOrderElementsOf(
                        expected(type, kind, nullSafe, facts, live, halves));
    }

    private static List<String> expected(
            KeyType type,
            JoinKind kind,
            boolean nullSafe,
            List<Row> facts,
            List<Row> rows,
            List<Row> halves) {
        List<String> results = new ArrayList<>();
        for (Row fact : facts) {
            Object number = last(fact);
            List<Object> left = new ArrayList<>();
            for (Row half : halves) {
                if (number.equals(half.getField(0))) {
                    left.add(last(half));
                }
            }
            if (left.isEmpty()) {
                left.add(null);
            }
            List<Object> matches = new ArrayList<>();
            for (Row row : rows) {
                if (areEqual(type, fact, row, nullSafe)) {
                    matches.add(last(row));
                }
            }
            for (Object half : left) {
                switch (kind) {
                    case INNER -> matches.forEach(m -> results.add(text(number, half, m)));
                    case LEFT -> {
                        matches.forEach(m -> results.add(text(number, half, m)));
                        if (matches.isEmpty()) {
                            results.add(text(number, half, null));
                        }
                    }
                    case SEMI, ANTI -> {
                        if (matches.isEmpty() == (kind == JoinKind.ANTI)) {
                            results.add(text(number, half));
                        }
                    }
                }
            }
        }
        return results;
    }

    private static Object last(Row row) {
        return row.getField(row.getArity() - 1);
    }

    private static String text(Object... values) {
        return Row.of(values).toString();
    }

    /** An int of the facts, a long of the dimension, each beside text. */
    @Test
    void shouldCompareIntegersOfAnyWidthInKeysOfSeveralColumns() throws Exception {
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> facts =
                env.fromData(
                        List.of(Row.of(1, "a"), Row.of(2, "a"), Row.of(-1, "b")),
                        Types.ROW_NAMED(new String[] {"i", "t"}, Types.INT, Types.STRING));
        DataStream<Row> rows =
                env.fromData(
                        List.of(
                                Row.of(1L, "a", "x"),
                                Row.of(-1L, "b", "y"),
                                Row.of(1L << 32, "a", "z")),
                        Types.ROW_NAMED(
                                new String[] {"l", "t", "name"},
                                Types.LONG,
                                Types.STRING,
                                Types.STRING));
        assertThat(
                        collect(
                                StarJoin.of(facts)
                                        .select("i")
                                        .dimension(
                                                rows,
                                                d ->
                                                        d.on("i", "l")
                                                                .on("t", "t")
                                                                .select("l", "name"))
                                        .toRows()))
                .containsExactly("+I[-1, -1, y]", "+I[1, 1, x]");
    }

    /** Text as a key, in and out of chunks, and two dimensions by one key of the facts. */
    @Test
    void shouldGiveChunksAndShareAKeyOfTheFacts() throws Exception {
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> facts =
                env.fromData(
                        List.of(Row.of("a", 1), Row.of("b", 2), Row.of(null, 3)),
                        Types.ROW_NAMED(new String[] {"code", "n"}, Types.STRING, Types.INT));
        DataStream<Row> names =
                env.fromData(
                        List.of(Row.of("a", "alpha"), Row.of("c", "gamma")),
                        Types.ROW_NAMED(new String[] {"code", "name"}, Types.STRING, Types.STRING));
        SingleOutputStreamOperator<Chunk> chunks =
                StarJoin.of(facts)
                        .select("n", "code")
                        .dimension(
                                names,
                                d ->
                                        d.named("names")
                                                .on("code", "code")
                                                .left()
                                                .select("name", "code AS match"))
                        .dimension(names, d -> d.named("none").on("code", "name").anti())
                        .toChunks();
        DataStream<Row> rows =
                StarJoin.ofChunks(chunks)
                        .select("n", "code", "name", "match")
                        .dimension(
                                env.fromData(
                                        List.of(Row.of(1), Row.of(2), Row.of(3)),
                                        Types.ROW_NAMED(new String[] {"id"}, Types.INT)),
                                d -> d.on("n", "id"))
                        .uid("chunks")
                        .toRows();
        assertThat(collect(rows))
                .containsExactly(
                        "+I[1, a, alpha, a]", "+I[2, b, null, null]", "+I[3, null, null, null]");
    }

    @Test
    void shouldRefuseWhatItCannotCompare() {
        StreamExecutionEnvironment env = environment("cpu", 1);
        RowTypeInfo type =
                new RowTypeInfo(
                        new TypeInformation<?>[] {Types.STRING, Types.LONG},
                        new String[] {"t", "l"});
        DataStream<Row> stream = env.fromData(List.of(Row.of("a", 1L)), type);
        assertThatThrownBy(
                        () ->
                                StarJoin.of(stream)
                                        .select("l")
                                        .dimension(stream, d -> d.on("t", "l"))
                                        .toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Key types differ")
                .hasMessageContaining("dimension-0");
        assertThatThrownBy(
                        () ->
                                StarJoin.of(stream)
                                        .dimension(stream, d -> d.on("t", "t"))
                                        .groupBy("facts.l")
                                        .count("c")
                                        .toRows())
                .hasMessageStartingWith("Key of a grouped join exceeds 64 bits")
                .hasMessageContaining("columns=[t]");
        ChunkSchema schema = ChunkSchema.of(List.of(Column.of("l", ColumnType.INT64)));
        ChunkBuilder row = new ChunkBuilder(schema, 64);
        row.putLong(0, 1);
        row.endRow();
        DataStream<Chunk> chunks =
                env.fromData(
                        ChunkTypeInfo.of(schema),
                        row.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
        assertThatThrownBy(
                        () ->
                                StarJoin.ofChunks(chunks)
                                        .select("l")
                                        .dimension(stream, d -> d.on("l", "l").nullSafe())
                                        .toRows())
                .hasMessageStartingWith("Chunks support one integer key column");
    }
}
