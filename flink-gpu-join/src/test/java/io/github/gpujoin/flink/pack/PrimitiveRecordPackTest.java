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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A packer of records of primitive fields. */
class PrimitiveRecordPackTest {

    /** A field of every primitive kind. */
    public static class Reading {
        public long key;
        public int number;
        public short shortKey;
        public byte small;
        public char letter;
        public boolean flag;
        public float ratio;
        public double value;

        static Reading random(Random random, int number) {
            Reading reading = new Reading();
            reading.key = random.nextLong();
            reading.number = number;
            reading.shortKey = (short) random.nextInt();
            reading.small = (byte) random.nextInt();
            reading.letter = (char) random.nextInt();
            reading.flag = random.nextBoolean();
            reading.ratio = random.nextFloat();
            reading.value = random.nextGaussian();
            return reading;
        }
    }

    /** Also a record of the stream, as it has the same fields in the same places. */
    public static class DetailedReading extends Reading {
        public long detail;
    }

    private static final List<String> COLUMNS =
            List.of(
                    "key",
                    "number",
                    "shortKey",
                    "small",
                    "letter",
                    "flag",
                    "ratio",
                    "value",
                    RecordLayout.TIMESTAMP);

    private static final RecordLayout<Reading> LAYOUT =
            RecordLayout.of(
                            TypeInformation.of(Reading.class),
                            COLUMNS.subList(0, 8),
                            List.of("key", "number", "shortKey"),
                            new SerializerConfigImpl())
                    .withTimestamp();

    private PackOperator<Reading> operator;

    private static PackSpec packing(int chunkRows) {
        int chunkBytes = chunkRows * LAYOUT.schema().fixedRowBytes();
        return PackSpec.unpartitioned(
                "readings", ChunkDescriptor.FACTS, chunkBytes, Duration.ofMillis(100));
    }

    private OneInputStreamOperatorTestHarness<Reading, Chunk> open(
            FilterFunction<Reading> filter, PackSpec packing, boolean reuse) throws Exception {
        operator = new PackOperator<>(LAYOUT, filter, packing);
        OneInputStreamOperatorTestHarness<Reading, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(operator);
        if (reuse) {
            harness.getExecutionConfig().enableObjectReuse();
        }
        harness.setup(ChunkTypeInfo.of(LAYOUT.schema()).createSerializer(null));
        harness.open();
        return harness;
    }

    private static Reading reading(int number) {
        return Reading.random(new Random(number), number);
    }

    private static List<Integer> numbers(List<Chunk> chunks) {
        List<Integer> numbers = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                numbers.add(chunk.getInt(1, row));
            }
        }
        return numbers;
    }

    private static List<Object> row(ChunkCursor row) {
        List<Object> values = new ArrayList<>();
        for (String column : COLUMNS) {
            boolean isReal = column.equals("ratio") || column.equals("value");
            values.add(isReal ? (Object) row.getDouble(column) : row.getLong(column));
        }
        return values;
    }

    private static List<Object> expectedRow(Reading reading, long timestamp) {
        return List.of(
                reading.key,
                (long) reading.number,
                (long) reading.shortKey,
                (long) reading.small,
                (long) reading.letter,
                reading.flag ? 1L : 0L,
                (double) reading.ratio,
                reading.value,
                timestamp);
    }

    @ParameterizedTest(name = "seed {0}, partitions {1} by column {2}, {3} rows a chunk, reuse {4}")
    @CsvSource({
        "1,0,0,4096,false", "2,0,0,700,false", "3,0,0,1,false", "4,0,0,700,true",
        "5,7,0,300,false", "6,128,1,64,false", "7,128,2,4096,false", "8,1,0,5,false",
        "9,128,0,4096,true", "10,3,2,1,false"
    })
    void shouldWriteEveryRecordOnceAndInOrderWithinItsPartition(
            long seed, int partitions, int keyColumn, int chunkRows, boolean reuse)
            throws Exception {
        Random random = new Random(seed);
        PackSpec packing = packing(chunkRows);
        if (partitions > 0) {
            packing = packing.partitionedBy(keyColumn, partitions);
        }
        List<List<Object>> expected = new ArrayList<>();
        try (var harness = open(reading -> reading.number % 5 != 0, packing, reuse)) {
            for (int i = 0; i < 10_000; i++) {
                Reading reading = Reading.random(random, i);
                long timestamp = random.nextBoolean() ? random.nextInt() : Long.MIN_VALUE;
                StreamRecord<Reading> element = new StreamRecord<>(reading);
                if (timestamp != Long.MIN_VALUE) {
                    element.setTimestamp(timestamp);
                }
                harness.processElement(element);
                if (i % 5 != 0) {
                    expected.add(expectedRow(reading, timestamp));
                }
            }
            harness.endInput();

            assertThat(operator.rowsIn.getCount()).isEqualTo(10_000);
            assertThat(operator.rowsFiltered.getCount()).isEqualTo(2_000);
            assertThat(byPartition(harness.extractOutputValues(), partitions))
                    .isEqualTo(
                            expected.stream()
                                    .collect(
                                            Collectors.groupingBy(
                                                    row ->
                                                            partition(
                                                                    (long) row.get(keyColumn),
                                                                    partitions))));
        }
    }

    private static int partition(long key, int partitions) {
        return partitions == 0
                ? ChunkDescriptor.UNPARTITIONED
                : KeyHash.partition(KeyHash.hash(key), partitions);
    }

    private static Map<Integer, List<List<Object>>> byPartition(
            List<Chunk> chunks, int partitions) {
        ChunkCursor cursor = new ChunkCursor(LAYOUT.schema());
        Map<Integer, List<List<Object>>> rows = new HashMap<>();
        for (Chunk chunk : chunks) {
            assertThat(Chunk.wrap(LAYOUT.schema(), chunk.bytes()).rowCount()).isPositive();
            for (int i = 0; i < chunk.rowCount(); i++) {
                rows.computeIfAbsent(chunk.partition(), p -> new ArrayList<>())
                        .add(row(cursor.at(chunk, i)));
            }
        }
        return rows;
    }

    /** What makes a packer give out all it has. */
    enum Event {
        WATERMARK,
        IDLENESS,
        BARRIER,
        END_OF_INPUT,
        FINISH,
        TIMER;

        void happen(OneInputStreamOperatorTestHarness<Reading, Chunk> harness) throws Exception {
            switch (this) {
                case WATERMARK -> harness.processWatermark(50);
                case IDLENESS -> harness.processWatermarkStatus(WatermarkStatus.IDLE);
                case BARRIER -> harness.prepareSnapshotPreBarrier(1);
                case END_OF_INPUT -> harness.endInput();
                case FINISH -> harness.getOneInputOperator().finish();
                case TIMER -> harness.setProcessingTime(harness.getProcessingTime() + 100);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Event.class)
    void shouldFlushAPartlyFilledChunkBefore(Event event) throws Exception {
        try (var harness = open(null, packing(4096), false)) {
            for (int i = 0; i < 700; i++) {
                harness.processElement(new StreamRecord<>(reading(i)));
            }
            assertThat(harness.getOutput()).isEmpty();

            event.happen(harness);

            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output.get(0)).isInstanceOf(StreamRecord.class);
            assertThat(output.subList(1, output.size()))
                    .isEqualTo(
                            switch (event) {
                                case WATERMARK -> List.of(new Watermark(50));
                                case IDLENESS -> List.of(WatermarkStatus.IDLE);
                                default -> List.of();
                            });
            assertThat(numbers(harness.extractOutputValues()))
                    .hasSize(700)
                    .isSorted()
                    .doesNotHaveDuplicates();
            assertThat(operator.rowsIn.getCount()).isEqualTo(700);
            event.happen(harness);
            assertThat(harness.extractOutputValues()).hasSize(1);
        }
    }

    @Test
    void shouldFlushWhenTheOldestRecordHasWaitedForTheInterval() throws Exception {
        try (var harness = open(null, packing(4096), false)) {
            harness.setProcessingTime(1000);
            harness.processElement(new StreamRecord<>(reading(1)));
            harness.setProcessingTime(1090);
            harness.processElement(new StreamRecord<>(reading(2)));
            harness.setProcessingTime(1099);
            assertThat(harness.getOutput()).isEmpty();

            harness.setProcessingTime(1100);

            assertThat(numbers(harness.extractOutputValues())).contains(1);
            harness.processElement(new StreamRecord<>(reading(3)));
            harness.setProcessingTime(1199);
            assertThat(numbers(harness.extractOutputValues())).doesNotContain(3);
            harness.setProcessingTime(1200);
            assertThat(numbers(harness.extractOutputValues())).containsExactlyInAnyOrder(1, 2, 3);
            assertThat(harness.getProcessingTimeService().getNumActiveTimers()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"0,false", "4,false", "0,true", "4,true"})
    void shouldCopyWhatItNeedsOfARecordThatIsReused(int partitions, boolean reuse)
            throws Exception {
        PackSpec packing = packing(4096);
        PackSpec chosen = partitions == 0 ? packing : packing.partitionedBy(0, partitions);
        try (var harness = open(null, chosen, reuse)) {
            StreamRecord<Reading> reused = new StreamRecord<>(reading(0));
            for (int i = 0; i < 10; i++) {
                reused.getValue().number = i;
                harness.processElement(reused);
            }
            harness.endInput();

            assertThat(numbers(harness.extractOutputValues()))
                    .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        }
    }

    @Test
    void shouldSealEachFullChunkAtOnce() throws Exception {
        try (var harness = open(null, packing(4), false)) {
            for (int i = 0; i < 9; i++) {
                harness.processElement(new StreamRecord<>(reading(i)));
            }

            assertThat(numbers(harness.extractOutputValues()))
                    .containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        }
    }

    @Test
    void shouldTakeRecordsOfASubclass() throws Exception {
        try (var harness = open(null, packing(4096), false)) {
            DetailedReading detailed = new DetailedReading();
            detailed.number = 8;
            harness.processElement(new StreamRecord<>(reading(7)));
            harness.processElement(new StreamRecord<>(detailed));
            harness.endInput();

            assertThat(numbers(harness.extractOutputValues())).containsExactly(7, 8);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @SuppressWarnings({"unchecked", "rawtypes"})
    void shouldNameTheSideOfARecordThatIsOfAnotherClass(boolean reuse) throws Exception {
        try (var harness = open(null, packing(4096), reuse)) {
            harness.processElement(new StreamRecord<>(reading(7)));

            assertThatThrownBy(
                            () -> {
                                harness.processElement(new StreamRecord("no reading"));
                                harness.endInput();
                            })
                    .hasMessage("A record of a side of the join cannot be packed: side=readings")
                    .rootCause()
                    .hasMessageContaining(
                            "class=java.lang.String, expected=" + Reading.class.getName());
            assertThat(harness.getOutput()).isEmpty();
        }
    }

    @Test
    void shouldNameTheSideWhoseFilterFailsBehindOtherRecords() throws Exception {
        try (var harness = open(reading -> 1 / reading.number > 0, packing(4096), false)) {
            harness.processElement(new StreamRecord<>(reading(1)));

            assertThatThrownBy(() -> harness.processElement(new StreamRecord<>(reading(0))))
                    .hasMessage("The filter of a side of the join failed: side=readings");
        }
    }
}
