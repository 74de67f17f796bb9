// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RegionLeakExtension.class)
class SharedChunkTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));

    @Test
    void shouldHoldEqualChunksOnce() {
        Chunk chunk = chunk(7);
        try (SharedChunk first = SharedChunk.of(chunk, MemoryReservations.unlimited());
                SharedChunk second = SharedChunk.of(chunk(7), MemoryReservations.unlimited())) {
            assertThat(Region.openBytes()).isEqualTo(chunk.lengthBytes());
            assertThat(first.read()).isEqualTo(chunk);
            assertThat(second.read()).isEqualTo(chunk);
        }
    }

    @Test
    void shouldKeepTheCopyUntilTheLastUserCloses() {
        SharedChunk first = SharedChunk.of(chunk(7), MemoryReservations.unlimited());
        SharedChunk second = SharedChunk.of(chunk(7), MemoryReservations.unlimited());
        first.close();
        first.close();
        assertThat(second.read()).isEqualTo(chunk(7));
        second.close();
    }

    @Test
    void shouldHoldDifferentChunksApart() {
        try (SharedChunk first = SharedChunk.of(chunk(7), MemoryReservations.unlimited());
                SharedChunk second = SharedChunk.of(chunk(8), MemoryReservations.unlimited())) {
            assertThat(Region.openCount()).isEqualTo(2);
            assertThat(first.read()).isNotEqualTo(second.read());
        }
    }

    /** A copy is charged once, to the join that made it. */
    @Test
    void shouldReserveACopyUntilItsLastUserCloses() {
        Reserved memory = new Reserved(1 << 12);
        SharedChunk first = SharedChunk.of(chunk(7), memory);
        long reservedBytes = memory.bytes;
        assertThat(reservedBytes).isGreaterThanOrEqualTo(chunk(7).lengthBytes());
        SharedChunk second = SharedChunk.of(chunk(7), new Reserved(0));
        first.close();
        assertThat(memory.bytes).isEqualTo(reservedBytes);
        second.close();
        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldCopyNothingIfThereIsNoMemory() {
        Reserved memory = new Reserved(chunk(7).lengthBytes());
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> SharedChunk.of(chunk(7), memory));
        assertThat(memory.bytes).isZero();
        SharedChunk.of(chunk(7), new Reserved(1 << 12)).close();
    }

    private static final class Reserved implements MemoryReservations {

        private final long limitBytes;
        private long bytes;

        Reserved(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        @Override
        public void reserve(long lengthBytes) {
            if (lengthBytes > availableBytes()) {
                throw new MemoryRefusedException("No memory is left.", null);
            }
            bytes += lengthBytes;
        }

        @Override
        public void release(long lengthBytes) {
            bytes -= lengthBytes;
        }

        @Override
        public long availableBytes() {
            return limitBytes - bytes;
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
