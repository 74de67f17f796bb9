// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Build keys that fill their range, or just do not. */
@ExtendWith(RegionLeakExtension.class)
class DirectTableTest {

    private static final int SLOTS = 2_000;

    /** Keys from {@code minKey} on in random order, every {@code holeEvery}-th left out. */
    private static List<Long> keys(long minKey, int holeEvery) {
        List<Long> keys = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            if (i == 0 || i == SLOTS - 1 || holeEvery == 0 || i % holeEvery != 0) {
                keys.add(minKey + i);
            }
        }
        Collections.shuffle(keys, new Random(minKey));
        return keys;
    }

    /** Keys in the range, around it and far from it, some of them several times. */
    private static long[] probeKeys(long minKey) {
        long[] far = {
            Long.MIN_VALUE,
            Long.MIN_VALUE + SLOTS,
            Integer.MIN_VALUE,
            -1,
            0,
            Integer.MAX_VALUE,
            Long.MAX_VALUE - SLOTS,
            Long.MAX_VALUE,
            minKey + (1L << 32),
            minKey - (1L << 32),
            minKey + Long.MIN_VALUE
        };
        Random random = new Random(minKey);
        LongStream all = LongStream.range(0, SLOTS).map(i -> minKey + i);
        LongStream around = random.longs(3_000, -SLOTS, 2 * SLOTS).map(i -> minKey + i);
        return LongStream.concat(all, LongStream.concat(Arrays.stream(far), around)).toArray();
    }

    private static Object key(ColumnType type, long key) {
        return type == ColumnType.INT32 ? (Object) (int) key : (Object) key;
    }

    private static BuildChunk build(DimensionSpec side, int dimension, List<Long> keys) {
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            Object[] row = new Object[side.schema().size()];
            for (int c = 0; c < row.length; c++) {
                ColumnType type = side.schema().column(c).type();
                row[c] = c == 0 ? key(type, keys.get(i)) : value(type, i * 10L + c);
            }
            rows.add(row);
        }
        return new BuildChunk(dimension, TestChunks.of(side.schema(), dimension, rows));
    }

    private static Object value(ColumnType type, long value) {
        return type == ColumnType.STRING ? "row " + value : key(type, value);
    }

    private static Chunk facts(ChunkSchema schema, long[] keys) {
        Object[][] rows = new Object[keys.length][];
        for (int i = 0; i < keys.length; i++) {
            rows[i] = new Object[schema.size()];
            for (int c = 0; c < schema.size(); c++) {
                rows[i][c] = key(schema.column(c).type(), keys[(i + c * 37) % keys.length]);
            }
        }
        return TestChunks.of(schema, rows);
    }

    private static List<ResultRow> rows(
            JoinEngineFactory factory, JoinSpec spec, List<BuildChunk> builds, Chunk facts) {
        try (JoinEngine engine = EngineRun.loaded(factory, spec, builds)) {
            return CpuJoinEngineTest.inOrder(engine, List.of(facts));
        }
    }

    private static void assertJoinsAsTheReferenceDoes(
            JoinSpec spec, List<BuildChunk> builds, Chunk facts) {
        List<ResultRow> expected = rows(new ReferenceJoinEngineFactory(), spec, builds, facts);
        assertThat(expected).isNotEmpty();
        assertThat(rows(new CpuJoinEngineFactory(), spec, builds, facts)).isEqualTo(expected);
    }

    private static DimensionSpec side(JoinKind kind, int factColumn, ColumnType... columns) {
        Column[] named = new Column[columns.length];
        Arrays.setAll(named, c -> Column.of("c" + c, columns[c]));
        return new DimensionSpec("d" + factColumn, ChunkSchema.of(named), 0, factColumn, kind);
    }

    private static ChunkSchema factSchema(ColumnType... keys) {
        Column[] named = new Column[keys.length];
        Arrays.setAll(named, c -> Column.of("k" + c, keys[c]));
        return ChunkSchema.of(named);
    }

    private static Class<?> tableClass(DimensionSpec side, List<Long> keys) {
        try (BuildStaging staging = new BuildStaging(new RowLayout(side), Allocator.unlimited())) {
            staging.append(build(side, 0, keys).chunk());
            try (TableBuild build = new TableBuild(staging, side.kind().keepsPayload())) {
                CpuJoinTable table = null;
                while (table == null) {
                    table = build.step(7);
                }
                table.close();
                return table.getClass();
            }
        }
    }

    @ParameterizedTest(name = "from {0}, every {1}-th left out, key repeated: {2}, {3}: direct {4}")
    @CsvSource({
        "0, 0, false, INNER, true",
        "-1000, 0, false, INNER, true",
        "-1000, 9, false, INNER, true",
        "-1000, 7, false, INNER, false",
        "-1000, 9, true, INNER, false",
        "-1000, 0, true, INNER, false",
        "-1000, 2, false, SEMI, true",
        "-1000, 2, true, SEMI, true",
        "-9223372036854775808, 0, false, INNER, true",
        "9223372036854773808, 9, false, INNER, true"
    })
    void shouldBeChosenForDenseUniqueKeys(
            long minKey, int holeEvery, boolean repeated, JoinKind kind, boolean direct) {
        List<Long> keys = keys(minKey, holeEvery);
        if (repeated) {
            keys.set(5, keys.get(keys.size() / 2));
        }
        DimensionSpec side = side(kind, 0, ColumnType.INT64, ColumnType.INT64);
        assertThat(tableClass(side, keys))
                .isEqualTo(direct ? DirectTable.class : RankedTable.class);
    }

    @ParameterizedTest(name = "from {0}, every {1}-th left out, {2}")
    @CsvSource({
        "0, 0, INNER",
        "0, 9, INNER",
        "-1000, 0, INNER",
        "-1000, 9, INNER",
        "-1000, 0, SEMI",
        "-1000, 9, SEMI",
        "-9223372036854775808, 0, INNER",
        "-9223372036854775808, 9, SEMI",
        "9223372036854773808, 0, INNER",
        "9223372036854773808, 9, INNER",
        "2147482648, 0, INNER"
    })
    void shouldFindKeysOfAnyRange(long minKey, int holeEvery, JoinKind kind) {
        DimensionSpec side = side(kind, 0, ColumnType.INT64, ColumnType.INT64);
        JoinSpec spec = new JoinSpec(factSchema(ColumnType.INT64), List.of(side));
        List<BuildChunk> builds = List.of(build(side, 0, keys(minKey, holeEvery)));
        assertJoinsAsTheReferenceDoes(spec, builds, facts(spec.factSchema(), probeKeys(minKey)));
    }

    @ParameterizedTest(name = "from {0}, {1} of facts, {2} of the build side")
    @CsvSource({
        "-1000, INT32, INT32",
        "-1000, INT32, INT64",
        "-1000, INT64, INT32",
        "-2147483648, INT32, INT32",
        "-2147483648, INT64, INT32",
        "2147481648, INT32, INT32",
        "2147481648, INT64, INT32",
        "2147481648, INT32, INT64"
    })
    void shouldFindKeysOfEitherWidth(long minKey, ColumnType factType, ColumnType buildType) {
        DimensionSpec side = side(JoinKind.INNER, 0, buildType, ColumnType.INT64);
        JoinSpec spec = new JoinSpec(factSchema(factType), List.of(side));
        List<BuildChunk> builds = List.of(build(side, 0, keys(minKey, 0)));
        assertThat(tableClass(side, keys(minKey, 0))).isEqualTo(DirectTable.class);
        assertJoinsAsTheReferenceDoes(spec, builds, facts(spec.factSchema(), probeKeys(minKey)));
    }

    @ParameterizedTest(name = "key repeated at {0}")
    @ValueSource(ints = {0, 1, SLOTS / 2, SLOTS - 1})
    void shouldReturnAllRowsOfRepeatedKey(int at) {
        List<Long> keys = keys(-1_000, 0);
        keys.add(at, -1_000L + at);
        DimensionSpec side = side(JoinKind.INNER, 0, ColumnType.INT64, ColumnType.STRING);
        JoinSpec spec = new JoinSpec(factSchema(ColumnType.INT64), List.of(side));
        assertJoinsAsTheReferenceDoes(
                spec, List.of(build(side, 0, keys)), facts(spec.factSchema(), probeKeys(-1_000)));
    }

    @ParameterizedTest(name = "payload {0}")
    @EnumSource(
            value = ColumnType.class,
            names = {"INT32", "INT64", "STRING"})
    void shouldReturnPayloadsOfEachType(ColumnType type) {
        for (int payloads = 1; payloads <= 3; payloads++) {
            ColumnType[] columns = new ColumnType[1 + payloads];
            Arrays.fill(columns, type);
            columns[0] = ColumnType.INT64;
            DimensionSpec side = side(JoinKind.INNER, 0, columns);
            JoinSpec spec = new JoinSpec(factSchema(ColumnType.INT64), List.of(side));
            List<BuildChunk> builds = List.of(build(side, 0, keys(3, 0)));
            assertJoinsAsTheReferenceDoes(spec, builds, facts(spec.factSchema(), probeKeys(3)));
        }
    }

    @ParameterizedTest(name = "last dimension with payload {0}, every {1}-th key left out")
    @CsvSource({"INT64, 0", "INT64, 9", "STRING, 0", "INT32, 0"})
    void shouldJoinSeveralDimensionsOfDifferentKinds(ColumnType lastPayload, int holeEvery) {
        List<DimensionSpec> sides =
                List.of(
                        side(JoinKind.INNER, 0, ColumnType.INT64, ColumnType.INT64),
                        side(JoinKind.INNER, 1, ColumnType.INT64, ColumnType.INT32),
                        side(JoinKind.SEMI, 2, ColumnType.INT32),
                        side(JoinKind.INNER, 3, ColumnType.INT64, lastPayload));
        JoinSpec spec =
                new JoinSpec(
                        factSchema(
                                ColumnType.INT64,
                                ColumnType.INT64,
                                ColumnType.INT32,
                                ColumnType.INT32),
                        sides);
        List<Long> twice = keys(0, 0);
        twice.addAll(keys(0, 3));
        List<BuildChunk> builds =
                List.of(
                        build(sides.get(0), 0, keys(0, holeEvery)),
                        build(sides.get(1), 1, twice),
                        build(sides.get(2), 2, keys(0, 9)),
                        build(sides.get(3), 3, keys(0, holeEvery)));
        assertJoinsAsTheReferenceDoes(spec, builds, facts(spec.factSchema(), probeKeys(0)));
    }
}
