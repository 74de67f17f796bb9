// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When a subtask of the join has its dimensions complete, by the marks that it receives. */
class LoadProgressTest {

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();
    private static final int WHOLE = ChunkDescriptor.UNPARTITIONED;

    /** One fact that matches one row of each dimension. */
    private final JoinScenario scenario = new JoinScenario(false).buildRow(1, 10).fact(1, 100);

    private static JoinSpec spec(int dimensions) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));
        DimensionSpec first = JoinScenario.spec().dimensions().get(0);
        DimensionSpec second = new DimensionSpec("second", schema, 0, 0, JoinKind.LEFT);
        return new JoinSpec(
                JoinScenario.spec().factSchema(),
                dimensions == 1 ? List.of(first) : List.of(first, second));
    }

    private static JoinHarness harness(int dimensions) throws Exception {
        return new JoinHarness(
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(
                                spec(dimensions),
                                EngineSelection.only(CPU),
                                0,
                                null,
                                TimesToLive.NONE),
                        context -> new TextEmitter()),
                JoinScenario.MAX_PARALLELISM,
                1,
                0);
    }

    private JoinHarness loaded(int dimensions) throws Exception {
        JoinHarness join = harness(dimensions);
        join.initializeEmptyState();
        join.open();
        for (Chunk chunk : scenario.buildChunks()) {
            join.build(chunk);
        }
        for (Chunk chunk : scenario.factChunks()) {
            join.probe(chunk);
        }
        return join;
    }

    private static LoadMark mark(int dimension, int subtask, Status status) {
        return new LoadMark(dimension, WHOLE, subtask, 2, status);
    }

    private static List<String> results(JoinHarness join) throws Exception {
        join.runMails(100);
        return join.results();
    }

    @Test
    void shouldNotWaitForAnIdleSubtaskOnceAnotherIsComplete() throws Exception {
        try (JoinHarness join = loaded(1)) {
            join.mark(mark(0, 1, Status.IDLE));
            assertThat(results(join)).isEmpty();
            join.mark(mark(0, 0, Status.COMPLETE));
            assertThat(results(join)).containsExactly("100|10");
        }
    }

    @Test
    void shouldWaitForASubtaskThatIsNoLongerIdle() throws Exception {
        try (JoinHarness join = loaded(1)) {
            join.mark(mark(0, 1, Status.IDLE));
            join.mark(mark(0, 1, Status.LOADING));
            join.mark(mark(0, 0, Status.COMPLETE));
            assertThat(results(join)).isEmpty();
            join.mark(mark(0, 1, Status.COMPLETE));
            assertThat(results(join)).hasSize(1);
        }
    }

    @Test
    void shouldWaitForADimensionOfWhichAllSubtasksAreIdle() throws Exception {
        try (JoinHarness join = loaded(2)) {
            join.mark(mark(0, 0, Status.IDLE));
            join.mark(mark(0, 1, Status.IDLE));
            join.mark(mark(1, 0, Status.COMPLETE));
            join.mark(mark(1, 1, Status.COMPLETE));
            assertThat(results(join)).isEmpty();
            join.mark(mark(0, 0, Status.COMPLETE));
            assertThat(results(join)).hasSize(1);
        }
    }

    /** Flink gives it where one channel has ended and the others are idle. */
    @Test
    void shouldNotStartAtTheLargestWatermarkOfTheInput() throws Exception {
        try (JoinHarness join = loaded(1)) {
            join.buildWatermark(Watermark.MAX_WATERMARK.getTimestamp());
            assertThat(results(join)).isEmpty();
        }
    }

    @Test
    void shouldWaitForTheMarksOfAllItsPartitions() throws Exception {
        try (JoinHarness join = loaded(1)) {
            for (int partition = 0; partition < JoinScenario.MAX_PARALLELISM; partition++) {
                assertThat(results(join)).isEmpty();
                join.mark(new LoadMark(0, partition, 0, 1, Status.COMPLETE));
            }
            assertThat(results(join)).hasSize(1);
        }
    }

    /** Marks of the old parallelism may be in flight when a job is restored in another one. */
    @Test
    void shouldCountMarksOfEachParallelismApart() throws Exception {
        try (JoinHarness join = loaded(1)) {
            join.mark(mark(0, 0, Status.COMPLETE));
            join.mark(new LoadMark(0, WHOLE, 1, 3, Status.COMPLETE));
            join.mark(new LoadMark(0, WHOLE, 2, 3, Status.COMPLETE));
            assertThat(results(join)).isEmpty();
            join.mark(new LoadMark(0, WHOLE, 0, 3, Status.COMPLETE));
            assertThat(results(join)).hasSize(1);
        }
    }

    /** The tasks of a source that had finished by then send nothing after a restore. */
    @ParameterizedTest
    @EnumSource(names = {"COMPLETE", "IDLE"})
    void shouldKnowAfterARestoreWhichDimensionHadEnded(Status other) throws Exception {
        OperatorSubtaskState state;
        try (JoinHarness join = loaded(2)) {
            join.mark(mark(0, 0, Status.COMPLETE));
            join.mark(mark(0, 1, other));
            state = join.snapshot(1, 1);
        }
        try (JoinHarness join = harness(2)) {
            join.initializeState(state);
            join.open();
            join.mark(mark(1, 0, Status.COMPLETE));
            join.mark(mark(1, 1, Status.COMPLETE));
            assertThat(results(join)).hasSize(other == Status.COMPLETE ? 1 : 0);
        }
    }

    @Test
    void shouldFailOnRowsOfASubtaskThatWakesTooLate() throws Exception {
        try (JoinHarness join = loaded(1)) {
            join.mark(mark(0, 1, Status.IDLE));
            join.mark(mark(0, 0, Status.COMPLETE));
            Chunk late = scenario.buildChunks().get(0);
            assertThatIllegalStateException()
                    .isThrownBy(() -> join.build(late))
                    .withMessageStartingWith("Late dimension row: dimension=dimension, rows=1");
        }
    }
}
