// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables whose keys meet: in a slot, in a row, at the ends. */
class CpuJoinTableTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));

    private static JoinSpec spec(ColumnType keyType, JoinKind kind) {
        ChunkSchema build =
                ChunkSchema.of(Column.of("key", keyType), Column.of("number", ColumnType.INT32));
        return new JoinSpec(FACTS, List.of(new DimensionSpec("d", build, 0, 0, kind)));
    }

    /** Rows of key and position. */
    private static List<BuildChunk> build(JoinSpec spec, long[] keys) {
        ChunkSchema schema = spec.dimensions().get(0).schema();
        boolean narrow = schema.column(0).type() == ColumnType.INT32;
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
            rows.add(new Object[] {narrow ? (Object) (int) keys[i] : (Object) keys[i], i});
        }
        return List.of(new BuildChunk(0, TestChunks.of(schema, 0, rows)));
    }

    private static Chunk probe(long[] keys) {
        Object[][] rows = new Object[keys.length][];
        for (int i = 0; i < keys.length; i++) {
            rows[i] = new Object[] {keys[i]};
        }
        return TestChunks.of(FACTS, rows);
    }

    /** For each probe key the positions of its build rows, as the engine delivers them. */
    private static List<List<Integer>> matches(JoinKind kind, long[] buildKeys, long[] probeKeys) {
        JoinSpec spec = spec(ColumnType.INT64, kind);
        List<List<Integer>> matches = new ArrayList<>();
        for (int i = 0; i < probeKeys.length; i++) {
            matches.add(new ArrayList<>());
        }
        try (JoinEngine engine =
                EngineRun.loaded(new CpuJoinEngineFactory(), spec, build(spec, buildKeys))) {
            engine.submitProbe(probe(probeKeys), 0);
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    int number = kind == JoinKind.INNER ? batch.getInt(0, 0, row) : 0;
                    matches.get(batch.probeRow(row)).add(number);
                }
            }
        }
        return matches;
    }

    private static List<List<Integer>> expected(JoinKind kind, long[] buildKeys, long[] probeKeys) {
        List<List<Integer>> expected = new ArrayList<>();
        for (long probeKey : probeKeys) {
            List<Integer> rows = new ArrayList<>();
            for (int i = 0; i < buildKeys.length; i++) {
                if (buildKeys[i] == probeKey && (kind == JoinKind.INNER || rows.isEmpty())) {
                    rows.add(kind == JoinKind.INNER ? i : 0);
                }
            }
            expected.add(rows);
        }
        return expected;
    }

    @ParameterizedTest(name = "slot {0} of 1600, each key {1} times, {2}")
    @CsvSource({
        "0, 1, INNER",
        "800, 1, INNER",
        "1599, 1, INNER",
        "0, 4, INNER",
        "1599, 4, INNER",
        "1599, 1, SEMI",
        "1599, 4, SEMI"
    })
    void shouldFindKeysThatShareASlot(int slot, int times, JoinKind kind) {
        long[] colliding =
                LongStream.iterate(Long.MIN_VALUE, key -> key + 1_000_003)
                        .filter(key -> SlotHash.slot(SlotHash.hash(key), 1_600) == slot)
                        .limit(400)
                        .toArray();
        List<Long> rows = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            rows.add(colliding[i % (200 / times)]);
        }
        Collections.shuffle(rows, new Random(slot));
        long[] buildKeys = rows.stream().mapToLong(Long::longValue).toArray();
        assertThat(matches(kind, buildKeys, colliding))
                .isEqualTo(expected(kind, buildKeys, colliding));
    }

    @ParameterizedTest(name = "{0} distinct keys, {1} apart, {2}")
    @CsvSource({
        "5000, 1, INNER",
        "5000, 2, INNER",
        "300, 1, INNER",
        "300, 9, INNER",
        "1, 1, INNER",
        "5000, 1000003, INNER",
        "300, 1000003, INNER",
        "1, 1000003, INNER",
        "300, 1, SEMI",
        "300, 1000003, SEMI"
    })
    void shouldReturnRowsOfKeyInBuildOrder(int distinctKeys, long distance, JoinKind kind) {
        Random random = new Random(distinctKeys);
        long[] buildKeys =
                random.longs(5_000, 0, distinctKeys)
                        .map(key -> (key - distinctKeys / 2) * distance)
                        .toArray();
        long[] probeKeys = LongStream.range(-200, 200).map(key -> key * distance).toArray();
        assertThat(matches(kind, buildKeys, probeKeys))
                .isEqualTo(expected(kind, buildKeys, probeKeys));
    }

    @ParameterizedTest(name = "{0} keys, {1} apart, every key {2} times, at most {3} of 100")
    @CsvSource({
        "INT64, 1, 1, 150", "INT64, 1000003, 1, 150", "INT64, 1000003, 2, 150",
        "INT32, 1, 1, 150", "INT32, 10007, 1, 150", "INT32, 10007, 2, 200"
    })
    void shouldUseLittleMoreMemoryThanRows(ColumnType type, long distance, int times, int percent) {
        ChunkSchema schema = ChunkSchema.of(Column.of("key", type), Column.of("payload", type));
        JoinSpec spec =
                new JoinSpec(schema, List.of(new DimensionSpec("d", schema, 0, 0, JoinKind.INNER)));
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            long key = i / times * distance;
            Object value = type == ColumnType.INT32 ? (Object) (int) key : (Object) key;
            rows.add(new Object[] {value, value});
        }
        BuildChunk build = new BuildChunk(0, TestChunks.of(schema, 0, rows));
        try (JoinEngine engine =
                EngineRun.loaded(new CpuJoinEngineFactory(), spec, List.of(build))) {
            assertThat(engine.stats().buildBytes()).isEqualTo(100_000L * 2 * type.widthBytes());
            assertThat(engine.stats().tableBytes())
                    .isPositive()
                    .isLessThanOrEqualTo(engine.stats().buildBytes() * percent / 100);
        }
    }

    @Test
    void shouldFindKeysInManyPartitions() {
        JoinSpec spec = spec(ColumnType.INT64, JoinKind.INNER);
        long[] keys = LongStream.range(0, 150_000).map(KeyHash::hash).toArray();
        long checked = 0;
        try (JoinEngine engine =
                EngineRun.loaded(new CpuJoinEngineFactory(), spec, build(spec, keys))) {
            engine.submitProbe(probe(keys), 0);
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    assertThat(batch.getInt(0, 0, row)).isEqualTo(batch.probeRow(row));
                    checked++;
                }
            }
        }
        assertThat(checked).isEqualTo(keys.length);
    }
}
