// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads back what was written to a chunk. */
class ChunkRoundTripTest {

    private static final ChunkSchema ALL =
            ChunkSchema.of(
                    Column.of("i", ColumnType.INT32),
                    Column.of("s", ColumnType.STRING),
                    Column.of("l", ColumnType.INT64),
                    Column.nullable("ni", ColumnType.INT32),
                    Column.of("f", ColumnType.FLOAT32),
                    Column.nullable("nd", ColumnType.FLOAT64),
                    Column.of("d", ColumnType.FLOAT64),
                    Column.nullable("b", ColumnType.BYTES));

    static Stream<Arguments> shapes() {
        return IntStream.range(0, ChunkSamples.SCHEMAS.size())
                .boxed()
                .flatMap(
                        schema ->
                                Stream.of(0, 1, 2, 15, 16, 17, 500)
                                        .map(rows -> Arguments.of(schema, rows)));
    }

    @ParameterizedTest(name = "schema {0}, {1} rows")
    @MethodSource("shapes")
    void shouldReadBackEveryValue(int index, int rowCount) {
        ChunkSchema schema = ChunkSamples.SCHEMAS.get(index);
        List<Object[]> rows = ChunkSamples.randomRows(schema, rowCount, new Random(rowCount));
        Chunk sealed = TestChunks.of(schema, 3, rows);
        assertThat(sealed.lengthBytes()).isEqualTo(sealed.bytes().length);
        assertThat(sealed.lengthBytes() % 8).isZero();
        for (Chunk chunk : List.of(sealed, Chunk.wrap(schema, sealed.bytes().clone()))) {
            assertThat(chunk.rowCount()).isEqualTo(rowCount);
            ChunkCursor cursor = new ChunkCursor(schema);
            for (int row = 0; row < rowCount; row++) {
                assertThat(ChunkSamples.values(cursor.at(chunk, row)))
                        .as("row %s", row)
                        .isEqualTo(rows.get(row));
            }
        }
    }

    @Test
    void shouldReadBackTheHeader() {
        ChunkBuilder builder = new ChunkBuilder(ChunkSamples.SCHEMAS.get(0), 100);
        Chunk facts = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, -1, 2);
        assertThat(facts.dimension()).isEqualTo(ChunkDescriptor.FACTS);
        assertThat(facts.partition()).isEqualTo(ChunkDescriptor.UNPARTITIONED);
        assertThat(facts.epoch()).isEqualTo(-1);
        Chunk chunk =
                builder.seal(Short.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE);
        assertThat(chunk.dimension()).isEqualTo(Short.MAX_VALUE);
        assertThat(chunk.partition()).isEqualTo(Integer.MAX_VALUE);
        assertThat(chunk.epoch()).isEqualTo(Long.MAX_VALUE);
        assertThat(chunk.sequence()).isEqualTo(Long.MIN_VALUE);
        assertThat(chunk)
                .hasToString(
                        "Chunk[rows=0, lengthBytes=64, dimension=32767, partition=2147483647,"
                                + " sequence=-9223372036854775808]");
    }

    private static Chunk extremes() {
        return TestChunks.of(
                ALL,
                new Object[] {
                    Integer.MIN_VALUE,
                    "",
                    Long.MIN_VALUE,
                    Integer.MAX_VALUE,
                    Float.MIN_VALUE,
                    Double.NEGATIVE_INFINITY,
                    -0.0,
                    new byte[0]
                },
                new Object[] {-1, "ü€𝄞", Long.MAX_VALUE, null, Float.NaN, null, Double.NaN, null});
    }

    @Test
    void shouldDistinguishExtremesEmptyValuesAndNulls() {
        ChunkCursor cursor = new ChunkCursor(ALL).at(extremes(), 0);
        assertThat(ChunkSamples.values(cursor))
                .containsExactly(
                        Integer.MIN_VALUE,
                        "",
                        Long.MIN_VALUE,
                        Integer.MAX_VALUE,
                        Float.MIN_VALUE,
                        Double.NEGATIVE_INFINITY,
                        -0.0,
                        new byte[0]);
        cursor.at(extremes(), 1);
        assertThat(ChunkSamples.values(cursor))
                .containsExactly(
                        -1, "ü€𝄞", Long.MAX_VALUE, null, Float.NaN, null, Double.NaN, null);
        assertThat(cursor.getBytes("b")).isNull();
    }

    @Test
    void shouldReadColumnsByName() {
        ChunkCursor cursor = new ChunkCursor(ALL).at(extremes(), 0);
        assertThat(cursor.getInt("i")).isEqualTo(Integer.MIN_VALUE);
        assertThat(cursor.getLong("l")).isEqualTo(Long.MIN_VALUE);
        assertThat(cursor.getLong("ni")).isEqualTo(Integer.MAX_VALUE);
        assertThat(cursor.getDouble("f")).isEqualTo(Float.MIN_VALUE);
        assertThat(cursor.getDouble("nd")).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(cursor.getString("s")).isEmpty();
        assertThat(cursor.getBytes("b")).isEmpty();
        assertThat(cursor.isNull("nd")).isFalse();
        assertThat(cursor.at(extremes(), 1).isNull("nd")).isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cursor.getInt("x"))
                .withMessage("Unknown column: name=x, columns=[i, s, l, ni, f, nd, d, b]");
    }

    @Test
    void shouldRejectReadingAColumnAsAnotherType() {
        ChunkCursor cursor = new ChunkCursor(ALL).at(extremes(), 0);
        for (Runnable read :
                List.<Runnable>of(
                        () -> cursor.getInt("l"),
                        () -> cursor.getInt("f"),
                        () -> cursor.getInt("nd"),
                        () -> cursor.getLong("d"),
                        () -> cursor.getLong("s"),
                        () -> cursor.getDouble("i"),
                        () -> cursor.getDouble("ni"),
                        () -> cursor.getString("b"),
                        () -> cursor.getString("i"),
                        () -> cursor.getBytes("s"),
                        () -> cursor.isText(ALL.require("b"), new byte[0]),
                        () -> extremes().getInt(3, 0),
                        () -> extremes().getLong(3, 0),
                        () -> extremes().getDouble(5, 0))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(read::run)
                    .withMessageContaining("Column is read as another type");
        }
    }

    @Test
    void shouldCompareTextWithBytes() {
        ChunkCursor cursor = new ChunkCursor(ALL).at(extremes(), 1);
        int text = ALL.require("s");
        assertThat(cursor.isText(text, "ü€𝄞".getBytes(UTF_8))).isTrue();
        assertThat(cursor.isText(text, "ü€𝄟".getBytes(UTF_8))).isFalse();
        assertThat(cursor.isText(text, "ü€".getBytes(UTF_8))).isFalse();
        assertThat(cursor.at(extremes(), 0).isText(text, new byte[0])).isTrue();
        ChunkSchema nullable = ChunkSchema.of(Column.nullable("t", ColumnType.STRING));
        ChunkBuilder builder = new ChunkBuilder(nullable, 256);
        builder.addNull();
        builder.endRow();
        cursor = new ChunkCursor(nullable).at(builder.seal(0, 0, 0, 0), 0);
        assertThat(cursor.isText(0, new byte[0])).isFalse();
    }

    @Test
    void shouldRejectReadingTheValueOfANull() {
        ChunkCursor cursor = new ChunkCursor(ALL).at(extremes(), 1);
        assertThatIllegalStateException()
                .isThrownBy(() -> cursor.getInt("ni"))
                .withMessageContaining("Null value is read as a number. Call isNull() first");
        assertThatIllegalStateException().isThrownBy(() -> cursor.getDouble("nd"));
    }

    @Test
    void shouldRejectRowsOutsideTheChunk() {
        Chunk chunk = extremes();
        ChunkCursor cursor = new ChunkCursor(ALL);
        for (int row : new int[] {-1, 2, Integer.MIN_VALUE}) {
            for (Runnable read :
                    List.<Runnable>of(
                            () -> chunk.getInt(0, row),
                            () -> chunk.variableWidthStart(row),
                            () -> chunk.variableWidthEnd(row),
                            () -> cursor.at(chunk, row).getLong("l"),
                            () -> cursor.at(chunk, row).getString("s"))) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(read::run)
                        .withMessage("row=" + row + ", rowCount=2");
            }
        }
    }

    @Test
    void shouldRejectVariableWidthReadsOfASchemaWithoutThem() {
        Chunk chunk = ChunkSamples.chunk(0, 3);
        assertThatIllegalArgumentException().isThrownBy(() -> chunk.variableWidthStart(1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> chunk.variableWidthEnd(2))
                .withMessageContaining("schema=(key INT64)");
    }

    @Test
    void shouldRejectACursorOnChunksOfAnotherSchema() {
        ChunkCursor cursor = new ChunkCursor(ChunkSamples.SCHEMAS.get(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> cursor.at(extremes(), 0))
                .withMessageContaining("expected=(key INT64), schema=" + ALL);
    }

    @Test
    void shouldReplaceAColumnInACopyAndLeaveTheRest() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64),
                        Column.of("kind", ColumnType.INT32),
                        Column.nullable("text", ColumnType.STRING));
        Chunk chunk = TestChunks.of(schema, new Object[][] {{1L, 5, "a"}, {2L, 6, null}});
        byte[] before = chunk.bytes().clone();
        Chunk copy = chunk.withLongs(0, row -> 10 - chunk.getLong(0, row));
        assertThat(chunk.bytes()).isEqualTo(before);
        assertThat(Chunk.wrap(schema, copy.bytes()))
                .isEqualTo(TestChunks.of(schema, new Object[][] {{9L, 5, "a"}, {8L, 6, null}}));
        assertThatIllegalArgumentException().isThrownBy(() -> chunk.withLongs(1, row -> 0));
    }
}
