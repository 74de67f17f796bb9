// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EncodedChunkAssemblerTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("day", ColumnType.INT32), Column.of("price", ColumnType.INT64));

    private final EncodedChunkAssembler assembler = new EncodedChunkAssembler(SCHEMA);

    static LongStream seeds() {
        return LongStream.range(0, 30);
    }

    private static Chunk chunk(Random random, long sequence) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 20);
        int rows = 1 + random.nextInt(5000);
        int dayBits = 1 + random.nextInt(31);
        for (int row = 0; row < rows; row++) {
            builder.putInt(0, random.nextInt() >>> dayBits);
            builder.putLong(1, row / 50 * 7L - random.nextInt(3));
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, sequence);
    }

    private static EncodedChunk encoded(Chunk chunk) {
        return (EncodedChunk) ChunkDecoder.open(SCHEMA, PlannedChunks.encode(chunk));
    }

    private EncodedChunk rows(EncodedChunk source, int firstRow, int rowCount) {
        assembler.begin(rowCount);
        assembler.add(source, 0, firstRow);
        assembler.add(source, 1, firstRow);
        EncodedChunk assembled =
                assembler.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 8, true);
        return (EncodedChunk) ChunkDecoder.open(SCHEMA, assembled.bytes().clone());
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldTakeAllOrSomeRowsOfEveryEncoding(long seed) {
        Random random = new Random(seed);
        Chunk chunk = chunk(random, seed);
        EncodedChunk source = encoded(chunk);
        for (int range = 0; range < 6; range++) {
            int first = range == 0 ? 0 : random.nextInt(chunk.rowCount());
            first = random.nextBoolean() ? first & -8 : first;
            int count =
                    range == 0 ? chunk.rowCount() : 1 + random.nextInt(chunk.rowCount() - first);
            EncodedChunk taken = rows(source, first, count);
            assertThat(taken.rowCount()).isEqualTo(count);
            for (int row = 0; row < count; row++) {
                assertThat(taken.getInt(0, row)).isEqualTo(chunk.getInt(0, first + row));
                assertThat(taken.getLong(1, row)).isEqualTo(chunk.getLong(1, first + row));
            }
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldTakePackedCodesAndWholeValues(long seed) {
        Random random = new Random(seed);
        int bits = random.nextInt(BitPacking.MAX_BITS + 1);
        int rows = 1 + random.nextInt(3000);
        byte[] codes = new byte[(rows * bits >>> 3) + 16];
        byte[] values = new byte[4 * rows];
        random.nextBytes(codes);
        random.nextBytes(values);
        try (Region region = Region.allocate(codes.length)) {
            Memory.copy(codes, Memory.BYTES, null, region.address(), codes.length);
            assembler.begin(rows);
            assembler.addPlain(values, Memory.BYTES);
            assembler.addPacked(region.address(), bits, -5);
        }
        EncodedChunk chunk = assembler.seal(ChunkDescriptor.FACTS, 3, 1, 2, false);
        EncodedChunk read = (EncodedChunk) ChunkDecoder.open(SCHEMA, chunk.bytes().clone());
        for (int row = 0; row < rows; row++) {
            long value = BitPacking.get(codes, Memory.BYTES, bits, row) - 5;
            assertThat(read.getInt(0, row))
                    .isEqualTo(Memory.getInt(values, Memory.BYTES + 4L * row));
            assertThat(read.getLong(1, row)).isEqualTo(value);
        }
        assertThat(read.partition()).isEqualTo(3);
    }

    /** Codes are added packed at any bit, repeated, and one by one. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldAddCodesOfADictionaryAndTheirRuns(long seed) {
        Random random = new Random(seed);
        long[] dictionary = random.longs(1 + random.nextInt(1 << random.nextInt(17))).toArray();
        int bits = BitPacking.bitsOf(dictionary.length - 1);
        int rows = dictionary.length + random.nextInt(5000);
        int[] expected = new int[rows];
        PackedCodes codes = new PackedCodes();
        codes.begin(bits, rows);
        while (codes.count() < rows) {
            int from = codes.count();
            int some = 1 + random.nextInt(Math.min(rows - from, 1 + random.nextInt(900)));
            int kind = random.nextInt(3);
            int code = random.nextInt(dictionary.length);
            for (int row = from; row < from + some; row++) {
                expected[row] = kind == 0 ? code : random.nextInt(dictionary.length);
            }
            switch (kind) {
                case 0 -> codes.fill(code, some);
                case 1 -> codes.add(expected, from, some);
                default -> {
                    int skipped = random.nextInt(20);
                    long[] source = new long[skipped + some];
                    for (int i = 0; i < some; i++) {
                        source[skipped + i] = expected[from + i];
                    }
                    byte[] packed = new byte[(source.length * bits >>> 3) + 24];
                    BitPacking.pack(source, source.length, bits, packed, Memory.BYTES);
                    codes.addPacked(packed, (long) skipped * bits, some);
                }
            }
        }
        assembler.begin(rows);
        assembler.addCodes(codes, dictionary, dictionary.length, false);
        assembler.addCodes(codes, dictionary, dictionary.length, true);
        EncodedChunk chunk = assembler.seal(ChunkDescriptor.FACTS, 3, 1, 2, false);
        EncodedChunk read = (EncodedChunk) ChunkDecoder.open(SCHEMA, chunk.bytes().clone());
        for (int row = 0; row < rows; row++) {
            assertThat(codes.get(row)).isEqualTo(expected[row]);
            assertThat(read.getInt(0, row)).isEqualTo((int) dictionary[expected[row]]);
            assertThat(read.getLong(1, row)).isEqualTo(dictionary[expected[row]]);
        }
    }

    @Test
    void shouldKeepACopyOfATransientChunk() {
        EncodedChunk source = encoded(chunk(new Random(1), 1));
        assembler.begin(8);
        assembler.add(source, 0, 0);
        assembler.add(source, 1, 0);
        EncodedChunk first = assembler.seal(ChunkDescriptor.FACTS, -1, 0, 0, true);
        assertThat(first.isTransient()).isTrue();
        Chunk kept = first.onHeap();
        int day = kept.getInt(0, 3);
        rows(source, 8, 8);
        assertThat(kept.isTransient()).isFalse();
        assertThat(kept.getInt(0, 3)).isEqualTo(day);
    }

    @Test
    void shouldRejectTooFewAndTooManyColumns() {
        EncodedChunk source = encoded(chunk(new Random(2), 2));
        assembler.begin(source.rowCount());
        assembler.add(source, 0, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> assembler.seal(ChunkDescriptor.FACTS, -1, 0, 0, false))
                .withMessageContaining("added=1, columns=2");
        assembler.add(source, 1, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> assembler.add(source, 1, 0))
                .withMessageContaining("columns=2");
    }

    @Test
    void shouldRejectVariableWidth() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                new EncodedChunkAssembler(
                                        ChunkSchema.of(Column.of("name", ColumnType.STRING))))
                .withMessageContaining("variable-width");
    }
}
