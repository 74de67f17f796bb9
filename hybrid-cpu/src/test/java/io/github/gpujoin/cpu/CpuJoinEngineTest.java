// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.testing.EngineRun;
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
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is promised beyond the contract of all engines. */
@ExtendWith(RegionLeakExtension.class)
class CpuJoinEngineTest {

    private static final ChunkSchema PAIR =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final JoinSpec JOIN =
            new JoinSpec(PAIR, List.of(new DimensionSpec("d", PAIR, 0, 0, JoinKind.INNER)));

    static LongStream seeds() {
        return LongStream.range(3_000, 3_004);
    }

    private static CpuJoinEngine loaded(JoinSpec spec, List<BuildChunk> builds) {
        return (CpuJoinEngine) EngineRun.loaded(new CpuJoinEngineFactory(), spec, builds);
    }

    @Test
    void shouldRejectManagedEngineWithoutMemory() {
        assertThatThrownBy(() -> CpuJoinEngineFactory.managed().create(JOIN))
                .hasMessage("The engine has no memory yet. Call within(...) before create(...).");
    }

    /** So many rows of one key, numbered. */
    private static Chunk rowsOfOneKey(int rows) {
        return TestChunks.of(
                PAIR,
                LongStream.range(0, rows)
                        .mapToObj(number -> new Object[] {7L, number})
                        .toArray(Object[][]::new));
    }

    static List<ResultRow> inOrder(JoinEngine engine, List<Chunk> probes) {
        List<ResultRow> rows = new ArrayList<>();
        for (Chunk probe : probes) {
            engine.submitProbe(probe, 0);
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                rows.addAll(ResultRows.of(engine.spec(), batch));
            }
        }
        return rows;
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldEmitRowsInOrderOfReferenceEngine(long seed) {
        RandomJoinData data = RandomJoinData.large(seed);
        try (JoinEngine cpu = loaded(data.spec(), data.builds());
                JoinEngine reference =
                        EngineRun.loaded(
                                new ReferenceJoinEngineFactory(), data.spec(), data.builds())) {
            assertThat(inOrder(cpu, data.probes())).isEqualTo(inOrder(reference, data.probes()));
        }
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldResumeWhereAnotherEngineStopped(long seed) {
        RandomJoinData data = RandomJoinData.large(seed);
        JoinEngineFactory reference = new ReferenceJoinEngineFactory();
        JoinEngineFactory cpu = new CpuJoinEngineFactory();
        List<ResultRow> whole = new ArrayList<>();
        EngineRun.join(reference, data.spec(), data.builds(), data.probes()).forEach(whole::addAll);
        Collections.sort(whole);
        int polls = 2 + (int) (seed % 3);
        assertThat(joinInTwoParts(reference, cpu, data, polls)).isEqualTo(whole);
        assertThat(joinInTwoParts(cpu, reference, data, polls)).isEqualTo(whole);
    }

    /** Rows that the first engine completed in so many polls, and those of the second after it. */
    private static List<ResultRow> joinInTwoParts(
            JoinEngineFactory first, JoinEngineFactory second, RandomJoinData data, int polls) {
        List<ResultRow> rows = new ArrayList<>();
        List<InFlightProbe> pending;
        int submitted = 0;
        try (JoinEngine engine = EngineRun.loaded(first, data.spec(), data.builds())) {
            while (submitted < data.probes().size()
                    && engine.submitProbe(data.probes().get(submitted), 0)) {
                submitted++;
            }
            List<ResultRow> chunkRows = new ArrayList<>();
            for (int i = 0; i < polls && engine.inFlightCount() > 0; i++) {
                ResultBatch batch = engine.poll();
                chunkRows.addAll(ResultRows.of(data.spec(), batch));
                if (batch.isLast()) {
                    rows.addAll(chunkRows);
                    chunkRows.clear();
                }
            }
            pending = engine.snapshot();
            chunkRows.stream()
                    .filter(row -> row.probeRow() < pending.get(0).firstRow())
                    .forEach(rows::add);
        }
        try (JoinEngine engine = EngineRun.loaded(second, data.spec(), data.builds())) {
            engine.restore(pending);
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                rows.addAll(ResultRows.of(data.spec(), batch));
            }
            rows.addAll(inOrder(engine, data.probes().subList(submitted, data.probes().size())));
        }
        Collections.sort(rows);
        return rows;
    }

    @Test
    void shouldJoinHugeFanOutInMemoryOfOneBatch() {
        int rows = 3_000;
        Chunk chunk = rowsOfOneKey(rows);
        try (JoinEngine engine = loaded(JOIN, List.of(new BuildChunk(0, chunk)))) {
            long openBytes = Region.openBytes();
            engine.submitProbe(chunk, 0);
            long next = 0;
            boolean last = false;
            while (!last) {
                ResultBatch batch = engine.poll();
                for (int row = 0; row < batch.rowCount(); row++, next++) {
                    if (batch.probeRow(row) != next / rows
                            || batch.getLong(0, 0, row) != next % rows) {
                        assertThat(List.of(batch.probeRow(row), batch.getLong(0, 0, row)))
                                .as("result " + next)
                                .isEqualTo(List.of(next / rows, next % rows));
                    }
                }
                assertThat(Region.openBytes()).isEqualTo(openBytes);
                last = batch.isLast();
            }
            assertThat(next).isEqualTo((long) rows * rows);
        }
    }

    @Test
    void shouldProbeSameTablesFromSeveralThreads() throws Exception {
        RandomJoinData data = RandomJoinData.large(7);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (CpuJoinEngine engine = loaded(data.spec(), data.builds())) {
            List<ResultRow> expected = inOrder(engine, data.probes());
            List<Callable<List<ResultRow>>> tasks = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                CpuJoinEngine fork = engine.fork();
                tasks.add(
                        () -> {
                            try (fork) {
                                return inOrder(fork, data.probes());
                            }
                        });
            }
            for (Future<List<ResultRow>> result : threads.invokeAll(tasks)) {
                assertThat(result.get()).isEqualTo(expected);
            }
            assertThat(engine.fork()).satisfies(CpuJoinEngine::close);
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void shouldKeepTablesUntilLastForkIsClosed() {
        Chunk chunk = rowsOfOneKey(3);
        CpuJoinEngine engine = loaded(JOIN, List.of(new BuildChunk(0, chunk)));
        try (CpuJoinEngine fork = engine.fork();
                CpuJoinEngine forkOfFork = fork.fork()) {
            engine.close();
            engine.close();
            fork.close();
            assertThat(inOrder(forkOfFork, List.of(chunk))).hasSize(9);
            assertThat(forkOfFork.stats().buildRows()).isEqualTo(3);
        }
    }

    @Test
    void shouldForkOnlyWhileJoining() {
        CpuJoinEngine engine = new CpuJoinEngine(JOIN);
        assertThatThrownBy(engine::fork)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Call is illegal in this state of the engine: expected=JOINING,"
                                + " state=LOADING");
        engine.close();
        assertThatThrownBy(engine::fork).hasMessageContaining("state=CLOSED");
    }

    @Test
    void shouldReleaseBuildChunks() {
        byte[] bytes = rowsOfOneKey(5).bytes().clone();
        Chunk chunk = Chunk.wrap(PAIR, bytes);
        try (CpuJoinEngine engine = new CpuJoinEngine(JOIN)) {
            engine.submitBuild(0, chunk);
            Arrays.fill(bytes, (byte) 0);
            engine.finishBuild();
            assertThat(inOrder(engine, List.of(rowsOfOneKey(1)))).hasSize(5);
        }
    }
}
