// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static io.github.gpujoin.flink.pack.PackHarness.FLUSH_MS;
import static io.github.gpujoin.flink.pack.PackHarness.PACKING;
import static io.github.gpujoin.flink.pack.PackHarness.ROWS_IN_A_CHUNK;
import static io.github.gpujoin.flink.pack.PackHarness.record;
import static io.github.gpujoin.flink.pack.PackHarness.values;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.Test;

/** When a packer emits a chunk: full chunks, intervals, watermarks, barriers, ends, markers. */
class PackFlushTest {

    @Test
    void shouldSealAChunkWhenItIsFull() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            for (int i = 0; i < 2 * ROWS_IN_A_CHUNK + 1; i++) {
                harness.processElement(record((long) i, i));
            }

            List<Chunk> chunks = harness.extractOutputValues();
            assertThat(values(chunks)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
            assertThat(chunks).extracting(Chunk::sequence).containsExactly(0L, 1L);
            assertThat(chunks).extracting(Chunk::dimension).containsOnly(2);
            assertThat(chunks)
                    .extracting(Chunk::partition)
                    .containsOnly(ChunkDescriptor.UNPARTITIONED);
        }
    }

    @Test
    void shouldFlushWhenTheFirstRowHasWaitedForTheInterval() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.setProcessingTime(1000);
            harness.processElement(record(1L, 1));
            harness.setProcessingTime(1050);
            harness.processElement(record(2L, 2));
            harness.setProcessingTime(1099);
            assertThat(harness.extractOutputValues()).isEmpty();

            harness.setProcessingTime(1100);

            assertThat(values(harness.extractOutputValues())).containsExactly(1, 2);
            harness.setProcessingTime(5000);
            assertThat(harness.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void shouldRestartTheIntervalAfterASealedChunk() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.setProcessingTime(1000);
            for (int i = 0; i < ROWS_IN_A_CHUNK; i++) {
                harness.processElement(record(1L, i));
            }
            harness.setProcessingTime(1080);
            harness.processElement(record(1L, 77));
            harness.setProcessingTime(1179);
            assertThat(harness.extractOutputValues()).hasSize(1);

            harness.setProcessingTime(1180);

            assertThat(values(harness.extractOutputValues())).containsExactly(0, 1, 2, 3, 77);
        }
    }

    @Test
    void shouldKeepOneTimerForAnyNumberOfChunks() throws Exception {
        try (var harness = PackHarness.open(null, PACKING.partitionedBy(0, 8))) {
            harness.setProcessingTime(1000);
            for (int i = 0; i < 500; i++) {
                harness.processElement(record((long) i, i));
            }

            assertThat(harness.getProcessingTimeService().getNumActiveTimers()).isOne();
            harness.setProcessingTime(1100);
            assertThat(values(harness.extractOutputValues())).hasSize(500);
            assertThat(harness.getProcessingTimeService().getNumActiveTimers()).isZero();
        }
    }

    @Test
    void shouldFlushOnlyPartitionsWhoseRowsHaveWaited() throws Exception {
        try (var harness = PackHarness.open(null, PACKING.partitionedBy(0, 2))) {
            harness.setProcessingTime(1000);
            harness.processElement(record(keyOf(0), 1));
            harness.setProcessingTime(1060);
            harness.processElement(record(keyOf(1), 2));
            harness.setProcessingTime(1100);
            assertThat(values(harness.extractOutputValues())).containsExactly(1);

            harness.setProcessingTime(1160);

            assertThat(values(harness.extractOutputValues())).containsExactly(1, 2);
        }
    }

    private static long keyOf(int partition) {
        long key = 0;
        while (KeyHash.partition(KeyHash.hash(key), 2) != partition) {
            key++;
        }
        return key;
    }

    @Test
    void shouldFlushBeforeAWatermark() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.processWatermark(50);
            harness.processElement(record(2L, 2));

            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(2);
            assertThat(output.get(0)).isInstanceOf(StreamRecord.class);
            assertThat(output.get(1)).isEqualTo(new Watermark(50));
        }
    }

    @Test
    void shouldFlushBeforeIdleness() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.processWatermarkStatus(WatermarkStatus.IDLE);

            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(2);
            assertThat(output.get(0)).isInstanceOf(StreamRecord.class);
            assertThat(output.get(1)).isEqualTo(WatermarkStatus.IDLE);
        }
    }

    @Test
    void shouldFlushBeforeABarrierAndHaveNoState() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));

            harness.prepareSnapshotPreBarrier(1);
            var state = harness.snapshot(1, 1);

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
            assertThat(state.getManagedOperatorState()).isEmpty();
            assertThat(state.getManagedKeyedState()).isEmpty();
        }
    }

    @Test
    void shouldFlushOnceAtTheEndOfTheInput() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.endInput();
            harness.endInput();
            harness.getOneInputOperator().finish();

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
        }
    }

    @Test
    void shouldFlushWhenItFinishesWithoutAnEndOfInput() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.getOneInputOperator().finish();

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
        }
    }

    @Test
    void shouldForwardALatencyMarkerAfterTheRowsBeforeIt() throws Exception {
        LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.packer().processLatencyMarker(marker);
            assertThat(harness.getOutput()).containsExactly(marker);
            harness.processElement(record(1L, 1));
            harness.packer().processLatencyMarker(marker);
            assertThat(harness.getOutput()).hasSize(1);
            harness.setProcessingTime(harness.getProcessingTime() + FLUSH_MS);
            assertThat(harness.extractOutputValues()).hasSize(1);
            assertThat(harness.getOutput()).hasSize(3).last().isEqualTo(marker);
        }
    }

    @Test
    void shouldForwardALatencyMarkerOnAFlushForAWatermark() throws Exception {
        LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
        try (var harness = PackHarness.open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.packer().processLatencyMarker(marker);
            harness.processWatermark(5);
            assertThat(harness.getOutput()).hasSize(3).contains(marker, new Watermark(5));
        }
    }
}
