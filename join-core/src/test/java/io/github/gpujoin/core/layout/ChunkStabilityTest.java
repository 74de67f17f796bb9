// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Chunks of version 1 in the state of earlier builds stay readable. */
class ChunkStabilityTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("i", ColumnType.INT32),
                    Column.of("l", ColumnType.INT64),
                    Column.of("f", ColumnType.FLOAT32),
                    Column.of("d", ColumnType.FLOAT64),
                    Column.of("s", ColumnType.STRING),
                    Column.nullable("n", ColumnType.INT64),
                    Column.nullable("b", ColumnType.BYTES));

    private static final List<Object[]> ROWS =
            List.of(
                    new Object[] {1, -1L, 1.5f, -2.25, "chunk", 7L, new byte[] {1, 2, 3}},
                    new Object[] {Integer.MIN_VALUE, Long.MAX_VALUE, -0f, 1e300, "", null, null},
                    new Object[] {-5, 1L << 40, 3f, 0.1, "Zürich €𝄞", -8L, new byte[0]});

    private static byte[] golden() throws IOException {
        try (InputStream in = ChunkStabilityTest.class.getResourceAsStream("chunk-v1.bin")) {
            return in.readAllBytes();
        }
    }

    @Test
    void shouldReadAChunkWrittenByTheFirstRelease() throws IOException {
        Chunk chunk = Chunk.wrap(SCHEMA, golden());
        assertThat(chunk.dimension()).isEqualTo(2);
        assertThat(chunk.partition()).isEqualTo(77);
        assertThat(chunk.epoch()).isEqualTo(3);
        assertThat(chunk.sequence()).isEqualTo(1L << 33);
        assertThat(chunk.rowCount()).isEqualTo(ROWS.size());
        ChunkCursor cursor = new ChunkCursor(SCHEMA);
        for (int row = 0; row < ROWS.size(); row++) {
            assertThat(ChunkSamples.values(cursor.at(chunk, row))).isEqualTo(ROWS.get(row));
        }
    }

    @Test
    void shouldWriteTheSameBytesAsTheFirstRelease() throws IOException {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 4096);
        ROWS.forEach(row -> TestChunks.addRow(builder, row));
        assertThat(builder.seal(2, 77, 3, 1L << 33).bytes()).isEqualTo(golden());
    }
}
