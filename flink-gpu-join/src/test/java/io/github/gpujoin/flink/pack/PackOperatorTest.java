// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PackOperatorTest {

    private static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    private static final int ROWS_IN_A_CHUNK = 4;
    private static final long FLUSH_MS = 100;

    private static final RecordLayout<AllKinds> LAYOUT =
            RecordLayout.of(
                            POJO,
                            List.of("boxedLong", "anInt"),
                            List.of("boxedLong"),
                            new SerializerConfigImpl())
                    .withTimestamp();

    private static final PackSpec PACKING =
            PackSpec.unpartitioned(
                    "orders",
                    2,
                    ROWS_IN_A_CHUNK * LAYOUT.schema().fixedRowBytes(),
                    Duration.ofMillis(FLUSH_MS));

    private final List<PackOperator<AllKinds>> operators = new ArrayList<>();

    private OneInputStreamOperatorTestHarness<AllKinds, Chunk> open(
            FilterFunction<AllKinds> filter, PackSpec packing) throws Exception {
        return open(new PackOperator<>(LAYOUT, filter, packing));
    }

    private OneInputStreamOperatorTestHarness<AllKinds, Chunk> open(PackOperator<AllKinds> operator)
            throws Exception {
        OneInputStreamOperatorTestHarness<AllKinds, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        operator, POJO.createSerializer(new SerializerConfigImpl()));
        harness.setup(ChunkTypeInfo.of(LAYOUT.schema()).createSerializer(null));
        harness.open();
        operators.add(operator);
        return harness;
    }

    private PackOperator<AllKinds> operator() {
        return operators.get(operators.size() - 1);
    }

    private static StreamRecord<AllKinds> record(Long key, int value) {
        AllKinds record = new AllKinds();
        record.boxedLong = key;
        record.anInt = value;
        return new StreamRecord<>(record);
    }

    private static List<Integer> values(List<Chunk> chunks) {
        List<Integer> values = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                values.add(chunk.getInt(1, row));
            }
        }
        return values;
    }

    @Test
    void shouldSealAChunkWhenItIsFull() throws Exception {
        try (var harness = open(null, PACKING)) {
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

    /** Facts of a dimension that is measured, and proves small. */
    @Test
    void shouldPackByPartitionUntilTheDimensionIsReplicated() throws Exception {
        PackSpec facts =
                PackSpec.unpartitioned(
                        "facts", ChunkDescriptor.FACTS, 1 << 10, Duration.ofMillis(FLUSH_MS));
        ChunkTypeInfo type = ChunkTypeInfo.of(LAYOUT.schema());
        OutputTag<Chunk> tag = MeasuredDimension.partitions(type);
        PackOperator<AllKinds> packer = new PackOperator<>(LAYOUT, null, facts.partitionedBy(0, 8));
        packer.partitionUntilReplicated(new MeasuredDimension("join", 0, "dimension", 100), type);
        try (var harness = open(packer)) {
            harness.processElement(record(1L, 1));
            harness.processElement(record(2L, 2));
            operator().replicate();
            harness.processElement(record(1L, 3));
            harness.processElement(record(2L, 4));
            operator().replicate();
            operator().endInput();

            List<Chunk> byPartition =
                    harness.getSideOutput(tag).stream().map(StreamRecord::getValue).toList();
            assertThat(values(byPartition)).containsExactlyInAnyOrder(1, 2);
            assertThat(byPartition).extracting(Chunk::partition).allMatch(p -> p >= 0 && p < 8);
            assertThat(values(harness.extractOutputValues())).containsExactly(3, 4);
            assertThat(harness.extractOutputValues())
                    .extracting(Chunk::partition)
                    .containsExactly(ChunkDescriptor.UNPARTITIONED);
        }
    }

    @Test
    void shouldFlushWhenTheFirstRowHasWaitedForTheInterval() throws Exception {
        try (var harness = open(null, PACKING)) {
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
    void shouldStartTheIntervalAnewAfterASealedChunk() throws Exception {
        try (var harness = open(null, PACKING)) {
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
    void shouldKeepOneTimerWhateverNumberOfChunks() throws Exception {
        try (var harness = open(null, PACKING.partitionedBy(0, 8))) {
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
    void shouldFlushBeforeAWatermark() throws Exception {
        try (var harness = open(null, PACKING)) {
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
        try (var harness = open(null, PACKING)) {
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
        try (var harness = open(null, PACKING)) {
            harness.processElement(record(1L, 1));

            harness.prepareSnapshotPreBarrier(1);
            var state = harness.snapshot(1, 1);

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
            assertThat(state.getManagedOperatorState()).isEmpty();
            assertThat(state.getManagedKeyedState()).isEmpty();
        }
    }

    @Test
    void shouldFlushAtTheEndOfTheInputOnceHoweverOftenItEnds() throws Exception {
        try (var harness = open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.endInput();
            harness.endInput();
            harness.getOneInputOperator().finish();

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
        }
    }

    @Test
    void shouldFlushWhenItFinishesWithoutAnEndOfInput() throws Exception {
        try (var harness = open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            harness.getOneInputOperator().finish();

            assertThat(values(harness.extractOutputValues())).containsExactly(1);
        }
    }

    @Test
    void shouldDropFilteredRowsAndNullKeysAndCountThem() throws Exception {
        try (var harness = open(record -> record.anInt % 2 == 0, PACKING)) {
            for (int i = 0; i < 12; i++) {
                harness.processElement(record(i % 3 == 0 ? null : (Long) (long) i, i));
            }
            harness.endInput();

            assertThat(values(harness.extractOutputValues())).containsExactly(2, 4, 8, 10);
            assertThat(operator().rowsIn.getCount()).isEqualTo(12);
            assertThat(operator().rowsFiltered.getCount()).isEqualTo(6);
            assertThat(operator().nullKeyRows.getCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldNameTheSideWhoseFilterFails() throws Exception {
        try (var harness = open(record -> 1 / record.anInt > 0, PACKING)) {
            assertThatThrownBy(() -> harness.processElement(record(1L, 0)))
                    .hasMessage("The filter of a side of the join failed: side=orders")
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    /** A filter with a life cycle; static, as the harness does not serialise it. */
    private static final class Noting extends RichFilterFunction<AllKinds> {
        private static final List<String> CALLS = new ArrayList<>();

        @Override
        public void open(OpenContext context) {
            CALLS.add("open in task " + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        }

        @Override
        public boolean filter(AllKinds value) {
            CALLS.add("filter");
            return true;
        }

        @Override
        public void close() {
            CALLS.add("close");
        }
    }

    @Test
    void shouldOpenAndCloseARichFilter() throws Exception {
        Noting.CALLS.clear();
        try (var harness = open(new Noting(), PACKING)) {
            harness.processElement(record(1L, 1));
        }

        assertThat(Noting.CALLS).containsExactly("open in task 0", "filter", "close");
    }

    @Test
    void shouldCopyWhatItNeedsSoThatARecordMayBeReused() throws Exception {
        try (var harness = open(null, PACKING)) {
            StreamRecord<AllKinds> reused = record(1L, 1);
            harness.processElement(reused);
            reused.getValue().anInt = 2;
            reused.getValue().boxedLong = 9L;
            harness.processElement(reused);
            harness.endInput();

            Chunk chunk = harness.extractOutputValues().get(0);
            assertThat(chunk.getLong(0, 0)).isEqualTo(1);
            assertThat(chunk.getInt(1, 0)).isEqualTo(1);
            assertThat(chunk.getInt(1, 1)).isEqualTo(2);
        }
    }

    @Test
    void shouldKeepEventTimestamps() throws Exception {
        try (var harness = open(null, PACKING)) {
            harness.processElement(record(1L, 1).getValue(), 4711);
            harness.processElement(record(2L, 2));
            harness.endInput();

            Chunk chunk = harness.extractOutputValues().get(0);
            int column = chunk.schema().require(RecordLayout.TIMESTAMP);
            assertThat(chunk.getLong(column, 0)).isEqualTo(4711);
            assertThat(chunk.getLong(column, 1)).isEqualTo(Long.MIN_VALUE);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 128})
    void shouldPutEveryRowIntoTheChunkOfItsPartition(int partitions) throws Exception {
        long seed = 17;
        Random random = new Random(seed);
        Set<Integer> expected = new HashSet<>();
        try (var harness = open(null, PACKING.partitionedBy(0, partitions))) {
            for (int i = 0; i < 3000; i++) {
                harness.processElement(record(random.nextLong(), i));
                expected.add(i);
            }
            harness.endInput();

            ChunkCursor row = new ChunkCursor(LAYOUT.schema());
            for (Chunk chunk : harness.extractOutputValues()) {
                for (int i = 0; i < chunk.rowCount(); i++) {
                    long key = row.at(chunk, i).getLong("boxedLong");
                    assertThat(KeyHash.partition(KeyHash.hash(key), partitions))
                            .isEqualTo(chunk.partition());
                    assertThat(expected.remove(row.getInt("anInt"))).isTrue();
                }
            }
            assertThat(expected).isEmpty();
            assertThat(harness.extractOutputValues())
                    .extracting(Chunk::sequence)
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldBoundTheMemoryOfItsBuildersWhateverTheNumberOfPartitions() throws Exception {
        int partitions = 4096;
        PackSpec packing =
                PackSpec.unpartitioned("facts", ChunkDescriptor.FACTS, 1 << 20, Duration.ofHours(1))
                        .partitionedBy(0, partitions);
        assertThat((long) partitions * packing.builderBytes(partitions))
                .isLessThanOrEqualTo(PackSpec.MAX_BUILDERS_BYTES);
        Random random = new Random(19);
        int rows = 5 * partitions;
        try (var harness = open(null, packing)) {
            // A builder of 1 MiB for each partition would take 4 GiB.
            for (int i = 0; i < rows; i++) {
                harness.processElement(record(random.nextLong(), i));
            }
            harness.endInput();
            assertThat(harness.extractOutputValues().stream().mapToInt(Chunk::rowCount).sum())
                    .isEqualTo(rows);
        }
    }

    @Test
    void shouldFlushOnlyPartitionsWhoseRowsHaveWaited() throws Exception {
        try (var harness = open(null, PACKING.partitionedBy(0, 2))) {
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
    void shouldRefuseToPartitionByAColumnThatIsNoKey() {
        RecordLayout<AllKinds> layout =
                RecordLayout.of(POJO, List.of("text"), List.of(), new SerializerConfigImpl());

        for (int column : new int[] {-1, 0, 1}) {
            assertThatThrownBy(
                            () ->
                                    new PackOperator<>(
                                            layout, null, PACKING.partitionedBy(column, 4)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(
                            "The partition column is not a fixed-width integer: side=orders, column="
                                    + column);
        }
    }

    @Test
    void shouldRefuseSizesThatAreNotPositive() {
        assertThatThrownBy(() -> PackSpec.unpartitioned("orders", 0, 0, Duration.ofMillis(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("chunkBytes=0");
        assertThatThrownBy(() -> PackSpec.unpartitioned("orders", 0, 1, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("flushIntervalMs=0");
        assertThatThrownBy(() -> PACKING.partitionedBy(0, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("partitions=-1");
    }

    @Test
    void shouldHoldALatencyMarkerBehindTheRowsBeforeIt() throws Exception {
        LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
        try (var harness = open(null, PACKING)) {
            operator().processLatencyMarker(marker);
            assertThat(harness.getOutput()).containsExactly(marker);
            harness.processElement(record(1L, 1));
            operator().processLatencyMarker(marker);
            assertThat(harness.getOutput()).hasSize(1);
            harness.setProcessingTime(harness.getProcessingTime() + FLUSH_MS);
            assertThat(harness.extractOutputValues()).hasSize(1);
            assertThat(harness.getOutput()).hasSize(3).last().isEqualTo(marker);
        }
    }

    @Test
    void shouldPassALatencyMarkerWhenItFlushesForAWatermark() throws Exception {
        LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
        try (var harness = open(null, PACKING)) {
            harness.processElement(record(1L, 1));
            operator().processLatencyMarker(marker);
            harness.processWatermark(5);
            assertThat(harness.getOutput()).hasSize(3).contains(marker, new Watermark(5));
        }
    }
}
