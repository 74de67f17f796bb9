// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import io.github.gpujoin.flink.emit.ChunkRows;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.runtime.LateRowPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadMarkOperatorTest {

    private static final int MAX_PARALLELISM = 4;
    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("date", SCHEMA, 0, 0, JoinKind.INNER)));
    private static final LateRowPolicy FAIL = LateRowPolicy.of(LateDimensionRows.FAIL);
    private static final OutputTag<Row> LATE = new OutputTag<>("late", ChunkRows.typeOf(SCHEMA));
    private static final StreamRecord<Chunk> CHUNK = new StreamRecord<>(chunk(0, 1, 2));

    private static Chunk chunk(long... keys) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64);
        for (long key : keys) {
            builder.putLong(0, key);
            builder.endRow();
        }
        return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static LoadMarkOperator operator(long completeAt, int partitions, LateRowPolicy late) {
        return new LoadMarkOperator(
                completeAt, new LoadMarkOperator.Loaded(SPEC, 0, partitions, late, true));
    }

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(long completeAt)
            throws Exception {
        return new OneInputStreamOperatorTestHarness<>(operator(completeAt, 0, FAIL));
    }

    /** Returns the output, with marks as text. */
    private static List<Object> output(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness) {
        List<Object> output = new ArrayList<>();
        for (Object element : harness.getOutput()) {
            boolean isMark =
                    element instanceof StreamRecord<?> record
                            && LoadMark.isMark((Chunk) record.getValue());
            output.add(
                    isMark
                            ? LoadMark.of((Chunk) ((StreamRecord<?>) element).getValue()).status()
                            : element);
        }
        return output;
    }

    private static void assertOutput(
            OneInputStreamOperatorTestHarness<Chunk, Chunk> harness, Object... expected) {
        assertThat(output(harness)).containsExactly(expected);
    }

    @Test
    void shouldMarkCompletenessOnce() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.open();
            harness.processWatermark(50);
            harness.processElement(CHUNK);
            harness.processWatermark(100);
            harness.processWatermark(200);
            harness.processWatermark(Long.MAX_VALUE);
            assertOutput(harness, CHUNK, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldMarkCompletenessAtTheEndByDefault() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(Long.MAX_VALUE)) {
            harness.open();
            harness.processWatermark(Long.MAX_VALUE - 1);
            // It also arrives if one channel has ended while the others are idle.
            harness.processWatermark(Long.MAX_VALUE);
            harness.processElement(CHUNK);
            assertThat(harness.getOutput()).containsExactly(CHUNK);
            harness.endInput();
            assertOutput(harness, CHUNK, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldRepeatTheMarkAfterARestore() throws Exception {
        OperatorSubtaskState state;
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.open();
            harness.processWatermark(100);
            state = harness.snapshot(1, 1);
        }
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.initializeState(state);
            harness.open();
            harness.setProcessingTime(harness.getProcessingTime() + 1);
            assertOutput(harness, Status.COMPLETE, Watermark.MAX_WATERMARK);
            harness.processWatermark(150);
            assertThat(harness.getOutput()).hasSize(2);
        }
    }

    @Test
    void shouldMarkCompletenessWhenTheInputEndsWithoutALastWatermark() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(Long.MAX_VALUE)) {
            harness.open();
            harness.processWatermark(50);
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            harness.endInput();
            assertOutput(harness, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldMarkCompletenessWhenTheInputEndsBeforeATimerRuns() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                harness(LoadMarkOperator.FROM_THE_START)) {
            harness.open();
            harness.processElement(CHUNK);
            harness.processWatermark(Watermark.MAX_WATERMARK);
            harness.endInput();
            harness.setProcessingTime(harness.getProcessingTime() + 1);
            assertOutput(harness, CHUNK, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @ParameterizedTest(name = "from {0} to {1}")
    @CsvSource({"2,1", "2,3", "3,2"})
    void shouldWaitForTheWatermarkAgainInAnotherParallelism(int from, int to) throws Exception {
        OperatorSubtaskState state = stateOfTheFirstComplete(from);
        for (int i = 0; i < to; i++) {
            try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                    restored(state, from, to, i)) {
                assertOutput(harness, Status.LOADING);
                harness.processWatermark(100);
                assertOutput(harness, Status.LOADING, Status.COMPLETE, Watermark.MAX_WATERMARK);
            }
        }
    }

    @Test
    void shouldRestoreCompletenessBySubtaskInTheSameParallelism() throws Exception {
        OperatorSubtaskState state = stateOfTheFirstComplete(2);
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> first = restored(state, 2, 2, 0);
                OneInputStreamOperatorTestHarness<Chunk, Chunk> other = restored(state, 2, 2, 1)) {
            assertOutput(first, Status.COMPLETE, Watermark.MAX_WATERMARK);
            assertOutput(other, Status.LOADING);
        }
    }

    @Test
    void shouldWaitForTheWatermarkAgainIfSplitsAreReassigned() throws Exception {
        OperatorSubtaskState state = stateOfTheFirstComplete(1);
        LoadMarkOperator.Loaded reassigned = new LoadMarkOperator.Loaded(SPEC, 0, 0, FAIL, false);
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(new LoadMarkOperator(100, reassigned))) {
            harness.initializeState(state);
            harness.open();
            harness.setProcessingTime(harness.getProcessingTime() + 1);
            harness.processElement(CHUNK);
            harness.processWatermark(100);
            assertOutput(harness, Status.LOADING, CHUNK, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldMarkIdleAndActiveSubtasks() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.open();
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            harness.processWatermarkStatus(WatermarkStatus.ACTIVE);
            harness.processElement(CHUNK);
            harness.processWatermark(100);
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            assertOutput(
                    harness,
                    Status.IDLE,
                    Status.LOADING,
                    CHUNK,
                    Status.COMPLETE,
                    Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldEmitAMarkPerPartition() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        operator(100, 3, FAIL), MAX_PARALLELISM, 2, 1)) {
            harness.open();
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            assertThat(harness.extractOutputValues().stream().map(LoadMark::of))
                    .containsExactly(
                            new LoadMark(0, 0, 1, 2, Status.IDLE),
                            new LoadMark(0, 1, 1, 2, Status.IDLE),
                            new LoadMark(0, 2, 1, 2, Status.IDLE));
        }
    }

    @Test
    void shouldNotMarkIdlenessOfADimensionThatIsCompleteAtItsEnd() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(Long.MAX_VALUE)) {
            harness.open();
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            assertThat(harness.getOutput()).isEmpty();
        }
    }

    @Test
    void shouldFailOnALateRowAndNameTheRemedies() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.open();
            harness.processWatermark(170);
            assertThatIllegalStateException()
                    .isThrownBy(() -> harness.processElement(CHUNK))
                    .withMessage(
                            "Late dimension row: dimension=date, rows=3, watermark=170.\n"
                                    + "Use .lateRows(...), gpu-join.late-dimension-rows=drop or"
                                    + " .changelog().");
        }
    }

    @Test
    void shouldDropLateRowsBeforeTheyReachAnyReplica() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        operator(100, 0, LateRowPolicy.of(LateDimensionRows.DROP)))) {
            harness.open();
            harness.processWatermark(100);
            harness.processElement(CHUNK);
            harness.processElement(CHUNK);
            assertOutput(harness, Status.COMPLETE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldEmitLateRowsToTheirSideOutput() throws Exception {
        LateRowPolicy side = new LateRowPolicy(LateDimensionRows.FAIL, Map.of(0, LATE));
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(operator(100, 0, side))) {
            harness.open();
            harness.processWatermark(100);
            harness.processElement(CHUNK);
            assertThat(harness.getSideOutput(LATE).stream().map(r -> r.getValue().getField("key")))
                    .containsExactly(0L, 1L, 2L);
        }
    }

    @Test
    void shouldRestoreTheStateOfEarlierReleases() throws Exception {
        OperatorSubtaskState state;
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(new EarlierRelease())) {
            harness.open();
            state = harness.snapshot(1, 1);
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                    restored(state, 1, 1, 0)) {
                assertOutput(harness, Status.COMPLETE, Watermark.MAX_WATERMARK);
                state = harness.snapshot(2, 2);
            }
        }
    }

    /** Writes the state of earlier releases, which does not contain the parallelism. */
    private static final class EarlierRelease extends AbstractStreamOperator<Chunk>
            implements OneInputStreamOperator<Chunk, Chunk> {

        private static final long serialVersionUID = 1L;

        @Override
        public void initializeState(StateInitializationContext context) throws Exception {
            context.getOperatorStateStore()
                    .getBroadcastState(
                            new MapStateDescriptor<>("load-complete", Types.INT, Types.BOOLEAN))
                    .put(0, true);
        }

        @Override
        public void processElement(StreamRecord<Chunk> element) {}
    }

    private static OperatorSubtaskState stateOfTheFirstComplete(int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                    harness(parallelism, i)) {
                harness.open();
                harness.processWatermark(i == 0 ? 100 : 50);
                states.add(harness.snapshot(1, 1));
            }
        }
        return AbstractStreamOperatorTestHarness.repackageState(
                states.toArray(OperatorSubtaskState[]::new));
    }

    /** Restores an operator, and runs all due timers. */
    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> restored(
            OperatorSubtaskState state, int from, int to, int subtask) throws Exception {
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(to, subtask);
        harness.initializeState(
                AbstractStreamOperatorTestHarness.repartitionOperatorState(
                        state, MAX_PARALLELISM, from, to, subtask));
        harness.open();
        harness.setProcessingTime(harness.getProcessingTime() + 1);
        return harness;
    }

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(
            int parallelism, int subtask) throws Exception {
        return new OneInputStreamOperatorTestHarness<>(
                operator(100, 0, FAIL), MAX_PARALLELISM, parallelism, subtask);
    }
}
