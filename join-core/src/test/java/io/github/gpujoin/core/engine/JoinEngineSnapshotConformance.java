// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static io.github.gpujoin.core.engine.testing.SmallStars.dimension;
import static io.github.gpujoin.core.engine.testing.SmallStars.longFacts;
import static io.github.gpujoin.core.engine.testing.SmallStars.star;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.RandomJoinData;
import io.github.gpujoin.core.engine.testing.RandomJoinData.BuildChunk;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of snapshot and restore for every engine. */
abstract class JoinEngineSnapshotConformance extends JoinEngineGroupConformance {

    static LongStream snapshotSeeds() {
        return LongStream.range(2_000, 2_010);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("snapshotSeeds")
    void shouldContinueFromASnapshotAfterEveryPoll(long seed) {
        RandomJoinData data = manyResults(seed);
        List<List<ResultRow>> whole =
                EngineRun.join(factory(), data.spec(), data.builds(), data.probes());
        boolean more = true;
        for (int polls = 0; more; polls++) {
            more = checkSnapshotAfter(polls, data, whole);
        }
    }

    /** Whether anything was left to poll. */
    private boolean checkSnapshotAfter(
            int polls, RandomJoinData data, List<List<ResultRow>> whole) {
        boolean more = true;
        List<InFlightProbe> snapshot;
        EngineRun run;
        try (JoinEngine engine = EngineRun.loaded(factory(), data.spec(), data.builds())) {
            run = new EngineRun(engine);
            int submitted = 0;
            while (submitted < data.probes().size()
                    && engine.submitProbe(data.probes().get(submitted), 0)) {
                run.track(new InFlightProbe(data.probes().get(submitted++), 0));
            }
            for (int i = 0; i < polls; i++) {
                more = run.poll();
            }
            snapshot = engine.snapshot();
            assertPendingIsWhatWasNotPolled(run, snapshot);
            assertGoesOn(factory(), data, snapshot, whole);
            assertGoesOn(new ReferenceJoinEngineFactory(), data, snapshot, whole);
            run.drain();
            assertThat(run.results())
                    .as("the engine goes on undisturbed")
                    .isEqualTo(whole.subList(0, submitted));
        }
        return more;
    }

    private static void assertPendingIsWhatWasNotPolled(
            EngineRun run, List<InFlightProbe> snapshot) {
        List<EngineRun.Probe> unfinished = run.unfinished();
        assertThat(snapshot).hasSameSizeAs(unfinished);
        for (int i = 0; i < snapshot.size(); i++) {
            assertThat(snapshot.get(i).chunk()).isSameAs(unfinished.get(i).chunk());
            assertThat(snapshot.get(i).firstRow()).isEqualTo(unfinished.get(i).completedRows());
        }
    }

    private static void assertGoesOn(
            JoinEngineFactory factory,
            RandomJoinData data,
            List<InFlightProbe> snapshot,
            List<List<ResultRow>> whole) {
        try (JoinEngine engine = EngineRun.loaded(factory, data.spec(), data.builds())) {
            EngineRun run = new EngineRun(engine);
            run.restore(snapshot);
            run.drain();
            for (int i = 0; i < snapshot.size(); i++) {
                InFlightProbe pending = snapshot.get(i);
                List<ResultRow> all = whole.get(data.probes().indexOf(pending.chunk()));
                assertThat(run.results().get(i))
                        .isEqualTo(
                                all.stream()
                                        .filter(row -> row.probeRow() >= pending.firstRow())
                                        .toList());
            }
        }
    }

    /** Returns a few chunks, some of which have results for several batches of any engine. */
    private RandomJoinData manyResults(long seed) {
        Random random = new Random(seed);
        boolean left = seed % 2 == 0 && kinds().contains(JoinKind.LEFT);
        JoinKind keepsPayload = left ? JoinKind.LEFT : JoinKind.INNER;
        JoinSpec spec =
                star(
                        ColumnType.INT64,
                        dimension(ColumnType.INT64, keepsPayload, ColumnType.INT32),
                        dimension(ColumnType.INT32, JoinKind.SEMI));
        List<Object[]> inner = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            inner.add(new Object[] {1L + random.nextInt(4), i});
        }
        List<Object[]> semi = List.of(new Object[] {0}, new Object[] {1}, new Object[] {1});
        List<BuildChunk> builds =
                List.of(
                        new BuildChunk(
                                0, TestChunks.of(spec.dimensions().get(0).schema(), 0, inner)),
                        new BuildChunk(
                                1, TestChunks.of(spec.dimensions().get(1).schema(), 1, semi)));
        List<Chunk> probes = new ArrayList<>();
        for (int rows : new int[] {0, 60, 1, 0, 25}) {
            probes.add(longFacts(random.longs(rows, 0, 3)));
        }
        return new RandomJoinData(spec, builds, probes);
    }
}
