// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChangelogSumTest {

    private static final RowType TYPE =
            RowType.of(
                    new BigIntType(),
                    new BigIntType(),
                    new VarCharType(VarCharType.MAX_LENGTH),
                    new DecimalType(38, 4),
                    new TimestampType(3),
                    new DateType());

    private static GenericRowData row(long number) {
        return GenericRowData.of(
                number,
                number / 2,
                StringData.fromString("text " + number),
                DecimalData.fromBigDecimal(BigDecimal.valueOf(number, 4), 38, 4),
                TimestampData.fromEpochMillis(number),
                (int) number);
    }

    private static ChangelogSum sum(List<? extends RowData> rows) {
        ChangelogSum sum = new ChangelogSum(TYPE);
        rows.forEach(sum::add);
        return sum;
    }

    private static RowData of(RowKind kind, long number) {
        RowData row = row(number);
        row.setRowKind(kind);
        return row;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldDependOnWhatRemainsOnly(long seed) {
        List<RowData> changes = new ArrayList<>();
        List<RowData> remaining = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            changes.add(of(RowKind.INSERT, i));
            if (i % 3 == 0) {
                changes.add(of(RowKind.DELETE, i));
            } else if (i % 3 == 1) {
                changes.add(of(RowKind.UPDATE_BEFORE, i));
                changes.add(of(RowKind.UPDATE_AFTER, i + 1000));
                remaining.add(of(RowKind.INSERT, i + 1000));
            } else {
                remaining.add(of(RowKind.INSERT, i));
            }
        }
        Collections.shuffle(changes, new Random(seed));
        assertThat(sum(changes).rowCount()).isEqualTo(remaining.size());
        assertThat(sum(changes).checksum()).isEqualTo(sum(remaining).checksum()).isNotZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    void shouldChangeWithEachField(int field) {
        GenericRowData changed = row(7);
        changed.setField(field, row(9).getField(field));
        GenericRowData missing = row(7);
        missing.setField(field, null);
        assertThat(List.of(row(7), changed, missing))
                .extracting(row -> sum(List.of(row)).checksum())
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldTellAnExchangeOfTwoFieldsFromTheRow() {
        GenericRowData exchanged = row(7);
        exchanged.setField(0, row(7).getField(1));
        exchanged.setField(1, row(7).getField(0));
        assertThat(sum(List.of(exchanged)).checksum())
                .isNotEqualTo(sum(List.of(row(7))).checksum());
    }

    /** Contenders emit rows in different formats. */
    @ParameterizedTest
    @EnumSource(RowKind.class)
    void shouldNotDependOnTheFormatOfARow(RowKind kind) {
        RowData row = of(kind, 123_456_789);
        RowData binary = new RowDataSerializer(TYPE).toBinaryRow(row);
        assertThat(sum(List.of(binary)).checksum()).isEqualTo(sum(List.of(row)).checksum());
    }

    @Test
    void shouldRejectATypeThatItCannotSum() {
        assertThatThrownBy(() -> new ChangelogSum(RowType.of(new DoubleType())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Unsupported type in a result: type=DOUBLE. Add it to ChangelogSum.");
    }
}
