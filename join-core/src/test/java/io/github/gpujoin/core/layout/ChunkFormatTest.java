// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rejects bytes that are not a chunk. */
class ChunkFormatTest {

    private static final int ROWS = 7;

    static IntStream schemas() {
        return IntStream.range(0, ChunkSamples.SCHEMAS.size());
    }

    private static void assertRefused(ChunkSchema schema, byte[] bytes, String message) {
        assertThatExceptionOfType(ChunkFormatException.class)
                .isThrownBy(() -> Chunk.wrap(schema, bytes))
                .withMessageContaining(message);
    }

    @ParameterizedTest(name = "schema {0}")
    @MethodSource("schemas")
    void shouldDetectEveryFlippedBit(int index) {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(index);
        byte[] bytes = ChunkSamples.chunk(index, ROWS).bytes();
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            bytes[bit / 8] ^= (byte) (1 << bit % 8);
            assertThat(ChunkSamples.assertReadsInBoundsOrIsRefused(schema, bytes))
                    .as("bit %s", bit)
                    .isFalse();
            bytes[bit / 8] ^= (byte) (1 << bit % 8);
        }
        assertThat(ChunkSamples.assertReadsInBoundsOrIsRefused(schema, bytes)).isTrue();
    }

    static Stream<Arguments> wrongFields() {
        return Stream.of(
                wrong("Bytes are not a chunk, which starts with GJC1: magic=1", 0, 1),
                wrong(
                        "Chunk version is unknown; this release reads 1 and 2: version=3",
                        4,
                        64 << 16 | 3),
                wrong("Chunk of version 2 has unknown flags: flags=0", 4, 64 << 16 | 2),
                wrong("Chunk header does not have 64 bytes: headerLength=72", 4, 72 << 16 | 1),
                wrong("Chunk length differs from the number of bytes: lengthBytes=0", 8, 0),
                wrong("Chunk length differs from the number of bytes: lengthBytes=-8", 8, -8),
                wrong("Chunk has a negative row count: rowCount=-1", 12, -1),
                wrong("Columns do not fill the chunk: rowCount=100", 12, 100),
                wrong("Chunk exceeds 2 GiB", 12, Integer.MAX_VALUE),
                wrong("Chunk was written with another schema", 16, 5),
                wrong("Chunk has a negative dimension number: dimension=-2", 20, 0xFFFE),
                wrong("Chunk of version 1 has flags: flags=1", 20, 1 << 16),
                wrong("Chunk has a negative partition number: partition=-2", 24, -2),
                wrong(
                        "Chunk has a variable-width section, but its schema has no such column:"
                                + " variableWidthOffset=64",
                        28,
                        64),
                wrong("Reserved word of the chunk header is not zero: reserved=9", 56, 9));
    }

    @Test
    void shouldMarkChunksOfManyPartitions() {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(0);
        ChunkBuilder builder = new ChunkBuilder(schema, 1 << 10);
        builder.putLong(0, 5);
        builder.endRow();
        Chunk many = Chunk.wrap(schema, builder.sealMany(3, 70, 1, 2).bytes());
        assertThat(many.hasManyPartitions()).isTrue();
        assertThat(many.partition()).isEqualTo(70);
        assertThat(many.dimension()).isEqualTo(3);
        assertThat(many.getLong(0, 0)).isEqualTo(5);
        assertThat(ChunkSamples.chunk(0, ROWS).hasManyPartitions()).isFalse();
        assertThatThrownBy(() -> builder.sealMany(3, ChunkDescriptor.UNPARTITIONED, 1, 2))
                .hasMessage("Chunk of many partitions names none of its receiver: partition=-1");
    }

    private static Arguments wrong(String message, int offset, int value) {
        return Arguments.of(message, offset, value);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongFields")
    void shouldReportTheWrongFieldDespiteAValidChecksum(String message, int offset, int value) {
        byte[] bytes = ChunkSamples.chunk(1, ROWS).bytes();
        ChunkSamples.putInt(bytes, offset, value);
        ChunkSamples.sealAgain(bytes);
        assertRefused(ChunkSamples.SCHEMAS.get(1), bytes, message);
    }

    @Test
    void shouldReportADifferentSchema() {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(0);
        assertRefused(schema, ChunkSamples.chunk(1, ROWS).bytes(), "schema=" + schema);
    }

    @ParameterizedTest(name = "schema {0}")
    @MethodSource("schemas")
    void shouldRejectAnArrayOfAnotherLength(int index) {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(index);
        byte[] bytes = ChunkSamples.chunk(index, ROWS).bytes();
        for (int length = 0; length < bytes.length + 80; length++) {
            byte[] other = Arrays.copyOf(bytes, length);
            if (length != bytes.length) {
                assertThat(ChunkSamples.assertReadsInBoundsOrIsRefused(schema, other))
                        .as("length %s", length)
                        .isFalse();
            }
            if (length != bytes.length && length >= 64) {
                ChunkSamples.putInt(other, ChunkDescriptor.LENGTH_OFFSET, length);
                ChunkSamples.sealAgain(other);
                assertThat(ChunkSamples.assertReadsInBoundsOrIsRefused(schema, other))
                        .as("length %s, and the header says so", length)
                        .isFalse();
            }
        }
        assertRefused(schema, new byte[0], "Chunk is shorter than its header: length=0");
        assertRefused(schema, new byte[68], "Chunk length is not a multiple of 8: length=68");
    }

    /**
     * Cases of two rows (text, nullable number): damage to their variable-width values, message.
     */
    static Stream<Arguments> wrongVariableWidthBytes() {
        return Stream.of(
                variableWidth("room=24", bytes -> ends(bytes, 15, 1000)),
                variableWidth("row=0, end=-1", bytes -> ends(bytes, -1, 24)),
                variableWidth(
                        "row=0, end=-2147483648", bytes -> ends(bytes, Integer.MIN_VALUE, 24)),
                variableWidth("row=1, end=2147483647", bytes -> ends(bytes, 15, Integer.MAX_VALUE)),
                variableWidth("row=1, room=-5", bytes -> ends(bytes, 15, 10)),
                variableWidth("row=0, end=16", bytes -> ends(bytes, 16, 24)),
                variableWidth("row=0, room=6, valueLength=3", bytes -> ends(bytes, 6, 24)),
                variableWidth("valueLength=-2", bytes -> value(bytes, 0, -2)),
                variableWidth(
                        "valueLength=2147483647", bytes -> value(bytes, 0, Integer.MAX_VALUE)),
                variableWidth("valueLength=8", bytes -> value(bytes, 7, 8)),
                variableWidth("valueLength=3", bytes -> value(bytes, 7, 3)),
                variableWidth("row=0, end=15", bytes -> value(bytes, 7, -1)),
                variableWidth("row=0, room=15, valueLength=24", bytes -> rows(bytes, 1)),
                variableWidth(
                        "Index of variable-width values ends outside the chunk",
                        bytes -> rows(bytes, 16)),
                variableWidth(
                        "Variable-width section of the chunk does not follow its columns:"
                                + " variableWidthOffset=0",
                        b -> offset(b, 0)),
                variableWidth(
                        "Variable-width section of the chunk does not follow its columns:"
                                + " variableWidthOffset=-4",
                        b -> offset(b, -4)));
    }

    private static final ChunkSchema VARIABLE_WIDTH =
            ChunkSchema.of(
                    Column.of("text", ColumnType.STRING),
                    Column.nullable("number", ColumnType.INT32));
    private static final int ENDS = 64;
    private static final int DATA = ENDS + 2 * 4;

    private static Arguments variableWidth(String message, Consumer<byte[]> damage) {
        return Arguments.of(message, damage);
    }

    private static void ends(byte[] bytes, int first, int second) {
        ChunkSamples.putInt(bytes, ENDS, first);
        ChunkSamples.putInt(bytes, ENDS + 4, second);
    }

    private static void value(byte[] bytes, int offset, int length) {
        ChunkSamples.putInt(bytes, DATA + offset, length);
    }

    private static void rows(byte[] bytes, int rows) {
        ChunkSamples.putInt(bytes, ChunkDescriptor.ROW_COUNT_OFFSET, rows);
    }

    private static void offset(byte[] bytes, int offset) {
        ChunkSamples.putInt(bytes, ChunkDescriptor.VARIABLE_WIDTH_OFFSET, offset);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongVariableWidthBytes")
    void shouldRejectInconsistentVariableWidthSections(String message, Consumer<byte[]> damage) {
        byte[] bytes =
                TestChunks.of(VARIABLE_WIDTH, new Object[] {"abc", 5}, new Object[] {"d", null})
                        .bytes();
        assertThat(bytes).as("15 and 9 variable-width bytes").hasSize(DATA + 24);
        damage.accept(bytes);
        ChunkSamples.sealAgain(bytes);
        assertRefused(VARIABLE_WIDTH, bytes, message);
    }

    static IntStream seeds() {
        return IntStream.range(0, 20);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldSurviveAnyDamageUnderARightChecksum(int seed) {
        Random random = new Random(seed);
        int index = seed % ChunkSamples.SCHEMAS.size();
        byte[] whole = ChunkSamples.chunk(index, ROWS).bytes();
        int refused = 0;
        for (int i = 0; i < 3_000; i++) {
            byte[] bytes = whole.clone();
            for (int words = 1 + random.nextInt(3); words > 0; words--) {
                int offset = 8 + 4 * random.nextInt(bytes.length / 4 - 2);
                int value = random.nextBoolean() ? random.nextInt(64) - 8 : random.nextInt();
                ChunkSamples.putInt(bytes, offset, value);
            }
            ChunkSamples.sealAgain(bytes);
            boolean read =
                    ChunkSamples.assertReadsInBoundsOrIsRefused(
                            ChunkSamples.SCHEMAS.get(index), bytes);
            refused += read ? 0 : 1;
        }
        assertThat(refused).as("damage must reach the checks").isPositive();
    }
}
