// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.testing.InSlots;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class EncodedChunkTest {

    private static final int ROWS = 2500;

    /** Chunks of one column; their sequences select all plans, one after the other. */
    private static List<Chunk> chunks(ColumnShape shape, ColumnType type) {
        return shape.chunks(type, EncodingPlan.ALL.size(), ROWS, 3);
    }

    private static Chunk open(ChunkSchema schema, byte[] bytes, boolean isInSlot) {
        return isInSlot ? InSlots.copyOf(schema, bytes, true) : ChunkDecoder.open(schema, bytes);
    }

    @ParameterizedTest
    @EnumSource(ColumnShape.class)
    void shouldReadTheValuesOfEveryPlan(ColumnShape shape) {
        for (ColumnType type : List.of(ColumnType.INT32, ColumnType.INT64)) {
            EncodedColumnReader reader = new EncodedColumnReader(0);
            PlainColumn values = new PlainColumn(0);
            for (Chunk chunk : chunks(shape, type)) {
                for (boolean isInSlot : new boolean[] {false, true}) {
                    byte[] bytes = PlannedChunks.encode(chunk);
                    EncodedChunk encoded = (EncodedChunk) open(chunk.schema(), bytes, isInSlot);

                    assertReads(reader, chunk, encoded);
                    values.bind(encoded);
                    for (int row = 0; row < ROWS; row++) {
                        long at = values.start() + (long) type.widthBytes() * row;
                        long value =
                                type == ColumnType.INT32
                                        ? Memory.getInt(values.base(), at)
                                        : Memory.getLong(values.base(), at);
                        assertThat(value).isEqualTo(chunk.getLong(0, row));
                        assertThat(encoded.getLong(0, row)).isEqualTo(value);
                    }
                    assertThat(encoded.plain()).isEqualTo(chunk);
                    assertThat(encoded.bytes()).isEqualTo(bytes);
                    assertThat(encoded.onHeap()).isEqualTo(encoded);
                    assertThat(new ChunkEncoder().encode(encoded)).isEqualTo(bytes);
                    encoded.release();
                }
            }
        }
    }

    private static void assertReads(EncodedColumnReader reader, Chunk chunk, EncodedChunk encoded) {
        Random random = new Random(chunk.sequence());
        try (Region region = Region.allocate(12L * ROWS)) {
            long rows = region.address() + 8L * ROWS;
            for (int i = 0; i < 20; i++) {
                int first = random.nextInt(ROWS);
                int count = 1 + random.nextInt(ROWS - first);
                byte[] loaded = reader.load(encoded, first, count);
                for (int row = 0; row < count; row++) {
                    assertThat(Memory.getLong(loaded, Memory.BYTES + 8L * row))
                            .isEqualTo(chunk.getLong(0, first + row));
                    Memory.putInt(rows + 4L * row, random.nextInt(ROWS));
                }
                reader.gather(encoded, rows, count, region.address());
                for (int row = 0; row < count; row++) {
                    assertThat(Memory.getLong(region.address() + 8L * row))
                            .isEqualTo(chunk.getLong(0, Memory.getInt(rows + 4L * row)));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadAsThePlainChunkDoes(boolean isInSlot) {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64),
                        Column.of("name", ColumnType.STRING),
                        Column.of("price", ColumnType.FLOAT64),
                        Column.of("day", ColumnType.INT32));
        ChunkBuilder builder = new ChunkBuilder(schema, 1 << 20);
        for (int row = 0; row < ROWS; row++) {
            builder.putLong(0, row);
            builder.putDouble(2, row % 7 / 8.0);
            builder.putInt(3, row / 100);
            builder.addString("name-" + row);
            builder.endRow();
        }
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, 5, 77, 99);

        Chunk encoded = open(schema, PlannedChunks.encode(chunk), isInSlot);

        assertThat(encoded.lengthBytes()).isLessThan(chunk.lengthBytes());
        assertThat(encoded.partition()).isEqualTo(5);
        assertThat(encoded.sequence()).isEqualTo(99);
        assertThat(encoded.getInt(3, 1234)).isEqualTo(12);
        assertThat(encoded.getDouble(2, 6)).isEqualTo(0.75);
        assertThat(encoded.variableWidthOffset()).isEqualTo(chunk.variableWidthOffset());
        assertThat(encoded.variableWidthEnd(9) - encoded.variableWidthStart(9))
                .isEqualTo(chunk.variableWidthEnd(9) - chunk.variableWidthStart(9));
        assertThat(encoded.withPartition(6)).isEqualTo(chunk.withPartition(6));
        assertThat(encoded.withLongs(0, row -> -row)).isEqualTo(chunk.withLongs(0, row -> -row));
        assertThatThrownBy(() -> encoded.getLong(0, ROWS))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> encoded.getInt(0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another type");
        encoded.release();
    }

    /** Damage behind a right checksum, by a faulty writer: it is found, or only values differ. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadDamagedColumnsOrRejectThem(boolean isInSlot) {
        Random random = new Random(4);
        List<Chunk> chunks = new ArrayList<>(chunks(ColumnShape.CLUSTERED, ColumnType.INT64));
        chunks.addAll(chunks(ColumnShape.CLUSTERED, ColumnType.INT16));
        EncodedColumnReader reader = new EncodedColumnReader(0);
        int rejected = 0;
        for (int i = 0; i < 8000; i++) {
            Chunk chunk = chunks.get(i % chunks.size());
            byte[] damaged = PlannedChunks.encode(chunk);
            int at = ChunkDescriptor.HEADER_BYTES + random.nextInt(damaged.length - 64);
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Memory.putLong(
                    damaged,
                    Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET,
                    ChunkChecksum.of(damaged, Memory.BYTES, damaged.length));
            rejected += isRejected(reader, chunk.schema(), damaged, isInSlot) ? 1 : 0;
        }
        assertThat(rejected).isBetween(100, 7000);
    }

    private static long[] longs(byte[] loaded) {
        return LongStream.range(0, ROWS)
                .map(row -> Memory.getLong(loaded, Memory.BYTES + 8 * row))
                .toArray();
    }

    private static long[] longs(Chunk chunk) {
        return IntStream.range(0, ROWS).mapToLong(row -> chunk.getLong(0, row)).toArray();
    }

    /** Every way to read a column tells the same values, even of sums outside its type. */
    private static boolean isRejected(
            EncodedColumnReader reader, ChunkSchema schema, byte[] bytes, boolean isInSlot) {
        try {
            EncodedChunk chunk = (EncodedChunk) open(schema, bytes, isInSlot);
            try {
                assertThat(longs(reader.load(chunk, 0, ROWS))).isEqualTo(longs(chunk.plain()));
                assertThat(chunk.getLong(0, ROWS / 2))
                        .isEqualTo(chunk.plain().getLong(0, ROWS / 2));
            } finally {
                chunk.release();
            }
            return false;
        } catch (ChunkFormatException e) {
            return true;
        }
    }
}
