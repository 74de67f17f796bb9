// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.emit.GroupFields;
import io.github.gpujoin.flink.record.RecordField;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

class GroupTotalsTest {

    private static final GroupFields FIELDS =
            new GroupFields(
                    List.of(RecordField.ofColumn(Column.of("day", ColumnType.INT64))),
                    List.of("day"),
                    List.of("n"));

    private static KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness()
            throws Exception {
        return harness("by [facts.day] with [count]");
    }

    private static KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness(String definition)
            throws Exception {
        return new KeyedOneInputStreamOperatorTestHarness<>(
                new GroupTotals(FIELDS, definition),
                row -> Row.project(row, new int[] {0}),
                FIELDS.keyType());
    }

    private static Row row(long day, long n) {
        return Row.of(day, n);
    }

    /** One subtask of the join has ended, while the other was idle and becomes active. */
    @Test
    void shouldEmitGroupsAtTheEndAndNotAtTheLargestWatermark() throws Exception {
        try (KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness = harness()) {
            harness.open();
            harness.processElement(row(1, 10), 0);
            harness.processElement(row(2, 20), 0);
            harness.processWatermark(7);
            harness.processWatermark(Watermark.MAX_WATERMARK);
            harness.processElement(row(1, 5), 0);
            assertThat(harness.getOutput()).containsExactly(new Watermark(7));
            harness.endInput();
            assertThat(harness.extractOutputValues())
                    .extracting(row -> row.getField(0), row -> row.getField(1))
                    .containsExactlyInAnyOrder(tuple(1L, 15L), tuple(2L, 20L));
            assertThat(harness.getOutput())
                    .endsWith(WatermarkStatus.ACTIVE, Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldEmitGroupsOnceAcrossARestoreAtTheEnd() throws Exception {
        OperatorSubtaskState before;
        OperatorSubtaskState after;
        try (KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness = harness()) {
            harness.open();
            harness.processElement(row(1, 10), 0);
            before = harness.snapshot(1, 1);
            harness.endInput();
            after = harness.snapshot(2, 2);
            assertThat(harness.extractOutputValues()).hasSize(1);
        }
        assertThat(emittedAtTheEnd(before)).isEqualTo(1);
        assertThat(emittedAtTheEnd(after)).isZero();
    }

    @Test
    void shouldRefuseToRestoreGroupsOfOtherColumns() throws Exception {
        OperatorSubtaskState state;
        try (KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness = harness()) {
            harness.open();
            harness.processElement(row(1, 10), 0);
            state = harness.snapshot(1, 1);
        }
        try (KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> other =
                harness("by [facts.month] with [count]")) {
            assertThatThrownBy(() -> other.initializeState(state))
                    .isInstanceOf(SuppressRestartsException.class)
                    .hasStackTraceContaining(
                            "Groups in the snapshot are by [facts.day] with [count], and those of"
                                    + " the job are by [facts.month] with [count].");
        }
    }

    private static int emittedAtTheEnd(OperatorSubtaskState state) throws Exception {
        try (KeyedOneInputStreamOperatorTestHarness<Row, Row, Row> harness = harness()) {
            harness.initializeState(state);
            harness.open();
            harness.endInput();
            return harness.extractOutputValues().size();
        }
    }
}
