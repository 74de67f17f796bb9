// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.readInPieces;
import static io.github.gpujoin.formats.testing.FormatRows.split;
import static io.github.gpujoin.formats.testing.FormatRows.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CsvTest {

    private static final int ROWS = 30_000;

    private static final TextColumn[] COLUMNS = {
        TextColumn.of("id", TextType.INT64),
        TextColumn.of("tiny", TextType.INT8),
        TextColumn.of("small", TextType.INT16),
        TextColumn.of("flag", TextType.BOOLEAN),
        TextColumn.of("real_value", TextType.FLOAT32),
        TextColumn.of("double_value", TextType.FLOAT64),
        TextColumn.of("day", TextType.DATE),
        TextColumn.of("at_time", TextType.TIMESTAMP),
        TextColumn.decimal("amount", 3),
        TextColumn.of("name", TextType.TEXT),
        TextColumn.of("big_n", TextType.INT64).asNullable(),
        TextColumn.of("text_n", TextType.TEXT).asNullable(),
    };

    private static final String TABLE =
            """
            CREATE TABLE t AS SELECT
              i * 1000003 % 30000 AS id,
              (i * 7919 % 251 - 125)::TINYINT AS tiny,
              (i % 30000 - 15000)::SMALLINT AS small,
              'skipped, "' || i AS skipped,
              i % 3 = 0 AS flag,
              (i / 7.0)::FLOAT AS real_value,
              CASE i % 3 WHEN 0 THEN i / 3.0 WHEN 1 THEN i * 1e200 ELSE i / 4.0 END::DOUBLE
                AS double_value,
              DATE '1968-01-01' + (i % 25000)::INTEGER AS day,
              TIMESTAMP '1969-12-01' + to_microseconds(i * 1234567891) AS at_time,
              (i * 1001 / 1000.0)::DECIMAL(15, 3) AS amount,
              CASE i % 4 WHEN 0 THEN 'plain ' || i WHEN 1 THEN 'a "quoted" ' || i
                WHEN 2 THEN ', ; | ' || i ELSE '' END AS name,
              CASE WHEN i % 5 > 0 THEN hash(i)::HUGEINT - (1::HUGEINT << 63) END::BIGINT AS big_n,
              CASE WHEN i % 7 > 2 THEN 'text' || repeat('é', i % 40) END AS text_n
            FROM range(ROWS) r(i)
            """
                    .replace("ROWS", String.valueOf(ROWS));

    @TempDir private Path directory;

    /** The array for fields without quotes grows with them. */
    @Test
    void shouldReadQuotedFieldsOfAnyLength() throws IOException {
        StringBuilder lines = new StringBuilder("id,text,number\n");
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int length = 1; length < 3_000; length += 61) {
            String text = String.valueOf((char) ('a' + length % 26)).repeat(length);
            String number = "0".repeat(length) + length;
            lines.append(
                    "%d,\"%s\",\"%s\"\n".formatted(length, text, number.substring(length / 2)));
            rows.add(Arrays.asList((long) length, text, (long) length));
        }
        Path file = Files.writeString(directory.resolve("quoted.csv"), lines);
        TextFormat format =
                TextFormat.csv(
                        TextColumn.of("id", TextType.INT64),
                        TextColumn.of("text", TextType.TEXT),
                        TextColumn.of("number", TextType.INT64));
        assertThat(read(format, file)).isEqualTo(rows);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '!',
            value = {
                "HEADER, FORCE_QUOTE (name) ! ,",
                "HEADER, DELIMITER ';', FORCE_QUOTE * ! ;",
                "HEADER, DELIMITER '|', FORCE_QUOTE (name, id, amount) ! |",
            })
    void shouldReadWhatDuckDbWrote(String options, char delimiter) throws Exception {
        Path file = directory.resolve("t.csv");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(TABLE);
            sql.execute("COPY t TO '" + file + "' (FORMAT CSV, " + options + ")");
            TextFormat format = TextFormat.csv(COLUMNS).delimiter(delimiter);
            if (options.contains("*")) {
                // DuckDB writes nulls in quotes then.
                format = format.select("id", "tiny", "flag", "amount", "name", "real_value");
            }
            List<List<@Nullable Object>> rows = read(format, file);
            List<List<@Nullable Object>> pieces =
                    readInPieces(format.chunkBytes(40_000), file, new Random(3));
            assertThat(pieces).isEqualTo(rows);
            String columns = String.join(", ", names(format));
            assertThat(rows).isEqualTo(expected(sql, columns));
        }
    }

    private static List<String> names(TextFormat format) {
        return format.schema().columns().stream().map(column -> column.name()).toList();
    }

    private static List<List<@Nullable Object>> expected(Statement sql, String columns)
            throws Exception {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        String values =
                columns.replace("flag", "flag::TINYINT")
                        .replace("day", "day - DATE '1970-01-01'")
                        .replace("at_time", "epoch_us(at_time)")
                        .replace("amount", "(amount * 1000)::BIGINT");
        try (ResultSet result = sql.executeQuery("SELECT " + values + " FROM t")) {
            int count = result.getMetaData().getColumnCount();
            while (result.next()) {
                List<@Nullable Object> row = new ArrayList<>();
                for (int i = 1; i <= count; i++) {
                    Object value = result.getObject(i);
                    boolean isInteger =
                            value instanceof Number
                                    && !(value instanceof Float || value instanceof Double);
                    row.add(
                            isInteger
                                    ? (Object) ((Number) value).longValue()
                                    : value instanceof Float real ? (double) real : value);
                }
                rows.add(row);
            }
        }
        return rows;
    }

    private static final TextFormat PAIRS =
            TextFormat.csv(
                    TextColumn.of("b", TextType.TEXT).asNullable(),
                    TextColumn.of("a", TextType.INT32));

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("f.csv"), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n"})
    void shouldFindColumnsByTheHeaderWhereverTheFileIsSplit(String end) throws IOException {
        String text = "\uFEFFx,\"a\",b\n,1,one\n\n\"a\"\"x,\",2,\"t\"\"w,o\"\n,3,\"\"\nz,4,";
        Path file = file(text.replace("\n", end));
        List<List<Object>> expected =
                Arrays.asList(
                        Arrays.asList("one", 1L),
                        Arrays.asList("t\"w,o", 2L),
                        Arrays.asList("", 3L),
                        Arrays.asList(null, 4L));
        long size = Files.size(file);
        for (long cut = 0; cut <= size; cut++) {
            List<List<Object>> rows = new ArrayList<>();
            rows.addAll(read(PAIRS, split(file, 0, cut), ColumnarPosition.START));
            rows.addAll(read(PAIRS, split(file, cut, size - cut), ColumnarPosition.START));
            assertThat(rows).as("cut at %s", cut).isEqualTo(expected);
        }
    }

    @Test
    void shouldSkipAByteOrderMarkWithoutAHeaderWhereverTheFileIsSplit() throws IOException {
        TextFormat format = PAIRS.withoutHeader();
        Path file = file("\uFEFFone,1\nt,2\n");
        long size = Files.size(file);
        for (long cut = 0; cut <= size; cut++) {
            List<List<Object>> rows = new ArrayList<>();
            rows.addAll(read(format, split(file, 0, cut), ColumnarPosition.START));
            rows.addAll(read(format, split(file, cut, size - cut), ColumnarPosition.START));
            assertThat(rows)
                    .as("cut at %s", cut)
                    .isEqualTo(List.of(List.of("one", 1L), List.of("t", 2L)));
        }
        assertThat(read(format, file(""))).isEmpty();
        assertThat(read(format, file("x,3"))).isEqualTo(List.of(List.of("x", 3L)));
    }

    @Test
    void shouldSkipMoreEmptyLinesThanAScanHasMarksFor() throws IOException {
        StringBuilder text = new StringBuilder("b,a\none,1\n").append("\n".repeat(5_000));
        List<List<Object>> expected = new ArrayList<>(List.of(List.of("one", 1L)));
        for (long i = 0; i < 1_000; i++) {
            text.append("x,").append(i).append("\n".repeat(1 + (int) i % 9));
            expected.add(List.of("x", i));
        }
        assertThat(read(PAIRS, file(text.toString()))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadSplitsThatEndInEmptyLines(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 20; i++) {
            StringBuilder text = new StringBuilder("b,a\n");
            List<List<Object>> expected = new ArrayList<>();
            for (long row = random.nextInt(6); row > 0; row--) {
                text.append("\"x\",").append(row);
                for (int ends = 1 + random.nextInt(6); ends > 0; ends--) {
                    text.append(random.nextBoolean() ? "\r\n" : "\n");
                }
                expected.add(List.of("x", row));
            }
            Path file = file(text + (random.nextBoolean() ? "y,7" : ""));
            if (Files.size(file) > text.length()) {
                expected.add(List.of("y", 7L));
            }
            long size = Files.size(file);
            for (long first = 0; first <= size; first++) {
                long second = first + random.nextLong(size - first + 1);
                List<List<Object>> rows = new ArrayList<>();
                rows.addAll(read(PAIRS, split(file, 0, first), ColumnarPosition.START));
                rows.addAll(
                        read(PAIRS, split(file, first, second - first), ColumnarPosition.START));
                rows.addAll(
                        read(PAIRS, split(file, second, size - second), ColumnarPosition.START));
                assertThat(rows).as("%s at %s, %s", text, first, second).isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldReadLineBreaksInsideQuotesIfTheFormatAllowsThem() throws IOException {
        Path file = file("a,\"b\nc\",b\n1,\"x\ny\",\"two\nlines\"\n2,z,\"\n\"\n");
        assertThat(PAIRS.isSplittable()).isTrue();
        assertThat(PAIRS.quotedLineBreaks().isSplittable()).isFalse();
        assertThat(readInPieces(PAIRS.quotedLineBreaks().chunkBytes(1), file, new Random(1)))
                .containsExactly(List.of("two\nlines", 1L), List.of("\n", 2L));
    }

    @Test
    void shouldReadFilesWithoutAHeader() throws IOException {
        Path file = file("one,1\n\n\"\",2\n");
        assertThat(read(PAIRS.withoutHeader(), file))
                .containsExactly(List.of("one", 1L), List.of("", 2L));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            quoteCharacter = '\u0060',
            value = {
                "x,1 ! Header lacks a column: column=b, columns=[a, x]",
                "\"one,1 ! line=3, expected a closing quote before the end of the line",
                "\"one\"x,1 ! line=3, column=b, expected text, found '\"one\"x'",
                "one ! line=3, expected 2 columns, found 1",
                "one,1,2 ! line=3, expected the end of the line after 2 columns",
                "one,\"1 ! line=3, expected a closing quote before the end of the line",
            })
    void shouldNameFileAndLineOfMalformedCsv(String line, String problem) throws IOException {
        boolean isHeader = problem.startsWith("Header");
        Path file = file((isHeader ? "a,x\n1,2\n" : "b,a\n0,0\n") + line + "\n2,2\n");
        assertThatThrownBy(() -> read(PAIRS, file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(problem)
                .hasMessageContaining("f.csv");
    }

    @Test
    void shouldRejectAFileThatEndsInsideQuotes() throws IOException {
        Path file = file("b,a\n\"one,1\n");
        assertThatThrownBy(() -> read(PAIRS.quotedLineBreaks(), file))
                .isInstanceOf(MalformedLineException.class)
                .hasMessageContaining(
                        "line=2, expected a closing quote before the end of the file");
    }

    @Test
    void shouldReadNoRowsFromAFileOfNoBytesThoughFilesHaveAHeader() throws IOException {
        assertThat(read(PAIRS, file(""))).isEmpty();
        assertThat(read(PAIRS.withoutHeader(), file(""))).isEmpty();
    }

    @Test
    void shouldRejectAFileThatChangedAtTheOffsetOfACheckpoint() throws IOException {
        Path file = file("b,a\none,1\ntwo,2\n\nthree,3");
        TextFormat format = PAIRS.chunkBytes(1);
        List<ColumnarPosition> positions = new ArrayList<>();
        try (ColumnarReader reader = format.open(whole(file), ColumnarPosition.START)) {
            do {
                positions.add(reader.position());
            } while (reader.read() != null);
        }
        for (int i = 0; i < positions.size(); i++) {
            assertThat(read(format, whole(file), positions.get(i))).hasSize(3 - i);
        }
        file("b,a\noneXY,1\ntwo,2\nthree,3");
        for (ColumnarPosition position : positions.subList(1, 3)) {
            assertThatThrownBy(() -> read(format, whole(file), position))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "File has changed since the checkpoint: no line starts at offset="
                                    + position.offset())
                    .hasMessageContaining("f.csv");
        }
    }
}
