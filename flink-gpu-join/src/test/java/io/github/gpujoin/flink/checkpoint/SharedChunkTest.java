package io.github.gpujoin.flink.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Region;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedChunkTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));

    @AfterEach
    void allRegionsComeBack() {
        assertThat(Region.openCount()).isZero();
    }

    @Test
    void shouldHoldEqualChunksOnce() {
        Chunk chunk = chunk(7);
        try (SharedChunk first = SharedChunk.of(chunk);
                SharedChunk second = SharedChunk.of(chunk(7))) {
            assertThat(Region.openBytes()).isEqualTo(chunk.lengthBytes());
            assertThat(first.read()).isEqualTo(chunk);
            assertThat(second.read()).isEqualTo(chunk);
        }
    }

    @Test
    void shouldKeepTheCopyUntilTheLastUserCloses() {
        SharedChunk first = SharedChunk.of(chunk(7));
        SharedChunk second = SharedChunk.of(chunk(7));
        first.close();
        first.close();
        assertThat(second.read()).isEqualTo(chunk(7));
        second.close();
        assertThat(Region.openCount()).isZero();
    }

    @Test
    void shouldHoldDifferentChunksApart() {
        try (SharedChunk first = SharedChunk.of(chunk(7));
                SharedChunk second = SharedChunk.of(chunk(8))) {
            assertThat(Region.openCount()).isEqualTo(2);
            assertThat(first.read()).isNotEqualTo(second.read());
        }
    }

    private static Chunk chunk(long id) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 10);
        builder.putLong(0, id);
        builder.putLong(1, -id);
        builder.endRow();
        return builder.seal(0, -1, 0, 3);
    }
}
