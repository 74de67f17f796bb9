// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.RoundingMode;
import java.util.List;
import java.util.UUID;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Selected columns of types that a chunk stores as the bytes of their Flink serializer. */
class SelectedTypesITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(1)
                            .build());

    private static final UUID ID = new UUID(1, 2);

    private final StreamExecutionEnvironment env =
            StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);

    private DataStream<Row> facts() {
        return env.fromData(
                List.of(Row.of(7L, ID)),
                Types.ROW_NAMED(
                        new String[] {"key", "id"}, Types.LONG, TypeInformation.of(UUID.class)));
    }

    private DataStream<Row> dimension() {
        return env.fromData(
                List.of(Row.of(7L, ID, RoundingMode.CEILING)),
                Types.ROW_NAMED(
                        new String[] {"key", "id", "mode"},
                        Types.LONG,
                        TypeInformation.of(UUID.class),
                        Types.ENUM(RoundingMode.class)));
    }

    @Test
    void shouldSelectColumnsOfUuidsAndEnums() throws Exception {
        DataStream<Row> result =
                StarJoin.of(facts())
                        .select("id")
                        .dimension(dimension(), d -> d.on("key", "key").select("mode"))
                        .toRows();
        try (CloseableIterator<Row> rows = result.executeAndCollect()) {
            Row row = rows.next();
            assertThat(row.getField("id")).isEqualTo(ID);
            assertThat(row.getField("mode")).isEqualTo(RoundingMode.CEILING);
            assertThat(rows.hasNext()).isFalse();
        }
    }

    @Test
    void shouldRejectAKeyOfUuidsWithAnAlternative() {
        assertThatThrownBy(
                        () ->
                                StarJoin.of(facts())
                                        .select("key")
                                        .dimension(dimension(), d -> d.on("id", "id"))
                                        .toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("UUID")
                .hasMessageContaining("Use toString(), or its two longs.");
    }
}
