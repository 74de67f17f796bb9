// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static io.github.gpujoin.core.engine.testing.SmallStars.FACTS;
import static io.github.gpujoin.core.engine.testing.SmallStars.dimension;
import static io.github.gpujoin.core.engine.testing.SmallStars.longFacts;
import static io.github.gpujoin.core.engine.testing.SmallStars.star;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.NestedLoopJoin;
import io.github.gpujoin.core.engine.testing.RandomJoinData;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.engine.testing.ResultRows;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests of every join engine. A subclass returns the factory of its engine. Small data is
 * compared with the definition of the join, larger data with the reference engine.
 *
 * <p>The display name of a test contains the seed of its random data.
 */
public abstract class JoinEngineConformance extends JoinEngineChangeConformance {

    private static final long[] EXTREME_KEYS = {
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        Integer.MIN_VALUE - 1L,
        Integer.MIN_VALUE,
        Integer.MIN_VALUE + 1L,
        -(1L << 32),
        -(1L << 32) - 1,
        Short.MIN_VALUE - 1L,
        Short.MIN_VALUE,
        Byte.MIN_VALUE - 1L,
        Byte.MIN_VALUE,
        -1,
        0,
        1,
        Byte.MAX_VALUE,
        Byte.MAX_VALUE + 1L,
        Short.MAX_VALUE,
        Short.MAX_VALUE + 1L,
        Integer.MAX_VALUE - 1L,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE + 1L,
        1L << 32,
        (1L << 32) + 1,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE
    };

    static LongStream smallSeeds() {
        return LongStream.range(0, 60);
    }

    static LongStream largeSeeds() {
        return LongStream.range(1_000, 1_006);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("smallSeeds")
    void shouldJoinByDefinition(long seed) {
        RandomJoinData data = RandomJoinData.small(seed, kinds());
        assertJoinsByDefinition(data.spec(), data.builds(), data.probes());
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("largeSeeds")
    void shouldJoinAsTheReferenceEngine(long seed) {
        RandomJoinData data = RandomJoinData.large(seed, kinds());
        assertThat(EngineRun.join(factory(), data.spec(), data.builds(), data.probes()))
                .isEqualTo(
                        EngineRun.join(
                                new ReferenceJoinEngineFactory(),
                                data.spec(),
                                data.builds(),
                                data.probes()));
    }

    private void assertJoinsByDefinition(
            JoinSpec spec, List<BuildChunk> builds, List<Chunk> probes) {
        NestedLoopJoin definition = new NestedLoopJoin(spec, builds);
        assertThat(EngineRun.join(factory(), spec, builds, probes))
                .isEqualTo(probes.stream().map(definition::join).toList());
    }

    static Stream<Arguments> keyTypes() {
        return integers().flatMap(build -> integers().map(fact -> Arguments.of(build, fact)));
    }

    private static Stream<ColumnType> integers() {
        return Arrays.stream(ColumnType.values()).filter(ColumnType::isInteger);
    }

    @ParameterizedTest(name = "build key {0}, fact key {1}")
    @MethodSource("keyTypes")
    void shouldDistinguishExtremeKeys(ColumnType buildKey, ColumnType factKey) {
        kinds().forEach(kind -> assertTellsExtremeKeysApart(buildKey, factKey, kind));
    }

    private void assertTellsExtremeKeysApart(
            ColumnType buildKey, ColumnType factKey, JoinKind kind) {
        JoinSpec spec = star(factKey, dimension(buildKey, kind, ColumnType.INT64));
        Chunk probe = TestChunks.of(spec.factSchema(), extremeRows(1));
        // First with all rows, then without one: its neighbours must not match in its place.
        for (int left = -1; left < EXTREME_KEYS.length; left++) {
            List<Object[]> rows = new ArrayList<>(List.of(extremeRows(2)));
            if (left >= 0) {
                rows.remove(left);
            }
            Chunk build = TestChunks.of(spec.dimensions().get(0).schema(), 0, rows);
            assertJoinsByDefinition(spec, List.of(new BuildChunk(0, build)), List.of(probe));
        }
    }

    /** Each extreme key, which chunks truncate; the other columns contain its position. */
    private static Object[][] extremeRows(int columns) {
        Object[][] rows = new Object[EXTREME_KEYS.length][columns];
        for (int i = 0; i < rows.length; i++) {
            Arrays.fill(rows[i], (long) i);
            rows[i][0] = EXTREME_KEYS[i];
        }
        return rows;
    }

    @Test
    void shouldSeparateKeysWithEqualLowerHalves() {
        JoinSpec spec = star(ColumnType.INT64, dimension(ColumnType.INT64, JoinKind.INNER));
        Object[][] keys =
                IntStream.range(-40, 40)
                        .mapToObj(high -> new Object[] {((long) high << 32) + 5})
                        .toArray(Object[][]::new);
        Chunk build = TestChunks.of(spec.dimensions().get(0).schema(), 0, List.of(keys));
        Chunk probe = TestChunks.of(spec.factSchema(), keys);
        List<List<ResultRow>> results =
                EngineRun.join(factory(), spec, List.of(new BuildChunk(0, build)), List.of(probe));
        assertThat(results.get(0)).hasSize(80);
        assertThat(results.get(0)).extracting(ResultRow::probeRow).doesNotHaveDuplicates();
    }

    static IntStream payloadBytes() {
        return IntStream.concat(
                IntStream.rangeClosed(0, 17), IntStream.rangeClosed(5, 16).map(words -> 4 * words));
    }

    @ParameterizedTest(name = "{0} bytes")
    @MethodSource("payloadBytes")
    void shouldReturnFixedWidthPayloadsOfEveryWidth(int payloadBytes) {
        Random random = new Random(payloadBytes);
        for (int variant = 0; variant < 6; variant++) {
            List<ColumnType> payload = new ArrayList<>();
            for (int left = payloadBytes; left > 0; ) {
                int limit =
                        Math.min(
                                left, variant < 3 ? Long.BYTES >> variant : 1 << random.nextInt(4));
                ColumnType type =
                        integers().filter(t -> t.widthBytes() <= limit).reduce((a, b) -> b).get();
                payload.add(type);
                left -= type.widthBytes();
            }
            JoinSpec spec =
                    star(
                            ColumnType.INT64,
                            dimension(
                                    ColumnType.INT64,
                                    JoinKind.INNER,
                                    payload.toArray(ColumnType[]::new)));
            ChunkSchema schema = spec.dimensions().get(0).schema();
            List<Object[]> rows = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                Object[] row = new Object[schema.size()];
                Arrays.setAll(row, c -> random.nextLong());
                row[0] = random.nextInt(200);
                rows.add(row);
            }
            Chunk probe = longFacts(random.longs(100, 0, 200).toArray());
            assertJoinsByDefinition(
                    spec,
                    List.of(new BuildChunk(0, TestChunks.of(schema, 0, rows))),
                    List.of(probe));
        }
    }

    @Test
    void shouldReturnVariableWidthValuesByteForByte() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64),
                        Column.of("text", ColumnType.STRING),
                        Column.nullable("bytes", ColumnType.BYTES),
                        Column.nullable("number", ColumnType.INT64));
        JoinSpec spec =
                new JoinSpec(FACTS, List.of(new DimensionSpec("d", schema, 0, 0, JoinKind.INNER)));
        byte[] any = {0, -1, 127, -128, '\n'};
        Chunk build =
                TestChunks.of(
                        schema,
                        0,
                        List.of(
                                new Object[] {1L, "", null, null},
                                new Object[] {2L, "Zürich 𝄞", any, Long.MIN_VALUE},
                                new Object[] {3L, "x".repeat(10_000), new byte[0], 0L}));
        assertJoinsByDefinition(
                spec, List.of(new BuildChunk(0, build)), List.of(longFacts(3, 2, 1, 2, 9)));
        assertJoinsByDefinition(spec, List.of(), List.of(longFacts(3, 2, 1)));
        try (JoinEngine engine =
                EngineRun.loaded(factory(), spec, List.of(new BuildChunk(0, build)))) {
            assertThat(engine.submitProbe(longFacts(2), 0)).isTrue();
            ResultBatch batch = next(engine);
            while (batch.rowCount() == 0) {
                batch = next(engine);
            }
            byte[] variableWidth = batch.variableWidth(0, 0);
            byte[] text = "Zürich 𝄞".getBytes(StandardCharsets.UTF_8);
            assertThat(variableWidth).hasSize(4 + text.length + 4 + any.length + 4 + 8);
            assertThat(Arrays.copyOfRange(variableWidth, 4, 4 + text.length)).isEqualTo(text);
        }
    }

    @Test
    void shouldJoinIfAllRowsHaveTheSameKey() {
        kinds().forEach(this::assertLetsOneKeyTakeAllRows);
    }

    private void assertLetsOneKeyTakeAllRows(JoinKind kind) {
        JoinSpec spec = star(ColumnType.INT64, dimension(ColumnType.INT64, kind, ColumnType.INT64));
        ChunkSchema schema = spec.dimensions().get(0).schema();
        int rows = ONE_KEY_ROWS;
        List<BuildChunk> builds =
                IntStream.range(0, 4)
                        .mapToObj(
                                part ->
                                        TestChunks.of(
                                                schema,
                                                0,
                                                IntStream.range(0, rows / 4)
                                                        .mapToObj(i -> new Object[] {-7L, 1L << i})
                                                        .toList()))
                        .map(chunk -> new BuildChunk(0, chunk))
                        .toList();
        long sumPerMatch = 0;
        for (int i = 0; i < rows / 4; i++) {
            sumPerMatch += 4 * (1L << i);
        }
        boolean inner = kind.keepsPayload();
        int matches = inner ? rows : kind == JoinKind.SEMI ? 1 : 0;
        try (JoinEngine engine = EngineRun.loaded(factory(), spec, builds)) {
            assertThat(engine.submitProbe(longFacts(LongStream.generate(() -> -7).limit(rows)), 0))
                    .isTrue();
            long[] countByProbeRow = new long[rows];
            long sum = 0;
            int completedRows = 0;
            for (boolean last = false; !last; ) {
                ResultBatch batch = next(engine);
                assertThat(batch.rowCount()).isBetween(0, batch.layout().capacityRows());
                for (int row = 0; row < batch.rowCount(); row++) {
                    countByProbeRow[batch.probeRow(row)]++;
                    sum += inner ? batch.getLong(0, 0, row) : 0;
                }
                for (; completedRows < batch.completedRows(); completedRows++) {
                    assertThat(countByProbeRow[completedRows]).isEqualTo(matches);
                }
                last = batch.isLast();
            }
            assertThat(countByProbeRow).containsOnly(matches);
            assertThat(sum).isEqualTo(inner ? rows * sumPerMatch : 0);
        }
    }

    @Test
    void shouldJoinEmptyTablesEmptyChunksAndNoChunks() {
        JoinSpec spec =
                star(
                        ColumnType.INT64,
                        dimension(ColumnType.INT64, JoinKind.INNER, ColumnType.INT32),
                        dimension(ColumnType.INT32, JoinKind.SEMI));
        Chunk noRows = TestChunks.of(spec.dimensions().get(0).schema(), 0, List.of());
        Chunk oneRow =
                TestChunks.of(
                        spec.dimensions().get(0).schema(), 0, List.of(new Object[][] {{1L, 2}}));
        Chunk semiRow =
                TestChunks.of(spec.dimensions().get(1).schema(), 1, List.of(new Object[][] {{1}}));
        List<Chunk> probes = List.of(longFacts(), longFacts(1), longFacts(1, 1, 2));
        BuildChunk inner = new BuildChunk(0, oneRow);
        BuildChunk empty = new BuildChunk(0, noRows);
        BuildChunk semi = new BuildChunk(1, semiRow);
        for (List<BuildChunk> builds :
                List.of(
                        List.<BuildChunk>of(),
                        List.of(empty),
                        List.of(inner),
                        List.of(semi),
                        List.of(semi, empty, inner, empty))) {
            assertJoinsByDefinition(spec, builds, probes);
        }
    }

    @Test
    void shouldKeepOrDropUnmatchedFactsByJoinKind() {
        assumeThat(kinds()).contains(JoinKind.LEFT);
        Object[][] builds = {{1L, 10}, {1L, 11}, {0L, 12}};
        Object[][] facts = {{1L, 0}, {2L, 0}, {0L, 1}, {1L, 1}, {1L, 2}};
        for (JoinKind kind : kinds()) {
            DimensionSpec side = dimension(ColumnType.INT64, kind, ColumnType.INT32);
            ChunkSchema factSchema =
                    ChunkSchema.of(
                            Column.of("fact_key", ColumnType.INT64),
                            Column.of("null_keys", ColumnType.INT32));
            JoinSpec spec = new JoinSpec(factSchema, List.of(side), List.of(), null, 1);
            BuildChunk build = new BuildChunk(0, TestChunks.of(side.schema(), 0, List.of(builds)));
            Chunk probe = TestChunks.of(factSchema, facts);
            List<ResultRow> rows =
                    EngineRun.join(factory(), spec, List.of(build), List.of(probe)).get(0);
            String none = ResultRows.unmatched(1);
            // the third fact's key is null, and so is the fourth's; the fifth's bit is of another
            List<String> expected =
                    switch (kind) {
                        case INNER -> List.of("0[10]", "0[11]", "4[10]", "4[11]");
                        case LEFT ->
                                List.of(
                                        "0[10]",
                                        "0[11]",
                                        "1" + none,
                                        "2" + none,
                                        "3" + none,
                                        "4[10]",
                                        "4[11]");
                        case SEMI -> List.of("0[]", "4[]");
                        case ANTI -> List.of("1[]", "2[]", "3[]");
                    };
            assertThat(rows)
                    .as("%s", kind)
                    .extracting(row -> row.probeRow() + row.payload())
                    .isEqualTo(expected);
        }
    }

    private static ResultBatch next(JoinEngine engine) {
        ResultBatch batch = engine.poll();
        while (batch == null) {
            assertThat(engine.inFlightCount()).isPositive();
            batch = engine.poll();
        }
        return batch;
    }
}
