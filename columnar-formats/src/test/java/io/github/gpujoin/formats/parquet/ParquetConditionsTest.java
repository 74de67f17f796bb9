// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.testing.FormatRows;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares what is read under conditions with what meets them among all rows. */
class ParquetConditionsTest {

    private static final int ROWS = 60_000;

    private static final List<String> COLUMNS = IndexedFile.COLUMNS;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("t.parquet");
        IndexedFile.write(file, ROWS, 400L << 10, CompressionCodecName.SNAPPY);
    }

    private ColumnarSplit split() throws IOException {
        long length = Files.size(file);
        return new ColumnarSplit(
                new org.apache.flink.core.fs.Path(file.toUri()), 0, length, length);
    }

    private static LongCondition between(long from, long to) {
        return new RangeCondition(ValueRanges.between(from, to));
    }

    private static LongCondition keys(LongStream keys) {
        KeyFilterBuilder builder = new KeyFilterBuilder(1 << 16);
        keys.forEach(builder::add);
        return builder.build().orElseThrow();
    }

    private static LongCondition condition(String column, Random random) {
        return switch (column) {
            case "id" -> between(random.nextInt(ROWS), random.nextInt(ROWS) + 5_000);
            case "ascending" ->
                    random.nextBoolean()
                            ? between(random.nextInt(600), 600 + random.nextInt(600))
                            : keys(LongStream.range(0, 400).map(i -> random.nextInt(1_200)));
            case "few" ->
                    random.nextBoolean()
                            ? new RangeCondition(ValueRanges.in(3, 9, 27))
                            : keys(LongStream.of(1, 2, 39));
            case "wide" -> keys(random.longs(2_000).map(i -> i | 1));
            case "nulls" -> between(random.nextInt(50), 50 + random.nextInt(50));
            default -> keys(LongStream.range(0, 300).map(i -> random.nextInt(1_000)));
        };
    }

    private List<ColumnCondition> conditions(Random random) {
        List<String> columns =
                new ArrayList<>(List.of("id", "ascending", "few", "wide", "nulls", "never_null"));
        Collections.shuffle(columns, random);
        return columns.subList(0, 1 + random.nextInt(3)).stream()
                .map(column -> new ColumnCondition(column, condition(column, random)))
                .toList();
    }

    /** Rows as lists of values; a null is the text "null". */
    private static void add(Chunk chunk, List<List<Object>> rows) {
        ChunkCursor cursor = new ChunkCursor(chunk.schema());
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            List<Object> values = new ArrayList<>();
            for (int i = 0; i < COLUMNS.size(); i++) {
                if (cursor.isNull(i)) {
                    values.add("null");
                } else {
                    values.add(
                            COLUMNS.get(i).equals("text")
                                    ? cursor.getString(i)
                                    : cursor.getLong(i));
                }
            }
            rows.add(values);
        }
    }

    private List<List<Object>> readAll() throws IOException {
        List<List<Object>> rows = new ArrayList<>();
        try (ColumnarReader reader = format().open(split(), ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                add(chunk, rows);
            }
        }
        return rows;
    }

    private ParquetFormat format() throws IOException {
        return ParquetFormat.like(new org.apache.flink.core.fs.Path(file.toUri()));
    }

    private static List<List<Object>> meeting(
            List<ColumnCondition> conditions, List<List<Object>> rows) {
        return rows.stream()
                .filter(
                        row ->
                                conditions.stream()
                                        .allMatch(
                                                c ->
                                                        row.get(COLUMNS.indexOf(c.column()))
                                                                        instanceof Long value
                                                                && c.values().mayAccept(value)))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"})
    void shouldReadAllRowsThatMeetTheConditionsAlsoAfterRestores(long seed) throws Exception {
        Random random = new Random(seed);
        List<ColumnCondition> conditions = conditions(random);
        List<List<Object>> read = new ArrayList<>();
        ColumnarPosition position = ColumnarPosition.START;
        long skipped = 0;
        for (boolean ended = false; !ended; ) {
            // Conditions become known while files are read, and are unknown again after a restore.
            List<List<ColumnCondition>> known = new ArrayList<>(List.of(List.of()));
            try (ColumnarReader reader =
                    format().open(split(), position, () -> known.get(known.size() - 1))) {
                known.add(conditions);
                for (int left = 1 + random.nextInt(3); left > 0 && !ended; left--) {
                    Chunk chunk = reader.read();
                    if (chunk == null) {
                        ended = true;
                    } else {
                        add(chunk, read);
                        position = reader.position();
                    }
                }
                skipped += reader.rowsSkipped();
            }
        }
        assertThat(read).doesNotHaveDuplicates();
        assertThat(meeting(conditions, read))
                .as("seed=%s, conditions=%s", seed, conditions)
                .isEqualTo(meeting(conditions, readAll()));
        assertThat(skipped).isPositive();
    }

    @ParameterizedTest
    @CsvSource({
        "id, 30000, 30000",
        "ascending, 100, 100",
        "ascending, 5000, 6000",
        "few, 50, 60",
        "never_null, -5, -1",
        "wide, 2, 2"
    })
    void shouldSkipPagesAndRowGroupsThatCannotMeetACondition(String column, long from, long to)
            throws Exception {
        List<ColumnCondition> conditions = List.of(new ColumnCondition(column, between(from, to)));
        List<List<Object>> read = new ArrayList<>();
        long rowsOfPages = 0;
        try (ColumnarReader reader =
                format().open(split(), ColumnarPosition.START, () -> conditions)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                add(chunk, read);
            }
            rowsOfPages = reader.rowsSkipped();
        }
        assertThat(meeting(conditions, read)).isEqualTo(meeting(conditions, readAll()));
        assertThat(read.size()).isLessThan(ROWS / 3);
        assertThat(rowsOfPages).isEqualTo(ROWS - read.size());
    }

    /** A long file without a match must not keep its reader from a cancellation. */
    @Test
    void shouldReturnBetweenRowGroupsThatItSkips() throws Exception {
        List<ColumnCondition> none = List.of(new ColumnCondition("id", between(-9, -1)));
        List<Long> skipped = new ArrayList<>();
        try (ColumnarReader reader = format().open(split(), ColumnarPosition.START, () -> none)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                assertThat(chunk.rowCount()).isZero();
                skipped.add(reader.rowsSkipped());
            }
        }
        assertThat(skipped).hasSizeGreaterThan(1).isSorted().endsWith((long) ROWS);
    }

    /** The keys of a dimension and a filter of the user may be conditions on one column. */
    @ParameterizedTest
    @CsvSource({"id", "ascending", "few", "nulls", "never_null"})
    void shouldTestSeveralConditionsOnOneColumn(String column) throws Exception {
        Random random = new Random(17);
        List<ColumnCondition> conditions =
                List.of(
                        new ColumnCondition(column, condition(column, random)),
                        new ColumnCondition("few", between(5, 30)),
                        new ColumnCondition(column, keys(LongStream.range(10, 500))));
        List<List<Object>> read = new ArrayList<>();
        try (ColumnarReader reader =
                format().open(split(), ColumnarPosition.START, () -> conditions)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                add(chunk, read);
            }
        }
        assertThat(meeting(conditions, read)).isEqualTo(meeting(conditions, readAll()));
    }

    @Test
    void shouldTestColumnsWithAPointInTheirName() throws Exception {
        Path pointed = folder.resolve("pointed.parquet");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(
                    "COPY (SELECT i AS \"a.b\" FROM range(1000) r(i)) TO '%s' (FORMAT PARQUET)"
                            .formatted(pointed));
        }
        List<ColumnCondition> conditions = List.of(new ColumnCondition("a.b", between(100, 199)));
        int rows = 0;
        try (ColumnarReader reader =
                ParquetFormat.like(new org.apache.flink.core.fs.Path(pointed.toUri()))
                        .open(
                                FormatRows.whole(pointed),
                                ColumnarPosition.START,
                                () -> conditions)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                rows += chunk.rowCount();
            }
        }
        assertThat(rows).isEqualTo(100);
    }

    @Test
    void shouldRejectARowCountThatTheColumnsContradict() throws Exception {
        rewriteMetadata(metadata -> metadata.getRow_groups().get(1).setNum_rows(1L << 50));
        assertThatThrownBy(this::readAll)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Row group is damaged: file=")
                .hasMessageContaining("t.parquet, rowGroup=1, rows=1125899906842624, column=id");
    }

    /** Arrow writes an empty table so. */
    @Test
    void shouldPassRowGroupsWithoutRows() throws Exception {
        List<List<Object>> all = readAll();
        rewriteMetadata(
                metadata -> {
                    RowGroup empty = metadata.getRow_groups().get(0).deepCopy();
                    empty.setNum_rows(0);
                    empty.getColumns().forEach(c -> c.getMeta_data().setNum_values(0));
                    metadata.getRow_groups().add(0, empty);
                });

        assertThat(readAll()).isEqualTo(all);
    }

    private void rewriteMetadata(Consumer<FileMetaData> change) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int footer = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN).getInt(bytes.length - 8);
        int end = bytes.length - 8 - footer;
        FileMetaData metadata = Util.readFileMetaData(new ByteArrayInputStream(bytes, end, footer));
        change.accept(metadata);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        written.write(bytes, 0, end);
        Util.writeFileMetaData(metadata, written);
        ByteBuffer length = ByteBuffer.allocate(4).order(LITTLE_ENDIAN);
        written.write(length.putInt(0, written.size() - end).array());
        written.write("PAR1".getBytes(UTF_8));
        Files.write(file, written.toByteArray());
    }

    /** The oracle is independent of this project's reader and conditions. */
    @Test
    void shouldFindWhatDuckDbFinds() throws Exception {
        List<ColumnCondition> conditions =
                List.of(
                        new ColumnCondition("ascending", between(300, 500)),
                        new ColumnCondition("few", new RangeCondition(ValueRanges.in(1, 7, 30))),
                        new ColumnCondition("nulls", between(10, 90)));
        long sum = 0;
        int count = 0;
        try (ColumnarReader reader =
                format().open(split(), ColumnarPosition.START, () -> conditions)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                List<List<Object>> rows = new ArrayList<>();
                add(chunk, rows);
                // The reader may leave the test of a condition to the join.
                List<List<Object>> results = meeting(conditions, rows);
                count += results.size();
                sum += results.stream().mapToLong(row -> (Long) row.get(0)).sum();
            }
        }
        assertThat(List.of((long) count, sum)).isEqualTo(expected());
    }

    private List<Long> expected() throws SQLException {
        String query =
                "SELECT count(*), sum(id)::BIGINT FROM '%s' WHERE ascending BETWEEN 300 AND 500 AND few IN (1, 7, 30) AND nulls BETWEEN 10 AND 90"
                        .formatted(file);
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement();
                var row = sql.executeQuery(query)) {
            row.next();
            return List.of(row.getLong(1), row.getLong(2));
        }
    }
}
