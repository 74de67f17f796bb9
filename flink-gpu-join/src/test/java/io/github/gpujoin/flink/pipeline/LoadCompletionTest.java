package io.github.gpujoin.flink.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

class LoadCompletionTest {

    private static final StreamRecord<Chunk> CHUNK =
            new StreamRecord<>(
                    new ChunkBuilder(ChunkSchema.of(Column.of("key", ColumnType.INT64)), 64)
                            .seal(0, -1, 0, 0));

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(long completeAt)
            throws Exception {
        return new OneInputStreamOperatorTestHarness<>(
                new LoadCompletion(completeAt, LoadCompletion.Signal.LARGEST_WATERMARK));
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
            assertThat(harness.getOutput()).isEmpty();
            harness.processWatermark(Long.MAX_VALUE);
            assertThat(harness.getOutput()).containsExactly(Watermark.MAX_WATERMARK);
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
}
