// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.split;
import static io.github.gpujoin.formats.testing.FormatRows.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextFormatTest {

    private static final TextFormat FORMAT =
            TextFormat.tbl(
                    TextColumn.of("key", TextType.INT64),
                    TextColumn.of("text", TextType.TEXT),
                    TextColumn.of("count", TextType.INT32),
                    TextColumn.decimal("price", 2),
                    TextColumn.of("day", TextType.DATE).asNullable());

    private static final List<String> LINES =
            List.of(
                    "1|plain|7|1.50|1992-01-31",
                    "-9223372036854775808|\"quoted\", with comma|-2147483648|-0.05|",
                    "9223372036854775807||2147483647|12|1998-12-01",
                    "42|\u00e9t\u00e9 \u6f22|0|0.1|2000-02-29");

    private static final List<List<Object>> ROWS =
            List.of(
                    Arrays.asList(1L, "plain", 7L, 150L, 8065L),
                    Arrays.asList(
                            Long.MIN_VALUE, "\"quoted\", with comma", -2147483648L, -5L, null),
                    Arrays.asList(Long.MAX_VALUE, "", 2147483647L, 1200L, 10561L),
                    Arrays.asList(42L, "\u00e9t\u00e9 \u6f22", 0L, 10L, 11016L));

    @TempDir private Path directory;

    @ParameterizedTest(name = "bar={0} end={1} lastEnd={2}")
    @CsvSource({
        "'',LF,true", "'',LF,false", "'',CRLF,true", "'',CRLF,false",
        "|,LF,true", "|,LF,false", "|,CRLF,true", "|,CRLF,false"
    })
    void shouldReadEachLineOnceWhereverTheFileIsSplit(String bar, String end, boolean lastEnd)
            throws IOException {
        Path file = write(bar, end.equals("LF") ? "\n" : "\r\n", lastEnd);
        long size = Files.size(file);
        for (long first = 0; first <= size; first++) {
            for (long second = first; second <= size; second += 7) {
                List<List<Object>> rows = new ArrayList<>();
                rows.addAll(read(FORMAT, split(file, 0, first), ColumnarPosition.START));
                rows.addAll(
                        read(FORMAT, split(file, first, second - first), ColumnarPosition.START));
                rows.addAll(
                        read(FORMAT, split(file, second, size - second), ColumnarPosition.START));
                assertThat(rows).as("splits at %s and %s", first, second).isEqualTo(ROWS);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 1 << 20})
    void shouldRestartExactlyAfterEachChunk(int chunkBytes) throws IOException {
        Path file = write("|", "\n", false);
        TextFormat format = FORMAT.chunkBytes(chunkBytes);
        int rows = 0;
        try (ColumnarReader reader = format.open(whole(file), ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                rows += chunk.rowCount();
                assertThat(read(format, whole(file), reader.position()))
                        .isEqualTo(ROWS.subList(rows, ROWS.size()));
            }
        }
        assertThat(rows).isEqualTo(ROWS.size());
    }

    @Test
    void shouldReadOnlyTheSelectedColumnsInTheOrderOfTheirNames() throws IOException {
        Path file = write("|", "\n", true);
        TextFormat format = FORMAT.select("count", "text");
        assertThat(format.schema().toString()).isEqualTo("(count INT32, text STRING)");
        assertThat(read(format, file).get(1))
                .containsExactly(-2147483648L, "\"quoted\", with comma");
    }

    @Test
    void shouldReadALineThatIsLongerThanABlock() throws IOException {
        String text = "x".repeat(3 << 20);
        Path file = Files.writeString(directory.resolve("long"), "5|" + text + "|1|2|\n");
        assertThat(read(FORMAT.chunkBytes(1), file))
                .containsExactly(Arrays.asList(5L, text, 1L, 200L, null));
    }

    @Test
    void shouldReadNothingFromAnEmptyFile() throws IOException {
        Path file = Files.createFile(directory.resolve("empty"));
        assertThat(read(FORMAT, file)).isEmpty();
    }

    @Test
    void shouldRejectAFileThatBecameShorter() throws IOException {
        Path file = write("|", "\n", true);
        long size = Files.size(file);
        ColumnarSplit split =
                new ColumnarSplit(
                        new org.apache.flink.core.fs.Path(file.toUri()), 0, size + 5, size + 5);
        assertThatThrownBy(() -> read(FORMAT, split, ColumnarPosition.START))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("File is shorter than when it was found: file=")
                .hasMessageContaining("bytes=" + size);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "1|a|2|3; expected 5 columns, found 4",
                "''; expected 5 columns, found 1",
                "1|a|2|3|1992-01-01||; expected the end of the line after 5 columns",
                "1|a|2|3|1992-01-01|x; expected the end of the line after 5 columns",
                "|||||||||||||||||||||||||||||||||||; expected the end of the line after 5 columns",
                "|a|2|3||; column=key, expected a 64-bit integer, found ''",
                "-|a|2|3||; column=key, expected a 64-bit integer, found '-'",
                "9223372036854775808|a|2|3||; column=key, expected a 64-bit integer",
                "-9223372036854775809|a|2|3||; column=key, expected a 64-bit integer",
                "99999999999999999999|a|2|3||; column=key, expected a 64-bit integer",
                "1|a|2147483648|3||; column=count, expected a 32-bit integer",
                "1|a|1e3|3||; column=count, expected a 32-bit integer, found '1e3'",
                "1|a|12345678:|3||; column=count, expected a 32-bit integer",
                "1|a|2|3.001||; column=price, expected a decimal with at most 2 digits",
                "1|a|2|.5||; column=price, expected a decimal with at most 2 digits",
                "1|a|2|1.-5||; column=price, expected a decimal with at most 2 digits",
                "1|a|2|3|1992-13-01|; column=day, expected a date written yyyy-mm-dd",
                "1|a|2|3|1993-02-29|; column=day, expected a date written yyyy-mm-dd",
                "1|a|2|3|19920101|; column=day, expected a date written yyyy-mm-dd",
            })
    void shouldNameFileLineAndExpectationOfAMalformedLine(String line, String problem)
            throws IOException {
        Path file = directory.resolve("bad.tbl");
        Files.writeString(file, "1|a|2|3||\n2|b|3|4||\n" + line + "\n4|c|5|6||\nx|||||\n");
        assertThatThrownBy(() -> read(FORMAT, file))
                .isInstanceOf(MalformedLineException.class)
                .hasMessageStartingWith("malformed line: file=" + file + ", line=3, ")
                .hasMessageContaining(problem);
        // The line's number is that in the file, whatever split it is read in.
        ColumnarSplit rest = split(file, 15, Files.size(file) - 15);
        assertThatThrownBy(() -> read(FORMAT, rest, ColumnarPosition.START))
                .hasMessageContaining(", line=3, ");
    }

    @Test
    void shouldNameTheFirstOfSeveralMalformedLines() throws IOException {
        Path file = directory.resolve("bad.tbl");
        Files.writeString(file, "1|a|2|3||\n1|a|2|x||\ny|a|2|3||\n1|2\n");
        assertThatThrownBy(() -> read(FORMAT, file))
                .hasMessageContaining("line=2, column=price, expected a decimal");
    }

    @Test
    void shouldRejectAColumnThatTheFormatDoesNotHave() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FORMAT.select("key", "colour"))
                .withMessage(
                        "Column is not in the format: column=colour, columns=[key, text, count,"
                                + " price, day]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FORMAT.delimiter('"'))
                .withMessageContaining("Delimiter is not ASCII");
        assertThatIllegalArgumentException()
                .isThrownBy(FORMAT::quotedLineBreaks)
                .withMessageContaining("Only CSV");
    }

    private Path write(String bar, String end, boolean lastEnd) throws IOException {
        String text = String.join(bar + end, LINES) + bar + (lastEnd ? end : "");
        return Files.writeString(directory.resolve("sample.tbl"), text, StandardCharsets.UTF_8);
    }
}
