package io.github.gpujoin.flink.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadCompletionTest {

    private static final int MAX_PARALLELISM = 4;
    private static final StreamRecord<Chunk> CHUNK =
            new StreamRecord<>(
                    new ChunkBuilder(ChunkSchema.of(Column.of("key", ColumnType.INT64)), 64)
                            .seal(0, -1, 0, 0));

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(long completeAt)
            throws Exception {
        return new OneInputStreamOperatorTestHarness<>(new LoadCompletion(completeAt));
    }

    @Test
    void shouldSayOnceThatTheDimensionIsComplete() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(100)) {
            harness.open();
            harness.processWatermark(50);
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            harness.processElement(CHUNK);
            harness.processWatermark(100);
            harness.processWatermark(200);
            harness.processWatermark(Long.MAX_VALUE);
            assertThat(harness.getOutput()).containsExactly(CHUNK, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldWaitForTheEndByDefault() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(Long.MAX_VALUE)) {
            harness.open();
            harness.processWatermark(Long.MAX_VALUE - 1);
            // also comes where one channel has ended and the others are idle
            harness.processWatermark(Long.MAX_VALUE);
            harness.processElement(CHUNK);
            assertThat(harness.getOutput()).containsExactly(CHUNK);
            harness.endInput();
            assertThat(harness.getOutput()).containsExactly(CHUNK, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldSayItAgainAfterARestore() throws Exception {
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
            assertThat(harness.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
            harness.processWatermark(150);
            assertThat(harness.getOutput()).hasSize(1);
        }
    }

    @Test
    void shouldSayItWhenTheInputEndsWithoutALastWatermark() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(Long.MAX_VALUE)) {
            harness.open();
            harness.processWatermark(50);
            harness.processWatermarkStatus(WatermarkStatus.IDLE);
            harness.endInput();
            assertThat(harness.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldSayItWhenTheInputEndsBeforeATimerRuns() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                harness(LoadCompletion.FROM_THE_START)) {
            harness.open();
            harness.processElement(CHUNK);
            harness.processWatermark(Watermark.MAX_WATERMARK);
            harness.endInput();
            harness.setProcessingTime(harness.getProcessingTime() + 1);
            assertThat(harness.getOutput()).containsExactly(CHUNK, Watermark.MAX_WATERMARK);
        }
    }

    @ParameterizedTest(name = "from {0} to {1}")
    @CsvSource({"2,1", "2,3", "3,2"})
    void shouldWaitForTheWatermarkAgainInAnotherParallelism(int from, int to) throws Exception {
        OperatorSubtaskState state = stateOfTheFirstComplete(from);
        for (int i = 0; i < to; i++) {
            try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                    restored(state, from, to, i)) {
                assertThat(harness.getOutput()).isEmpty();
                harness.processWatermark(100);
                assertThat(harness.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
            }
        }
    }

    @Test
    void shouldKnowOfEachSubtaskInTheSameParallelism() throws Exception {
        OperatorSubtaskState state = stateOfTheFirstComplete(2);
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> first = restored(state, 2, 2, 0);
                OneInputStreamOperatorTestHarness<Chunk, Chunk> other = restored(state, 2, 2, 1)) {
            assertThat(first.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
            assertThat(other.getOutput()).isEmpty();
        }
    }

    @Test
    void shouldTakeTheStateOfEarlierSnapshots() throws Exception {
        OperatorSubtaskState state;
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(new Earlier())) {
            harness.open();
            state = harness.snapshot(1, 1);
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                    restored(state, 1, 1, 0)) {
                assertThat(harness.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
                state = harness.snapshot(2, 2);
            }
        }
    }

    /** Writes the state that snapshots had before they held the parallelism. */
    private static final class Earlier extends AbstractStreamOperator<Chunk>
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

    /** With all timers run that are due. */
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
                new LoadCompletion(100), MAX_PARALLELISM, parallelism, subtask);
    }
}
