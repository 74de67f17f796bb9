// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.BadRecords;
import io.github.gpujoin.flink.record.RecordLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.TimeType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packers of records that are bad in ways of their own, and of changes. */
class BadRecordPackTest {

    /** A record whose text cannot be made where its own is null. */
    public static class Named {
        public int key;
        public String name;
        public boolean shown = true;

        public Named() {}

        Named(int key, String name, boolean shown) {
            this.key = key;
            this.name = name;
            this.shown = shown;
        }

        @Override
        public String toString() {
            if (!shown) {
                throw new IllegalStateException("not to be shown");
            }
            return "record " + key;
        }
    }

    private static final TypeInformation<Named> TYPE = TypeInformation.of(Named.class);
    private static final RecordLayout<Named> LAYOUT =
            RecordLayout.of(
                    TYPE, List.of("key", "name"), List.of("key"), new SerializerConfigImpl());
    private static final String GOOD = "Is \uD83D\uDE00 one? As \uD83D\uDE00\uD83D\uDE00 are two";
    private static final PackSpec PACKING =
            PackSpec.unpartitioned("customers", 0, 1 << 20, Duration.ofMillis(100));

    private static OneInputStreamOperatorTestHarness<Named, Chunk> open(
            RecordLayout<Named> layout, MapFunction<Named, RowKind> kind, BadRecords policy)
            throws Exception {
        OneInputStreamOperatorTestHarness<Named, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        new PackOperator<>(layout, null, kind, PACKING.with(policy)),
                        TYPE.createSerializer(new SerializerConfigImpl()));
        harness.setup(ChunkTypeInfo.of(layout.schema()).createSerializer(null));
        harness.open();
        return harness;
    }

    private static List<String> names(List<Chunk> chunks) {
        List<String> names = new ArrayList<>();
        ChunkCursor row = new ChunkCursor(LAYOUT.schema());
        for (Chunk chunk : chunks) {
            for (int i = 0; i < chunk.rowCount(); i++) {
                names.add(row.at(chunk, i).getString("name"));
            }
        }
        return names;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\uD83D",
                "\uD83Db",
                "\uDE00",
                "\uDE00\uD83D",
                "\uD83D\uD83D\uDE00",
                "\uD83D is the first of eight bytes",
                "the eighth\uDE00 of eight, behind others"
            })
    void shouldTakeTextThatUtf8HasNoBytesForAsABadRecord(String text) throws Exception {
        try (var harness = open(LAYOUT, null, BadRecords.SKIP)) {
            harness.processElement(new StreamRecord<>(new Named(1, GOOD, true)));
            harness.processElement(new StreamRecord<>(new Named(2, text, true)));
            harness.processElement(new StreamRecord<>(new Named(3, "kept", true)));
            harness.endInput();

            assertThat(names(harness.extractOutputValues())).containsExactly(GOOD, "kept");
            assertThat(harness.getSideOutput(AbstractPackOperator.BAD_RECORDS))
                    .extracting(StreamRecord::getValue)
                    .satisfiesExactly(
                            bad -> {
                                assertThat(bad.record()).isEqualTo("record 2");
                                assertThat(bad.reason())
                                        .contains("a surrogate without its other half");
                            });
        }
        try (var harness = open(LAYOUT, null, BadRecords.FAIL)) {
            StreamRecord<Named> bad = new StreamRecord<>(new Named(2, text, true));
            assertThatThrownBy(() -> harness.processElement(bad))
                    .hasMessageStartingWith("A record of a side of the join cannot be packed");
        }
    }

    private static OneInputStreamOperatorTestHarness<RowData, Chunk> openTimes(BadRecords policy)
            throws Exception {
        InternalTypeInfo<RowData> type =
                InternalTypeInfo.ofFields(
                        new LogicalType[] {new BigIntType(), new TimeType(3)},
                        new String[] {"key", "at"});
        RecordLayout<RowData> layout =
                RecordLayout.of(
                        type, List.of("key", "at"), List.of("key"), new SerializerConfigImpl());
        OneInputStreamOperatorTestHarness<RowData, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        new PackOperator<>(layout, null, null, PACKING.with(policy)),
                        type.createSerializer(new SerializerConfigImpl()));
        harness.setup(ChunkTypeInfo.of(layout.schema()).createSerializer(null));
        harness.open();
        return harness;
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 86_400_000, 500_000_000, Integer.MAX_VALUE})
    void shouldTakeATimeOutsideTheDayAsABadRecord(int milliseconds) throws Exception {
        String reason =
                "Time is outside the day: column=at, type=TIME(3), milliseconds=%d.\n"
                        .formatted(milliseconds);
        try (var harness = openTimes(BadRecords.SKIP)) {
            for (int time : new int[] {0, milliseconds, 86_399_999}) {
                harness.processElement(new StreamRecord<>(GenericRowData.of(1L, time)));
            }
            harness.endInput();

            assertThat(harness.extractOutputValues().stream().mapToInt(Chunk::rowCount).sum())
                    .isEqualTo(2);
            assertThat(harness.getSideOutput(AbstractPackOperator.BAD_RECORDS))
                    .extracting(StreamRecord::getValue)
                    .satisfiesExactly(bad -> assertThat(bad.reason()).contains(reason));
        }
        try (var harness = openTimes(BadRecords.FAIL)) {
            StreamRecord<RowData> bad = new StreamRecord<>(GenericRowData.of(1L, milliseconds));
            assertThatThrownBy(() -> harness.processElement(bad))
                    .hasMessageStartingWith("A record of a side of the join cannot be packed")
                    .hasRootCauseMessage(
                            reason + "Set it to a value from 0 to 86399999, or filter the record.");
        }
    }

    @Test
    void shouldGoOnBehindABadRecordThatCannotBeShown() throws Exception {
        try (var harness = open(LAYOUT, null, BadRecords.SKIP)) {
            harness.processElement(new StreamRecord<>(new Named(1, "\uD83D", false)));
            harness.processElement(new StreamRecord<>(new Named(2, "kept", true)));
            harness.endInput();

            assertThat(names(harness.extractOutputValues())).containsExactly("kept");
            BadRecord bad =
                    harness.getSideOutput(AbstractPackOperator.BAD_RECORDS).peek().getValue();
            assertThat(bad.record()).startsWith(Named.class.getName()).contains("not to be shown");
        }
    }

    /** Static notes, as the harness does not serialise the function. */
    private static final class Noting extends RichMapFunction<Named, RowKind> {
        private static final List<String> CALLS = new ArrayList<>();

        @Override
        public void open(OpenContext context) {
            CALLS.add("open in task " + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        }

        @Override
        public RowKind map(Named record) {
            CALLS.add("map");
            return RowKind.INSERT;
        }

        @Override
        public void close() {
            CALLS.add("close");
        }
    }

    @Test
    void shouldOpenAndCloseARichFunctionOfKindsOfChanges() throws Exception {
        Noting.CALLS.clear();
        try (var harness = open(LAYOUT.withChanges(), new Noting(), BadRecords.FAIL)) {
            harness.processElement(new StreamRecord<>(new Named(1, "one", true)));
        }
        assertThat(Noting.CALLS).containsExactly("open in task 0", "map", "close");
    }
}
