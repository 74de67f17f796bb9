// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class FactSegmentsTest {

    private static final int ROWS = 5000;
    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("key", ColumnType.INT64));

    private static FactSegments segments(boolean encodes) {
        DimensionSpec part = new DimensionSpec("part", SCHEMA, 0, 0, JoinKind.INNER);
        return new FactSegments(new JoinSpec(SCHEMA, List.of(part)), encodes);
    }

    private static Chunk chunk(LongSupplier keys) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64 + 8 * ROWS);
        for (int row = 0; row < ROWS; row++) {
            builder.putLong(0, keys.getAsLong());
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, 0, 1, 1);
    }

    /** Writes rows 1000 to 3999 as one segment, and returns its bytes. */
    private static byte[] write(FactSegments segments, Chunk chunk) {
        try (Region region = Region.allocateZeroed(segments.plainBytes(3000))) {
            int length = segments.write(chunk, 1000, 3000, region.address(), 7, 9);
            byte[] bytes = new byte[length];
            Memory.copy(null, region.address(), bytes, Memory.BYTES, length);
            return bytes;
        }
    }

    @Test
    void shouldEncodeARangeOfRowsWhereThatSavesBytes() {
        Random random = new Random(14);
        Chunk chunk = chunk(() -> random.nextInt(1 << 20));
        FactSegments segments = segments(true);

        byte[] bytes = write(segments, chunk);

        assertThat(bytes.length).isLessThan(segments.plainBytes(3000) / 2);
        assertThat((int) bytes[ChunkDescriptor.FLAGS_OFFSET]).isEqualTo(ChunkDescriptor.ENCODED);
        Chunk decoded = ChunkDecoder.decode(SCHEMA, bytes);
        assertThat(decoded.rowCount()).isEqualTo(3000);
        for (int row = 0; row < 3000; row++) {
            assertThat(decoded.getLong(0, row)).isEqualTo(chunk.getLong(0, 1000 + row));
        }
    }

    @Test
    void shouldWritePlainSegmentsWhereEncodingSavesNothing() {
        Random random = new Random(14);
        Chunk chunk = chunk(random::nextLong);

        byte[] bytes = write(segments(true), chunk);

        assertThat(bytes).isEqualTo(write(segments(false), chunk));
        assertThat((int) bytes[ChunkDescriptor.FLAGS_OFFSET]).isZero();
    }
}
