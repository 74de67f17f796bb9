// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of states, rejected calls, progress and memory for every engine. */
@ExtendWith(RegionLeakExtension.class)
abstract class JoinEngineStateConformance {

    private static final ChunkSchema CUSTOMERS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("discount", ColumnType.INT32),
                    Column.nullable("name", ColumnType.STRING));

    /** Facts (long key, int measure) and one inner dimension (long key, int payload, text). */
    static final JoinSpec SPEC =
            new JoinSpec(
                    ChunkSchema.of(
                            Column.of("fact_key", ColumnType.INT64),
                            Column.of("measure", ColumnType.INT32)),
                    List.of(new DimensionSpec("customer", CUSTOMERS, 0, 0, JoinKind.INNER)));

    /** Creates the engines under test. */
    protected abstract JoinEngineFactory factory();

    /** Join kinds that the engine supports; facts with null keys need {@code LEFT}. */
    protected Set<JoinKind> kinds() {
        return EnumSet.allOf(JoinKind.class);
    }

    static Chunk customers(Object[]... rows) {
        return TestChunks.of(CUSTOMERS, 0, List.of(rows));
    }

    /** Returns a customer for each key from {@code from} to {@code to - 1}. */
    static Chunk customers(int from, int to) {
        return customers(
                IntStream.range(from, to)
                        .mapToObj(key -> new Object[] {(long) key, key * 10, "customer " + key})
                        .toArray(Object[][]::new));
    }

    static Chunk facts(long... keys) {
        Object[][] rows =
                IntStream.range(0, keys.length)
                        .mapToObj(row -> new Object[] {keys[row], row})
                        .toArray(Object[][]::new);
        return TestChunks.of(SPEC.factSchema(), rows);
    }

    private JoinEngine joining() {
        JoinEngine engine = factory().create(SPEC);
        engine.submitBuild(0, customers(0, 10));
        engine.finishBuild();
        return engine;
    }

    @Test
    void shouldChangeFromLoadingToJoiningToClosed() {
        JoinEngine engine = factory().create(SPEC);
        try (engine) {
            assertThat(engine.spec()).isEqualTo(SPEC);
            assertThat(engine.state()).isEqualTo(EngineState.LOADING);
            assertThat(engine.inFlightCount()).isZero();
            assertThat(engine.snapshot()).isEmpty();
            engine.finishBuild();
            assertThat(engine.state()).isEqualTo(EngineState.JOINING);
            assertThat(engine.poll()).isNull();
        }
        assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
    }

    @Test
    void shouldRejectProbingWhileLoading() {
        try (JoinEngine engine = factory().create(SPEC)) {
            assertRefused(EngineState.LOADING, () -> engine.submitProbe(facts(1), 0));
            assertRefused(EngineState.LOADING, engine::poll);
            assertRefused(EngineState.LOADING, () -> engine.restore(List.of()));
            assertThat(engine.state()).isEqualTo(EngineState.LOADING);
        }
    }

    @Test
    void shouldRejectLoadingWhileJoining() {
        try (JoinEngine engine = joining()) {
            assertRefused(EngineState.JOINING, () -> engine.submitBuild(0, customers(0, 1)));
            assertRefused(EngineState.JOINING, engine::finishBuild);
            assertThat(engine.state()).isEqualTo(EngineState.JOINING);
        }
    }

    @Test
    void shouldBuildInStepsOfOneRow() {
        try (JoinEngine engine = factory().create(SPEC)) {
            engine.submitBuild(0, customers(0, 10));
            engine.submitBuild(0, customers(5, 20));
            int steps = stepsToBuild(engine);
            assertThat(steps).as("passes over 25 rows").isLessThan(10_000);
            EngineRun run = new EngineRun(engine);
            run.submit(facts(4, 5, 19, 20), 0);
            run.drain();
            assertThat(run.results().get(0))
                    .extracting(ResultRow::probeRow)
                    .containsExactly(0, 1, 1, 2);
        }
    }

    /** Completes the tables row by row. Returns the number of steps before the last. */
    private static int stepsToBuild(JoinEngine engine) {
        int steps = 0;
        while (!engine.buildStep(1)) {
            assertThat(engine.state()).isEqualTo(EngineState.BUILDING);
            assertThat(engine.inFlightCount()).isZero();
            assertThat(engine.snapshot()).isEmpty();
            steps++;
        }
        assertThat(engine.state()).isEqualTo(EngineState.JOINING);
        return steps;
    }

    @Test
    void shouldRejectProbingAndLoadingWhileBuilding() {
        try (JoinEngine engine = factory().create(SPEC)) {
            engine.submitBuild(0, customers(0, 100));
            if (engine.buildStep(1)) {
                return; // an engine whose tables grew with every row
            }
            assertRefused(EngineState.BUILDING, () -> engine.submitBuild(0, customers(0, 1)));
            assertRefused(EngineState.BUILDING, () -> engine.submitProbe(facts(1), 0));
            assertRefused(EngineState.BUILDING, engine::poll);
            assertRefused(EngineState.BUILDING, () -> engine.restore(List.of()));
            engine.finishBuild();
            assertThat(engine.state()).isEqualTo(EngineState.JOINING);
        }
    }

    @Test
    void shouldFreeAllMemoryIfClosedAfterAnyBuildStep() {
        long before = Region.openCount();
        int steps;
        try (JoinEngine engine = loading()) {
            steps = stepsToBuild(engine);
        }
        for (int done = 0; done < steps; done += 1 + steps / 50) {
            JoinEngine engine = loading();
            for (int i = 0; i <= done; i++) {
                assertThat(engine.buildStep(1)).isFalse();
            }
            engine.close();
            assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
            assertThat(Region.openCount()).as("after step %d", done).isEqualTo(before);
        }
    }

    /** Returns an engine with sparse, repeated keys. */
    private JoinEngine loading() {
        JoinEngine engine = factory().create(SPEC);
        for (long key = 0; key < 40; key++) {
            long distant = (key / 2) << 50;
            engine.submitBuild(0, customers(new Object[] {distant, (int) key, "n" + key}));
        }
        return engine;
    }

    @Test
    void shouldRejectEverythingOnceClosed() {
        JoinEngine engine = joining();
        engine.close();
        assertRefused(EngineState.CLOSED, () -> engine.submitBuild(0, customers(0, 1)));
        assertRefused(EngineState.CLOSED, engine::finishBuild);
        assertRefused(EngineState.CLOSED, () -> engine.submitProbe(facts(1), 0));
        assertRefused(EngineState.CLOSED, engine::poll);
        assertRefused(EngineState.CLOSED, () -> engine.restore(List.of()));
    }

    private static void assertRefused(EngineState state, Runnable call) {
        assertThatIllegalStateException().isThrownBy(call::run).withMessageContaining("" + state);
    }

    @Test
    void shouldCloseInEveryStateAndTwice() {
        JoinEngine loading = factory().create(SPEC);
        JoinEngine loaded = factory().create(SPEC);
        loaded.submitBuild(0, customers(0, 100));
        JoinEngine idle = joining();
        JoinEngine busy = joining();
        busy.submitProbe(facts(1, 2, 3), 0);
        JoinEngine polled = joining();
        polled.submitProbe(facts(1, 2, 3), 0);
        pollOnce(polled);
        for (JoinEngine engine : List.of(loading, loaded, idle, busy, polled)) {
            engine.close();
            assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
            engine.close();
            assertThat(engine.state()).isEqualTo(EngineState.CLOSED);
        }
    }

    private static void pollOnce(JoinEngine engine) {
        while (engine.poll() == null) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldRejectAnUnknownDimension() {
        try (JoinEngine engine = factory().create(SPEC)) {
            for (int dimension : new int[] {-1, 1, Integer.MAX_VALUE}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> engine.submitBuild(dimension, customers(0, 1)))
                        .withMessageContaining("dimension=" + dimension)
                        .withMessageContaining("dimensions=1");
            }
        }
    }

    @Test
    void shouldRejectAChunkOfAnotherSchema() {
        try (JoinEngine engine = factory().create(SPEC)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> engine.submitBuild(0, facts(1)))
                    .withMessageContaining("input=customer")
                    .withMessageContaining("schema=" + SPEC.factSchema());
            engine.finishBuild();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> engine.submitProbe(customers(0, 1), 0))
                    .withMessageContaining("input=facts")
                    .withMessageContaining("expected=" + SPEC.factSchema());
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> engine.restore(List.of(new InFlightProbe(customers(0, 1), 0))))
                    .withMessageContaining("input=facts");
            assertThat(engine.inFlightCount()).isZero();
        }
    }

    @Test
    void shouldRejectAFirstRowOutsideTheChunk() {
        try (JoinEngine engine = joining()) {
            for (int firstRow : new int[] {-1, 4, Integer.MAX_VALUE}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> engine.submitProbe(facts(1, 2, 3), firstRow))
                        .withMessageContaining("firstRow=" + firstRow);
            }
            assertThat(engine.inFlightCount()).isZero();
        }
    }

    @Test
    void shouldContinueAfterARejectedCall() {
        try (JoinEngine engine = joining()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> engine.submitProbe(customers(0, 1), 0));
            assertRefused(EngineState.JOINING, engine::finishBuild);
            EngineRun run = new EngineRun(engine);
            run.submit(facts(3, 4), 0);
            run.drain();
            assertThat(run.results().get(0)).hasSize(2);
        }
    }

    @Test
    void shouldReturnALastBatchForEveryChunk() {
        try (JoinEngine engine = joining()) {
            List<Chunk> probes = List.of(facts(), facts(77), facts(1), facts(), facts(77, 78));
            EngineRun run = new EngineRun(engine);
            probes.forEach(probe -> run.submit(probe, 0));
            run.drain();
            assertThat(run.results()).extracting(List::size).containsExactly(0, 0, 1, 0, 0);
            assertThat(run.probes())
                    .allSatisfy(p -> assertThat(p.completedRows()).isEqualTo(p.chunk().rowCount()));
        }
    }

    @Test
    void shouldJoinFromTheFirstRowOn() {
        try (JoinEngine engine = joining()) {
            EngineRun run = new EngineRun(engine);
            for (int firstRow = 0; firstRow <= 4; firstRow++) {
                run.submit(facts(5, 99, 6, 7), firstRow);
            }
            run.drain();
            assertThat(run.results())
                    .extracting(rows -> rows.stream().map(ResultRow::probeRow).toList())
                    .containsExactly(
                            List.of(0, 2, 3), List.of(2, 3), List.of(2, 3), List.of(3), List.of());
        }
    }

    @Test
    void shouldReportNoRoomAndAcceptMoreAfterAPoll() {
        try (JoinEngine engine = joining()) {
            Chunk probe = facts(1, 2, 99);
            int submitted = 0;
            while (submitted < 1_000_000 && engine.submitProbe(probe, 0)) {
                submitted++;
            }
            assertThat(submitted).as("chunks in flight are bounded").isBetween(1, 999_999);
            assertThat(engine.inFlightCount()).isEqualTo(submitted);
            int done = pollUntilAChunkIsDone(engine, probe);
            assertThat(engine.submitProbe(probe, 0)).isTrue();
            submitted++;
            while (engine.inFlightCount() > 0) {
                done += pollUntilAChunkIsDone(engine, probe);
            }
            assertThat(done).isEqualTo(submitted);
            assertThat(engine.stats().probeRows()).isEqualTo(3L * submitted);
            assertThat(engine.stats().resultRows()).isEqualTo(2L * submitted);
        }
    }

    private static int pollUntilAChunkIsDone(JoinEngine engine, Chunk probe) {
        while (true) {
            ResultBatch batch = engine.poll();
            if (batch != null) {
                assertThat(batch.chunk()).isSameAs(probe);
                if (batch.isLast()) {
                    return 1;
                }
            }
        }
    }

    @Test
    void shouldRejectRestoreWhileProbing() {
        try (JoinEngine engine = joining()) {
            engine.submitProbe(facts(1), 0);
            assertThatIllegalStateException()
                    .isThrownBy(() -> engine.restore(List.of(new InFlightProbe(facts(1), 0))))
                    .withMessageContaining("inFlight=1");
        }
    }

    @Test
    void shouldRestoreMoreProbesThanItWouldAccept() {
        try (JoinEngine engine = joining()) {
            Chunk probe = facts(1, 99, 2);
            int room = 0;
            while (engine.submitProbe(probe, 0)) {
                room++;
            }
            EngineRun restored = new EngineRun(joining());
            try (JoinEngine target = restored.engine()) {
                InFlightProbe pending = new InFlightProbe(probe, 1);
                restored.restore(IntStream.range(0, 2 * room).mapToObj(i -> pending).toList());
                assertThat(target.submitProbe(probe, 0)).isFalse();
                restored.drain();
                assertThat(restored.results()).hasSize(2 * room).allSatisfy(r -> assertOneRow(r));
            }
        }
    }

    private static void assertOneRow(List<ResultRow> rows) {
        assertThat(rows).extracting(ResultRow::probeRow).containsExactly(2);
    }

    @Test
    void shouldReportStatistics() {
        try (JoinEngine engine = factory().create(SPEC)) {
            assertThat(engine.stats()).extracting(EngineStats::buildRows).isEqualTo(0L);
            Chunk first = customers(0, 10);
            Chunk second = customers(5, 12);
            engine.submitBuild(0, first);
            engine.submitBuild(0, second);
            engine.finishBuild();
            EngineRun run = new EngineRun(engine);
            run.submit(facts(1, 6, 11, 12), 0);
            run.submit(facts(1, 6, 11, 12), 2);
            run.drain();
            EngineStats stats = engine.stats();
            assertThat(stats.buildRows()).isEqualTo(17);
            assertThat(stats.buildBytes())
                    .isEqualTo(
                            EngineChecks.payloadBytes(first) + EngineChecks.payloadBytes(second));
            assertThat(stats.tableBytes()).isPositive();
            assertThat(stats.probeRows()).isEqualTo(6);
            assertThat(stats.resultRows()).isEqualTo(4 + 1);
        }
    }
}
