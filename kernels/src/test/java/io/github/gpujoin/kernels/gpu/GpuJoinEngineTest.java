// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@NeedsGpu
class GpuJoinEngineTest {

    private static final ChunkSchema FACTS =
            ChunkSchema.of(Column.of("fact_key", ColumnType.INT64));

    @AfterEach
    void shouldHaveFreedAllDeviceMemory() {
        assertThat(Buffers.openCount()).isZero();
    }

    private static JoinSpec spec(JoinKind kind) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT64));
        return new JoinSpec(FACTS, List.of(new DimensionSpec("d", schema, 0, 0, kind)));
    }

    private static Chunk build(JoinSpec spec, LongStream keys) {
        ChunkSchema schema = spec.dimensions().get(0).schema();
        List<Object[]> rows =
                keys.mapToObj(
                                key ->
                                        LongStream.rangeClosed(1, schema.size())
                                                .mapToObj(c -> key * (2 * c - 1))
                                                .toArray())
                        .toList();
        return TestChunks.of(schema, 0, rows);
    }

    private static Chunk facts(LongStream keys) {
        return TestChunks.of(
                FACTS, keys.mapToObj(key -> new Object[] {key}).toArray(Object[][]::new));
    }

    @ParameterizedTest(name = "{0}, {1} distinct keys of 1000: {2}, {3} bytes a row")
    @CsvSource({
        "INNER, 1000, UNIQUE, 48",
        "INNER, 999, CHAINED, 28",
        "INNER, 250, CHAINED, 28",
        "INNER, 249, GROUPED, 56",
        "SEMI, 1000, UNIQUE, 32",
        "SEMI, 10, UNIQUE, 32"
    })
    void shouldChooseTheTableByTheBuildSide(
            JoinKind kind, int distinct, TableKind expected, int bytesPerRow) {
        JoinSpec spec = spec(kind);
        try (GpuJoinEngine engine = new GpuJoinEngine(spec, GpuOptions.defaults())) {
            engine.submitBuild(0, build(spec, LongStream.range(0, 1000).map(i -> i % distinct)));
            engine.finishBuild();
            assertThat(engine.tableKinds()).containsExactly(expected);
            assertThat(engine.stats().tableBytes()).isEqualTo(1000L * bytesPerRow);
        }
    }

    @ParameterizedTest(name = "{0} payload columns: {1}, {2} bytes a row")
    @CsvSource({"0, UNIQUE, 32", "1, UNIQUE, 48", "2, UNIQUE, 64", "3, GROUPED, 72"})
    void shouldChooseTheSmallerTableForUniqueKeys(
            int payloads, TableKind expected, int bytesPerRow) {
        List<Column> columns = new ArrayList<>(List.of(Column.of("key", ColumnType.INT64)));
        for (int i = 0; i < payloads; i++) {
            columns.add(Column.of("value" + i, ColumnType.INT64));
        }
        DimensionSpec side = new DimensionSpec("d", ChunkSchema.of(columns), 0, 0, JoinKind.INNER);
        JoinSpec spec = new JoinSpec(FACTS, List.of(side));
        try (GpuJoinEngine engine = new GpuJoinEngine(spec, GpuOptions.defaults())) {
            engine.submitBuild(0, build(spec, LongStream.range(0, 1000)));
            engine.finishBuild();
            assertThat(engine.tableKinds()).containsExactly(expected);
            assertThat(engine.stats().tableBytes()).isEqualTo(1000L * bytesPerRow);
            EngineRun run = new EngineRun(engine);
            run.submit(facts(LongStream.range(500, 1500)), 0);
            run.drain();
            assertThat(run.results().get(0)).hasSize(500);
        }
    }

    @Test
    void shouldJoinInForksOfAnEngineThatIsClosed() {
        JoinSpec spec = spec(JoinKind.INNER);
        GpuJoinEngine engine = new GpuJoinEngine(spec, GpuOptions.defaults());
        engine.submitBuild(0, build(spec, LongStream.range(0, 20_000)));
        engine.finishBuild();
        try (GpuJoinEngine first = engine.fork();
                GpuJoinEngine second = first.fork()) {
            engine.close();
            for (GpuJoinEngine fork : List.of(first, second)) {
                EngineRun run = new EngineRun(fork);
                run.submit(facts(LongStream.range(10_000, 30_000)), 0);
                run.drain();
                assertThat(run.results().get(0)).hasSize(10_000);
            }
        }
    }

    @Test
    void shouldServeEnginesOfSeveralThreadsConcurrently() throws Exception {
        JoinSpec spec = spec(JoinKind.INNER);
        Chunk probe = facts(LongStream.range(0, 50_000).map(i -> i % 30_000));
        Callable<Integer> join =
                () -> {
                    int rows = 0;
                    for (int repeat = 0; repeat < 3; repeat++) {
                        try (GpuJoinEngine engine =
                                new GpuJoinEngine(spec, GpuOptions.defaults())) {
                            engine.submitBuild(0, build(spec, LongStream.range(0, 20_000)));
                            // several runs, while steps of other engines are in flight
                            engine.submitBuild(0, build(spec, LongStream.range(50_000, 250_000)));
                            engine.finishBuild();
                            EngineRun run = new EngineRun(engine);
                            IntStream.range(0, 5).forEach(i -> run.submit(probe, 0));
                            run.drain();
                            rows += run.results().stream().mapToInt(List::size).sum();
                        }
                    }
                    return rows;
                };
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                results.add(threads.submit(join));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get()).isEqualTo(3 * 5 * 40_000);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
