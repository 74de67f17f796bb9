package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that are no chunk are told from a chunk, whatever happened to them. */
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
                wrong("a chunk starts with GJC1: magic=1", 0, 1),
                wrong("this release reads versions 1 and 2: version=3", 4, 64 << 16 | 3),
                wrong("version 2 has one flag: flags=0", 4, 64 << 16 | 2),
                wrong("the header has 64 bytes: headerLength=72", 4, 72 << 16 | 1),
                wrong("the length is the array's: lengthBytes=0", 8, 0),
                wrong("the length is the array's: lengthBytes=-8", 8, -8),
                wrong("rows are counted from 0: rowCount=-1", 12, -1),
                wrong("the columns fill the chunk: rowCount=100", 12, 100),
                wrong("a chunk ends before 2 GiB", 12, Integer.MAX_VALUE),
                wrong("read under the schema it was written under", 16, 5),
                wrong("dimensions count from 0: dimension=-2", 20, 0xFFFE),
                wrong("version 1 has no flags: flags=1", 20, 1 << 16),
                wrong("partitions count from 0: partition=-2", 24, -2),
                wrong("no column is carried: carriedOffset=64", 28, 64),
                wrong("the reserved word is zero: reserved=9", 56, 9));
    }

    @Test
    void shouldTellChunksOfManyPartitionsFromOthers() {
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
                .hasMessage("a receiver has partitions: partition=-1");
    }

    private static Arguments wrong(String message, int offset, int value) {
        return Arguments.of(message, offset, value);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongFields")
    void shouldNameTheFieldThatIsWrongEvenUnderARightChecksum(
            String message, int offset, int value) {
        byte[] bytes = ChunkSamples.chunk(1, ROWS).bytes();
        ChunkSamples.putInt(bytes, offset, value);
        ChunkSamples.sealAgain(bytes);
        assertRefused(ChunkSamples.SCHEMAS.get(1), bytes, message);
    }

    @Test
    void shouldNameTheSchemaThatDoesNotFit() {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(0);
        assertRefused(schema, ChunkSamples.chunk(1, ROWS).bytes(), "schema=" + schema);
    }

    @ParameterizedTest(name = "schema {0}")
    @MethodSource("schemas")
    void shouldRefuseAnArrayOfAnotherLength(int index) {
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
        assertRefused(schema, new byte[0], "a chunk has a header: length=0");
        assertRefused(schema, new byte[68], "a chunk is whole words: length=68");
    }

    /** Two rows of (text, number or null); what is done to their carried bytes; the message. */
    static Stream<Arguments> wrongCarriedBytes() {
        return Stream.of(
                carried("room=24", bytes -> ends(bytes, 15, 1000)),
                carried("row=0, end=-1", bytes -> ends(bytes, -1, 24)),
                carried("row=0, end=-2147483648", bytes -> ends(bytes, Integer.MIN_VALUE, 24)),
                carried("row=1, end=2147483647", bytes -> ends(bytes, 15, Integer.MAX_VALUE)),
                carried("row=1, room=-5", bytes -> ends(bytes, 15, 10)),
                carried("row=0, end=16", bytes -> ends(bytes, 16, 24)),
                carried("row=0, room=6, valueLength=3", bytes -> ends(bytes, 6, 24)),
                carried("valueLength=-2", bytes -> value(bytes, 0, -2)),
                carried("valueLength=2147483647", bytes -> value(bytes, 0, Integer.MAX_VALUE)),
                carried("valueLength=8", bytes -> value(bytes, 7, 8)),
                carried("valueLength=3", bytes -> value(bytes, 7, 3)),
                carried("row=0, end=15", bytes -> value(bytes, 7, -1)),
                carried("row=0, room=15, valueLength=24", bytes -> rows(bytes, 1)),
                carried("the carried index lies in the chunk", bytes -> rows(bytes, 16)),
                carried("carried bytes follow the columns: carriedOffset=0", b -> offset(b, 0)),
                carried("carried bytes follow the columns: carriedOffset=-4", b -> offset(b, -4)));
    }

    private static final ChunkSchema CARRIED =
            ChunkSchema.of(
                    Column.of("text", ColumnType.STRING),
                    Column.nullable("number", ColumnType.INT32));
    private static final int ENDS = 64;
    private static final int DATA = ENDS + 2 * 4;

    private static Arguments carried(String message, Consumer<byte[]> damage) {
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
        ChunkSamples.putInt(bytes, ChunkDescriptor.CARRIED_OFFSET, offset);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("wrongCarriedBytes")
    void shouldRefuseCarriedBytesThatDoNotAddUp(String message, Consumer<byte[]> damage) {
        byte[] bytes =
                TestChunks.of(CARRIED, new Object[] {"abc", 5}, new Object[] {"d", null}).bytes();
        assertThat(bytes).as("15 and 9 carried bytes").hasSize(DATA + 24);
        damage.accept(bytes);
        ChunkSamples.sealAgain(bytes);
        assertRefused(CARRIED, bytes, message);
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
