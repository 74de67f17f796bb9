// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TblFormatTest {

    private static final TblTable TABLE =
            TblTable.of(
                    "sample",
                    TblColumn.of("key", TblType.INT64),
                    TblColumn.of("text", TblType.TEXT),
                    TblColumn.of("count", TblType.INT32),
                    TblColumn.of("price", TblType.HUNDREDTHS),
                    TblColumn.nullable("day", TblType.DATE));

    private static final List<String> LINES =
            List.of(
                    "1|plain|7|1.50|1992-01-31",
                    "-9223372036854775808|\"quoted\", with comma|-2147483648|-0.05|",
                    "9223372036854775807||2147483647|12|1998-12-01",
                    "42|\u00e9t\u00e9 \u6f22|0|0.1|2000-02-29");

    private static final List<String> ROWS =
            List.of(
                    "1 plain 7 150 19920131",
                    "-9223372036854775808 \"quoted\", with comma -2147483648 -5 null",
                    "9223372036854775807  2147483647 1200 19981201",
                    "42 \u00e9t\u00e9 \u6f22 0 10 20000229");

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
                List<String> rows = new ArrayList<>();
                rows.addAll(read(split(file, 0, first), 1 << 10));
                rows.addAll(read(split(file, first, second - first), 1 << 10));
                rows.addAll(read(split(file, second, size - second), 1 << 10));
                assertThat(rows).as("splits at %s and %s", first, second).isEqualTo(ROWS);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 1 << 20})
    void shouldRestartExactlyAfterEachChunk(int chunkBytes) throws IOException {
        Path file = write("|", "\n", false);
        TblFormat format = new TblFormat(TABLE, TABLE.projectAll(), chunkBytes);
        FileSourceSplit split = split(file, 0, Files.size(file));
        List<CheckpointedPosition> positions = new ArrayList<>();
        List<Integer> rowsBefore = new ArrayList<>();
        try (BulkFormat.Reader<Chunk> reader = format.createReader(new Configuration(), split)) {
            int rows = 0;
            for (RecordAndPosition<Chunk> next = next(reader); next != null; next = next(reader)) {
                rows += next.getRecord().rowCount();
                rowsBefore.add(rows);
                positions.add(
                        new CheckpointedPosition(next.getOffset(), next.getRecordSkipCount()));
            }
        }
        assertThat(rowsBefore).endsWith(ROWS.size());
        for (int i = 0; i < positions.size(); i++) {
            FileSourceSplit restored = split.updateWithCheckpointedPosition(positions.get(i));
            try (BulkFormat.Reader<Chunk> reader =
                    format.restoreReader(new Configuration(), restored)) {
                assertThat(drain(reader)).isEqualTo(ROWS.subList(rowsBefore.get(i), ROWS.size()));
            }
        }
    }

    @Test
    void shouldReadOnlyTheProjectedColumnsInTheOrderOfTheFile() throws IOException {
        Path file = write("|", "\n", true);
        ChunkSchema schema = TABLE.project("count", "text");
        TblFormat format = new TblFormat(TABLE, schema);
        try (BulkFormat.Reader<Chunk> reader =
                format.createReader(new Configuration(), split(file, 0, Files.size(file)))) {
            assertThat(schema.toString()).isEqualTo("(text STRING, count INT32)");
            assertThat(drain(reader))
                    .containsExactly(
                            "plain 7",
                            "\"quoted\", with comma -2147483648",
                            " 2147483647",
                            "\u00e9t\u00e9 \u6f22 0");
        }
    }

    @Test
    void shouldReadALineThatIsLongerThanABlock() throws IOException {
        String text = "x".repeat(3 << 20);
        Path file = Files.writeString(directory.resolve("long"), "5|" + text + "|1|2|\n");
        assertThat(read(split(file, 0, Files.size(file)), 1))
                .containsExactly("5 " + text + " 1 200 null");
    }

    @Test
    void shouldReadNothingFromAnEmptyFile() throws IOException {
        Path file = Files.createFile(directory.resolve("empty"));
        assertThat(read(split(file, 0, 0), 1)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "1|a|2|3; expected 5 columns of table sample, found 4",
                "''; expected 5 columns of table sample, found 1",
                "1|a|2|3|1992-01-01||; expected the end of the line after 5 columns",
                "1|a|2|3|1992-01-01|x; expected the end of the line after 5 columns",
                "|a|2|3||; column=key, expected a 64-bit integer, found ''",
                "-|a|2|3||; column=key, expected a 64-bit integer, found '-'",
                "9223372036854775808|a|2|3||; column=key, expected a 64-bit integer",
                "-9223372036854775809|a|2|3||; column=key, expected a 64-bit integer",
                "99999999999999999999|a|2|3||; column=key, expected a 64-bit integer",
                "1|a|2147483648|3||; column=count, expected a 32-bit integer",
                "1|a|1e3|3||; column=count, expected a 32-bit integer, found '1e3'",
                "1|a|2|3.001||; column=price, expected a decimal with at most two digits",
                "1|a|2|.5||; column=price, expected a decimal with at most two digits",
                "1|a|2|3|1992-13-01|; column=day, expected a date written yyyy-mm-dd",
                "1|a|2|3|19920101|; column=day, expected a date written yyyy-mm-dd",
            })
    void shouldNameFileLineAndExpectationOfAMalformedLine(String line, String problem)
            throws IOException {
        Path file = directory.resolve("bad.tbl");
        Files.writeString(file, "1|a|2|3||\n2|b|3|4||\n" + line + "\n4|c|5|6||\n");
        assertThatThrownBy(() -> read(split(file, 0, Files.size(file)), 1 << 10))
                .isInstanceOf(MalformedLineException.class)
                .hasMessageStartingWith("malformed line: file=" + file + ", line=3, ")
                .hasMessageContaining(problem);
        // The line's number is that in the file, whatever split it is read in.
        assertThatThrownBy(() -> read(split(file, 15, Files.size(file) - 15), 1 << 10))
                .hasMessageContaining(", line=3, ");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 20, (1 << 20) + 1, 9_000_000, 200_000_000})
    void shouldCutAFileIntoSplitsThatCoverItOnce(int size) throws IOException {
        Path file = directory.resolve("sized");
        try (RandomAccessFile sized = new RandomAccessFile(file.toFile(), "rw")) {
            sized.setLength(size);
        }
        var path =
                new org.apache.flink.core.fs.Path[] {
                    new org.apache.flink.core.fs.Path(file.toUri())
                };
        long next = 0;
        for (FileSourceSplit split : new TblSplits().enumerateSplits(path, 2)) {
            assertThat(split.offset()).isEqualTo(next);
            assertThat(split.length()).isBetween(1L, TblSplits.LARGEST_BYTES);
            next += split.length();
        }
        assertThat(next).isEqualTo(size);
    }

    @Test
    void shouldRefuseAColumnThatTheTableDoesNotHave() {
        assertThatThrownBy(() -> TABLE.project("key", "colour"))
                .hasMessage(
                        "Table 'sample' lacks columns: missing=[colour]. Use some of [key, text, count,"
                                + " price, day].");
    }

    private Path write(String bar, String end, boolean lastEnd) throws IOException {
        String text = String.join(bar + end, LINES) + bar + (lastEnd ? end : "");
        return Files.writeString(directory.resolve("sample.tbl"), text, StandardCharsets.UTF_8);
    }

    private static FileSourceSplit split(Path file, long offset, long length) throws IOException {
        return new FileSourceSplit(
                "split",
                new org.apache.flink.core.fs.Path(file.toUri()),
                offset,
                length,
                0,
                Files.size(file));
    }

    private static List<String> read(FileSourceSplit split, int chunkBytes) throws IOException {
        TblFormat format = new TblFormat(TABLE, TABLE.projectAll(), chunkBytes);
        try (BulkFormat.Reader<Chunk> reader = format.createReader(new Configuration(), split)) {
            return drain(reader);
        }
    }

    private static List<String> drain(BulkFormat.Reader<Chunk> reader) throws IOException {
        List<String> rows = new ArrayList<>();
        for (RecordAndPosition<Chunk> next = next(reader); next != null; next = next(reader)) {
            Chunk chunk = next.getRecord();
            ChunkCursor cursor = new ChunkCursor(chunk.schema());
            for (int row = 0; row < chunk.rowCount(); row++) {
                rows.add(text(cursor.at(chunk, row)));
            }
        }
        return rows;
    }

    private static RecordAndPosition<Chunk> next(BulkFormat.Reader<Chunk> reader)
            throws IOException {
        BulkFormat.RecordIterator<Chunk> batch = reader.readBatch();
        return batch == null ? null : batch.next();
    }

    private static String text(ChunkCursor row) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < row.schema().size(); i++) {
            if (row.isNull(i)) {
                values.add("null");
            } else {
                values.add(
                        switch (row.schema().column(i).type()) {
                            case INT32 -> String.valueOf(row.getInt(i));
                            case INT64 -> String.valueOf(row.getLong(i));
                            default -> row.getString(i);
                        });
            }
        }
        return String.join(" ", values);
    }
}
