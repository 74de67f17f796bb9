// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

/** State contains encoded chunks, so that later releases must read these bytes. */
class EncodedChunkStabilityTest {

    private static final int ROWS = 1_500;

    /** One column for each encoding of values, two with runs, and a variable-width column. */
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("delta", ColumnType.INT64),
                    Column.of("runs", ColumnType.INT32),
                    Column.of("deltas_of_runs", ColumnType.INT64),
                    Column.of("dictionary", ColumnType.FLOAT64),
                    Column.of("bit_packed", ColumnType.INT32),
                    Column.of("plain", ColumnType.INT64),
                    Column.of("text", ColumnType.STRING));

    private static Chunk chunk() {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 20);
        for (int row = 0; row < ROWS; row++) {
            long mixed = mix(row);
            builder.putLong(0, 1_000_000_000_000L + 10L * row + (mixed & 7));
            builder.putInt(1, (int) (mix(row / 20) & 0xFFFF));
            builder.putLong(2, -7L * (row / 9));
            builder.putDouble(3, (mixed & 15) / 8.0);
            builder.putInt(4, (int) (mixed & 0x7FF) - 500);
            builder.putLong(5, mixed);
            builder.addString(row % 100 == 0 ? "row " + row : "");
            builder.endRow();
        }
        return builder.seal(3, 42, 7, 1L << 34);
    }

    /** The finalizer of SplitMix64: values that look random. */
    private static long mix(long value) {
        long mixed = (value + 1) * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    private static byte[] golden() throws IOException {
        try (InputStream in =
                EncodedChunkStabilityTest.class.getResourceAsStream("chunk-v2-encoded.bin")) {
            return in.readAllBytes();
        }
    }

    @Test
    void shouldReadAnEncodedChunkWrittenByTheFirstRelease() throws IOException {
        assertThat(ChunkDecoder.decode(SCHEMA, golden())).isEqualTo(chunk());
    }

    @Test
    void shouldWriteTheSameBytesAsTheFirstRelease() throws IOException {
        assertThat(new ChunkEncoder().encode(chunk())).isEqualTo(golden());
    }
}
