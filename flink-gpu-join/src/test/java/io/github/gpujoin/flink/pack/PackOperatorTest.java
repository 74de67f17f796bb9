// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static io.github.gpujoin.flink.pack.PackHarness.FLUSH_MS;
import static io.github.gpujoin.flink.pack.PackHarness.LAYOUT;
import static io.github.gpujoin.flink.pack.PackHarness.PACKING;
import static io.github.gpujoin.flink.pack.PackHarness.POJO;
import static io.github.gpujoin.flink.pack.PackHarness.record;
import static io.github.gpujoin.flink.pack.PackHarness.values;
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
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a packer writes into chunks: filtered, copied and partitioned rows. */
class PackOperatorTest {

    @Test
    void shouldDropFilteredRowsAndNullKeysAndCountThem() throws Exception {
        try (var harness = PackHarness.open(record -> record.anInt % 2 == 0, PACKING)) {
            for (int i = 0; i < 12; i++) {
                harness.processElement(record(i % 3 == 0 ? null : (Long) (long) i, i));
            }
            harness.endInput();

            assertThat(values(harness.extractOutputValues())).containsExactly(2, 4, 8, 10);
            assertThat(harness.packer().rowsIn.getCount()).isEqualTo(12);
            assertThat(harness.packer().rowsFiltered.getCount()).isEqualTo(6);
            assertThat(harness.packer().nullKeyRows.getCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldNameTheSideWhoseFilterFails() throws Exception {
        try (var harness = PackHarness.open(record -> 1 / record.anInt > 0, PACKING)) {
            assertThatThrownBy(() -> harness.processElement(record(1L, 0)))
                    .hasMessage("The filter of a side of the join failed: side=orders")
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    /** Logs its life cycle. The log is static because Flink copies filters. */
    private static final class LoggingFilter extends RichFilterFunction<AllKinds> {
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
        LoggingFilter.CALLS.clear();
        try (var harness = PackHarness.open(new LoggingFilter(), PACKING)) {
            harness.processElement(record(1L, 1));
        }

        assertThat(LoggingFilter.CALLS).containsExactly("open in task 0", "filter", "close");
    }

    @Test
    void shouldCopyFieldsOfReusedRecords() throws Exception {
        try (var harness = PackHarness.open(null, PACKING)) {
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
        try (var harness = PackHarness.open(null, PACKING)) {
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
        try (var harness = PackHarness.open(null, PACKING.partitionedBy(0, partitions))) {
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
    void shouldBoundTheMemoryOfBuildersForAnyNumberOfPartitions() throws Exception {
        int partitions = 4096;
        PackSpec packing =
                PackSpec.unpartitioned("facts", ChunkDescriptor.FACTS, 1 << 20, Duration.ofHours(1))
                        .partitionedBy(0, partitions);
        assertThat((long) partitions * packing.builderBytes(partitions))
                .isLessThanOrEqualTo(PackSpec.MAX_BUILDERS_BYTES);
        Random random = new Random(19);
        int rows = 5 * partitions;
        try (var harness = PackHarness.open(null, packing)) {
            // A builder of 1 MiB for each partition would take 4 GiB.
            for (int i = 0; i < rows; i++) {
                harness.processElement(record(random.nextLong(), i));
            }
            harness.endInput();
            assertThat(harness.extractOutputValues().stream().mapToInt(Chunk::rowCount).sum())
                    .isEqualTo(rows);
        }
    }

    /** The size of the dimension is measured, and is small. */
    @Test
    void shouldPackByPartitionUntilTheDimensionIsReplicated() throws Exception {
        PackSpec facts =
                PackSpec.unpartitioned(
                        "facts", ChunkDescriptor.FACTS, 1 << 10, Duration.ofMillis(FLUSH_MS));
        ChunkTypeInfo type = ChunkTypeInfo.of(LAYOUT.schema());
        OutputTag<Chunk> tag = MeasuredDimension.partitions(type);
        PackOperator<AllKinds> packer = new PackOperator<>(LAYOUT, null, facts.partitionedBy(0, 8));
        packer.partitionUntilReplicated(new MeasuredDimension("join", 0, "dimension", 100), type);
        try (var harness = PackHarness.open(packer)) {
            harness.processElement(record(1L, 1));
            harness.processElement(record(2L, 2));
            harness.packer().replicate();
            harness.processElement(record(1L, 3));
            harness.processElement(record(2L, 4));
            harness.packer().replicate();
            harness.packer().endInput();

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
    void shouldRefuseToPartitionByAColumnOtherThanAKey() {
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
}
