// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class UpsertRowsTest {

    private final UpsertRows rows =
            new UpsertRows(
                    (RowTypeInfo)
                            Types.ROW_NAMED(new String[] {"id", "name"}, Types.INT, Types.STRING));

    private List<Row> read(@Nullable String value) throws IOException {
        List<Row> out = new ArrayList<>();
        byte[] bytes = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
        rows.deserialize(
                new ConsumerRecord<>(
                        "customers", 3, 42L, "7".getBytes(StandardCharsets.UTF_8), bytes),
                new ListCollector<>(out));
        return out;
    }

    @Test
    void shouldReadAnObjectAsAnInsertion() throws IOException {
        assertThat(read("{\"name\":\"Ann\",\"id\":7,\"more\":1}"))
                .containsExactly(Row.ofKind(RowKind.INSERT, 7, "Ann"));
    }

    @Test
    void shouldReadATombstoneAsADeletionOfItsKey() throws IOException {
        assertThat(read(null)).containsExactly(Row.ofKind(RowKind.DELETE, 7, null));
    }

    @Test
    void shouldNameTheRecordOfABadField() {
        assertThatThrownBy(() -> read("{\"id\":\"7\",\"name\":\"Ann\"}"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Field id")
                .hasMessageContaining("topic=customers, partition=3, offset=42");
    }
}
