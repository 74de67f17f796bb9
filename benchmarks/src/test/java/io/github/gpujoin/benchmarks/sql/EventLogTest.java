// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventLogTest {

    private static final int MEBIBYTE = 1 << 20;

    private final RowDataSerializer rows =
            new RowDataSerializer(new BigIntType(), new VarCharType(VarCharType.MAX_LENGTH));
    private final EventLog log = new EventLog();

    private BinaryRowData row(long number, int length) {
        return rows.toBinaryRow(
                        GenericRowData.of(number, StringData.fromString("x".repeat(length))))
                .copy();
    }

    /** Rows of up to 3 MiB leave room at the end of segments of 8 MiB. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReturnRowsInOrderAcrossSegments(long seed) {
        Random random = new Random(seed);
        List<String> added = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            BinaryRowData row = row(i, random.nextInt(3 * MEBIBYTE));
            row.setRowKind(RowKind.values()[i % RowKind.values().length]);
            log.add(i % 3, row);
            added.add(i % 3 + " " + row.getRowKind() + " " + row.hashCode());
        }
        List<String> read = new ArrayList<>();
        EventLog.Cursor cursor = log.cursor();
        while (cursor.hasNext()) {
            BinaryRowData row = cursor.next();
            read.add(cursor.table() + " " + row.getRowKind() + " " + row.hashCode());
        }
        assertThat(read).isEqualTo(added);
        assertThat(log.rowCount()).isEqualTo(30);
    }

    @Test
    void shouldRejectARowLargerThanASegment() {
        assertThatThrownBy(() -> log.add(1, row(0, 8 * MEBIBYTE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Row exceeds a segment: table=1, bytes=8388");
        assertThat(log.cursor().hasNext()).isFalse();
    }
}
