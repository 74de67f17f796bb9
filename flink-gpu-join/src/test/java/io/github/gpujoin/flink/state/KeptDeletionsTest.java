// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeptDeletionsTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64), Column.of("change", ColumnType.INT32));

    @ParameterizedTest(name = "keepsDeletions={0}")
    @CsvSource({"false, '1 UPSERT,3 UPSERT'", "true, '1 UPSERT,2 DELETE,3 UPSERT'"})
    void shouldKeepTheLastChangeOfEachKey(boolean keepsDeletions, String expected)
            throws Exception {
        ChunkBuilder changes = new ChunkBuilder(SCHEMA, 1000);
        add(changes, 1, RowChange.DELETE);
        add(changes, 2, RowChange.UPSERT);
        add(changes, 1, RowChange.UPSERT);
        add(changes, 2, RowChange.DELETE);
        add(changes, 3, RowChange.UPSERT);
        LiveRows rows =
                new LiveRows(
                        new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER, 1), keepsDeletions);
        rows.apply(changes.seal(0, 0, 0, 0));

        List<String> written = new ArrayList<>();
        rows.toChunks(0, 0, chunk -> read(chunk, written));

        assertThat(written).containsExactlyInAnyOrder(expected.split(","));
    }

    private static void add(ChunkBuilder builder, long id, RowChange change) {
        builder.putLong(0, id);
        builder.putInt(1, change.code());
        builder.endRow();
    }

    private static void read(Chunk chunk, List<String> into) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            into.add(chunk.getLong(0, row) + " " + RowChange.of(chunk.getInt(1, row)));
        }
    }
}
