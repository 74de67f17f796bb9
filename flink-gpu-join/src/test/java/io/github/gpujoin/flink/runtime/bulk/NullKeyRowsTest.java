// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NullKeyRowsTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("number", ColumnType.INT32),
                    Column.of("nullKeys", ColumnType.INT32),
                    Column.nullable("city", ColumnType.STRING),
                    Column.nullable("street", ColumnType.STRING));

    private static final int NULL_KEY = 1 << 1;

    /** A full chunk of rows with null texts, narrower than a builder assumes. */
    private static Chunk fullChunk(int rowsPerNullKey) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64 << 10);
        while (!builder.isFull()) {
            int row = builder.rowCount();
            builder.putInt(0, row);
            builder.putInt(1, row % rowsPerNullKey == 0 ? NULL_KEY : 0);
            builder.addNull();
            if (row % 50 == 0) {
                builder.addString("s");
            } else {
                builder.addNull();
            }
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, 3, 0, 7);
    }

    private static List<String> texts(Chunk chunk) {
        ChunkCursor cursor = new ChunkCursor(chunk.schema());
        List<String> texts = new ArrayList<>();
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            texts.add(cursor.getInt(0) + (cursor.isNull(3) ? "" : cursor.getString(3)));
        }
        return texts;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 10, 1000})
    void shouldDivideFullChunkOfNarrowRows(int rowsPerNullKey) {
        NullKeyRows nullKeys = new NullKeyRows(SCHEMA, 1, NULL_KEY);
        Chunk chunk = fullChunk(rowsPerNullKey);
        List<String> all = texts(chunk);

        Chunk withNull = nullKeys.select(chunk, true);
        Chunk others = nullKeys.select(chunk, false);

        assertThat(nullKeys.count(chunk)).isEqualTo(withNull.rowCount());
        assertThat(texts(withNull))
                .isEqualTo(
                        IntStream.range(0, all.size())
                                .filter(row -> row % rowsPerNullKey == 0)
                                .mapToObj(all::get)
                                .toList());
        assertThat(texts(others))
                .isEqualTo(
                        IntStream.range(0, all.size())
                                .filter(row -> row % rowsPerNullKey != 0)
                                .mapToObj(all::get)
                                .toList());
        assertThat(others.partition()).isEqualTo(chunk.partition());
    }
}
