// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowLayout;
import java.time.Duration;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

/** When a packer of whole rows emits watermarks: behind their rows, and not before the interval. */
class StoredRowPackTest {

    private static final long FLUSH_MS = 100;
    private static final int PARTITIONS = 8;
    private static final RowType TYPE = RowType.of(new IntType());

    private static OneInputStreamOperatorTestHarness<RowData, Chunk> open() throws Exception {
        StoredRowLayout layout =
                new StoredRowLayout(
                        TYPE,
                        RowKey.of(TYPE, List.of(0), List.of(true)),
                        RowIdentity.APPEND_ONLY,
                        null,
                        false);
        PackSpec packing =
                PackSpec.unpartitioned("left", 0, 1 << 16, Duration.ofMillis(FLUSH_MS))
                        .partitionedBy(0, PARTITIONS);
        var harness =
                new OneInputStreamOperatorTestHarness<RowData, Chunk>(
                        new StoredRowPackOperator(layout, packing),
                        InternalTypeInfo.of(TYPE).toSerializer());
        harness.setup(ChunkTypeInfo.of(layout.schema()).createSerializer(null));
        harness.open();
        harness.setProcessingTime(1000);
        return harness;
    }

    private static StreamRecord<RowData> row(int key) {
        return new StreamRecord<>(GenericRowData.of(key));
    }

    @Test
    void shouldHoldTheLastWatermarkUntilItsRowsAreEmitted() throws Exception {
        try (var harness = open()) {
            for (int key = 0; key < 100; key++) {
                harness.processElement(row(key));
                harness.processWatermark(new Watermark(key));
            }
            harness.setProcessingTime(1000 + FLUSH_MS - 1);
            assertThat(harness.getOutput()).isEmpty();

            harness.setProcessingTime(1000 + FLUSH_MS);

            assertThat(harness.getOutput())
                    .as("a chunk for each partition and a watermark")
                    .hasSize(PARTITIONS + 1)
                    .last()
                    .isEqualTo(new Watermark(99));
        }
    }

    @Test
    void shouldEmitAWatermarkAtOnceIfNoRowWaits() throws Exception {
        try (var harness = open()) {
            harness.processWatermark(new Watermark(5));

            assertThat(harness.getOutput()).containsExactly(new Watermark(5));
        }
    }

    @Test
    void shouldEmitAHeldWatermarkBeforeABarrier() throws Exception {
        try (var harness = open()) {
            harness.processElement(row(1));
            harness.processWatermark(new Watermark(5));

            harness.prepareSnapshotPreBarrier(1);

            assertThat(harness.getOutput()).hasSize(2).last().isEqualTo(new Watermark(5));
        }
    }

    @Test
    void shouldEmitAHeldWatermarkBeforeIdleness() throws Exception {
        try (var harness = open()) {
            harness.processElement(row(1));
            harness.processWatermark(new Watermark(5));

            harness.processWatermarkStatus(WatermarkStatus.IDLE);

            assertThat(harness.getOutput())
                    .hasSize(3)
                    .endsWith(new Watermark(5), WatermarkStatus.IDLE);
        }
    }
}
