// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import io.github.gpujoin.formats.testing.FormatRows;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares what is read of files that DuckDB wrote with what DuckDB reads of them. */
class ParquetFormatTest {

    private static final int ROWS = 70_000;

    /** Of all types; columns whose name ends with n have nulls. */
    private static final String TABLE =
            """
            CREATE TABLE t AS SELECT
              i AS id,
              (i * 7919 % 251 - 125)::TINYINT AS tiny,
              (i % 30000)::SMALLINT AS small,
              (i / 100)::INTEGER AS clustered,
              (hash(i) >> 1)::BIGINT AS big,
              (i % 200)::UTINYINT AS utiny,
              (i % 60000)::USMALLINT AS usmall,
              (i * 60013)::UINTEGER AS uint,
              i % 3 = 0 AS flag,
              (i / 7.0)::FLOAT AS real_value,
              i / 3.0::DOUBLE AS double_value,
              DATE '1992-01-01' + (i % 2500)::INTEGER AS day,
              TIMESTAMP '2020-01-01' + to_microseconds(i * 1234567) AS at_time,
              (i % 100000 / 100.0)::DECIMAL(9, 2) AS amount,
              (i * 1001 / 100.0)::DECIMAL(15, 2) AS price,
              'city-' || (i % 250) AS city,
              'name of row ' || i AS name,
              encode('b' || i % 1000) AS bytes,
              CASE WHEN i % 5 > 0 THEN i * 3 END AS big_n,
              CASE WHEN i % 1000 > 500 THEN (i % 17)::INTEGER END AS int_n,
              CASE WHEN i % 7 > 2 THEN 'text ' || (i % 40) END AS text_n,
              CASE WHEN i % 2 = 1 THEN i % 4 = 1 END AS flag_n
            FROM range(ROWS) r(i)
            """
                    .replace("ROWS", String.valueOf(ROWS));

    @TempDir Path folder;

    private Path write(String options) throws SQLException {
        Path file = folder.resolve("t.parquet");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(TABLE);
            sql.execute("COPY t TO '" + file + "' (FORMAT PARQUET, " + options + ")");
        }
        return file;
    }

    private static ParquetFormat like(Path file, String... columns) throws IOException {
        return ParquetFormat.like(new org.apache.flink.core.fs.Path(file.toUri()), columns);
    }

    /** DuckDB declares all columns OPTIONAL, and counts nulls. */
    @Test
    void shouldFindColumnsWithoutNullsInTheStatisticsOfAFile() throws Exception {
        Path file = write("ROW_GROUP_SIZE 10240");

        ParquetFormat format =
                ParquetFormat.ofFile(new org.apache.flink.core.fs.Path(file.toUri()));

        assertThat(format.schema().columns())
                .hasSize(22)
                .allSatisfy(
                        column ->
                                assertThat(column.nullable())
                                        .as(column.name())
                                        .isEqualTo(column.name().endsWith("_n")));
        assertThat(FormatRows.read(format, file)).isEqualTo(FormatRows.read(like(file), file));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "COMPRESSION SNAPPY",
                "COMPRESSION UNCOMPRESSED, ROW_GROUP_SIZE 10240",
                "COMPRESSION GZIP, PARQUET_VERSION V2",
                "COMPRESSION SNAPPY, PARQUET_VERSION V2, ROW_GROUP_SIZE 20480",
                "COMPRESSION SNAPPY, DICTIONARY_SIZE_LIMIT 1"
            })
    void shouldReadWhatDuckDbWrote(String options) throws Exception {
        Path file = write(options);
        ParquetFormat format = like(file);
        List<List<@Nullable Object>> rows = FormatRows.read(format, file);
        assertThat(rows).hasSize(ROWS);
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement();
                ResultSet expected = sql.executeQuery(query(file))) {
            for (List<@Nullable Object> row : rows) {
                expected.next();
                for (int i = 0; i < row.size(); i++) {
                    assertThat(row.get(i))
                            .as("%s of row %s", format.schema().column(i).name(), row.get(0))
                            .isEqualTo(value(expected, i + 1, format.schema().column(i).type()));
                }
            }
        }
    }

    /** Values as the format says that chunks hold them. */
    private static String query(Path file) {
        return """
        SELECT id, tiny, small, clustered, big, utiny, usmall, uint, flag::TINYINT, real_value,
          double_value, day - DATE '1970-01-01', epoch_us(at_time), (amount * 100)::INTEGER,
          (price * 100)::BIGINT, city, name, bytes, big_n, int_n, text_n, flag_n::TINYINT
        FROM '%s' ORDER BY id
        """
                .formatted(file);
    }

    private static @Nullable Object value(ResultSet row, int column, ColumnType type)
            throws SQLException {
        Object value =
                switch (type) {
                    case INT8, INT16, INT32, INT64 -> row.getLong(column);
                    case FLOAT32, FLOAT64 -> row.getDouble(column);
                    case STRING -> row.getString(column);
                    case BYTES -> new String(row.getBytes(column), StandardCharsets.ISO_8859_1);
                };
        return row.wasNull() ? null : value;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadEachRowOnceInSplitsAndAfterRestores(long seed) throws Exception {
        Path file = write("COMPRESSION SNAPPY, ROW_GROUP_SIZE 10240");
        ParquetFormat format = like(file, "id", "text_n");
        List<List<@Nullable Object>> rows = FormatRows.readInPieces(format, file, new Random(seed));
        assertThat(rows.stream().map(row -> row.get(0))).hasSize(ROWS).doesNotHaveDuplicates();
    }

    /** With a dictionary, a file of any size has texts that take many times its bytes. */
    @ParameterizedTest
    @CsvSource({"100000, 300", "2500000, 5"})
    void shouldEndChunksOfLargeTextsAtTheirSize(int textBytes, int rowCount) throws Exception {
        Path file = folder.resolve("large.parquet");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(
                    "COPY (SELECT i AS id, repeat('x', %d) AS text, i * 3 AS more FROM range(%d) r(i)) TO '%s' (FORMAT PARQUET)"
                            .formatted(textBytes, rowCount, file));
        }
        ParquetFormat format = like(file);
        long next = 0;
        try (ColumnarReader reader = format.open(FormatRows.whole(file), ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                assertThat(chunk.lengthBytes())
                        .isLessThan(FileColumns.CHUNK_BYTES + textBytes + 10_000);
                List<List<@Nullable Object>> rows = new ArrayList<>();
                FormatRows.addRows(chunk, rows);
                for (List<@Nullable Object> row : rows) {
                    assertThat(List.of(row.get(0), row.get(2))).isEqualTo(List.of(next, 3 * next));
                    next++;
                }
                assertThat(reader.position().rows()).isEqualTo(next);
                assertThat(reader.rowsSkipped()).isZero();
            }
        }
        assertThat(next).isEqualTo(rowCount);
        assertThat(FormatRows.readInPieces(format, file, new Random(1))).hasSize(rowCount);
    }

    @Test
    void shouldReadOptionalColumnsAsArraysIfTheSchemaSaysSo() throws Exception {
        Path file = write("COMPRESSION SNAPPY");
        ParquetFormat format =
                ParquetFormat.of(
                        ChunkSchema.of(
                                Column.of("small", ColumnType.INT64),
                                Column.of("id", ColumnType.INT64),
                                Column.of("city", ColumnType.STRING)));
        List<List<@Nullable Object>> rows = FormatRows.read(format, file);
        assertThat(rows).hasSize(ROWS);
        assertThat(rows.get(40_000)).containsExactly(10_000L, 40_000L, "city-0");
    }

    @ParameterizedTest
    @CsvSource({
        "int_n, INT32, 'Null in a column that is declared as not nullable: column=int_n, rowGroup='",
        "text_n, STRING, Null in a column that is declared as not nullable: column=text_n",
        "absent, INT32, Column is not in the Parquet file: column=absent",
        "ID, INT32, 't.parquet. Names are case-sensitive, use ''id''.'",
        "big, INT32, Column has another type in the Parquet file",
        "city, INT32, Column has another type in the Parquet file"
    })
    void shouldRejectWhatTheSchemaDoesNotAllow(String column, ColumnType type, String message)
            throws Exception {
        Path file = write("COMPRESSION SNAPPY");
        ParquetFormat format = ParquetFormat.of(ChunkSchema.of(Column.of(column, type)));
        assertThatThrownBy(() -> FormatRows.read(format, file))
                .isInstanceOf(FileSchemaException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("t.parquet")
                .hasMessageFindingMatch("\\. [A-Z].*\\.$");
    }

    @Test
    void shouldRefuseNestedColumnsByName() throws Exception {
        Path file = folder.resolve("nested.parquet");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute("COPY (SELECT 1 AS id, [1, 2] AS list) TO '" + file + "' (FORMAT PARQUET)");
        }
        assertThatThrownBy(() -> like(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nested")
                .hasMessageContaining("list");
        assertThat(like(file, "id").schema().column(0).type()).isEqualTo(ColumnType.INT32);
    }

    /** Damage is refused with the file's name, or values differ; nothing else is thrown. */
    @Test
    void shouldReadDamagedFilesOrRejectThem() throws Exception {
        Path file = write("COMPRESSION UNCOMPRESSED, ROW_GROUP_SIZE 10240");
        ParquetFormat format = like(file);
        byte[] bytes = Files.readAllBytes(file);
        Random random = new Random(5);
        int rejected = 0;
        for (int i = 0; i < 120; i++) {
            byte[] damaged = bytes.clone();
            int at =
                    i % 2 == 0
                            ? random.nextInt(bytes.length)
                            : bytes.length - 1 - random.nextInt(4000);
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                FormatRows.read(format, file);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("t.parquet");
                rejected++;
            }
        }
        assertThat(rejected).isPositive();
    }

    /** What became of a Parquet file. */
    enum Fault {
        EMPTY("File is empty, and so not a Parquet file: ") {
            @Override
            byte[] of(byte[] bytes) {
                return new byte[0];
            }
        },
        CUT_AFTER_THE_START("File is too short for a Parquet file: ") {
            @Override
            byte[] of(byte[] bytes) {
                return Arrays.copyOf(bytes, 11);
            }
        },
        CUT_IN_THE_FOOTER("Parquet file is truncated, its last 4 bytes are not PAR1: ") {
            @Override
            byte[] of(byte[] bytes) {
                return Arrays.copyOf(bytes, bytes.length - 100);
            }
        },
        CUT_IN_A_ROW_GROUP("Parquet file is truncated, its last 4 bytes are not PAR1: ") {
            @Override
            byte[] of(byte[] bytes) {
                return Arrays.copyOf(bytes, bytes.length / 3);
            }
        },
        TEXT("Not a Parquet file, neither its first nor its last 4 bytes are PAR1: ") {
            @Override
            byte[] of(byte[] bytes) {
                return "id,city\n1,Oslo\n2,Bonn\n".getBytes(StandardCharsets.UTF_8);
            }
        },
        LONG_FOOTER("Footer of a Parquet file is damaged: ") {
            @Override
            byte[] of(byte[] bytes) {
                bytes[bytes.length - 6] = 0x7f;
                return bytes;
            }
        },
        OTHER_FOOTER("Footer of a Parquet file is damaged: ") {
            @Override
            byte[] of(byte[] bytes) {
                Arrays.fill(bytes, bytes.length - 100, bytes.length - 8, (byte) 0xff);
                return bytes;
            }
        },
        ENCRYPTED("Footer of a Parquet file is encrypted: ") {
            @Override
            byte[] of(byte[] bytes) {
                bytes[bytes.length - 1] = 'E';
                return bytes;
            }
        };

        private final String message;

        Fault(String message) {
            this.message = message;
        }

        abstract byte[] of(byte[] bytes);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameWhatIsWrongWithAFile(Fault fault) throws Exception {
        Path file = write("COMPRESSION SNAPPY");
        byte[] bytes = fault.of(Files.readAllBytes(file));
        Files.write(file, bytes);
        ParquetFormat format = ParquetFormat.of(ChunkSchema.of(Column.of("id", ColumnType.INT64)));
        String values = "file=file:" + file + ", bytes=" + bytes.length;
        assertThatThrownBy(() -> FormatRows.read(format, file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(fault.message + values)
                .hasMessageFindingMatch("\\. [A-Z].*\\.$")
                .hasCauseInstanceOf(Exception.class);
        assertThatThrownBy(() -> like(file)).hasMessageStartingWith(fault.message + values);
    }

    static Stream<Exception> failuresOfFileSystems() {
        return Stream.of(
                new SocketTimeoutException("Read timed out"),
                new EOFException(),
                new IOException("The store is gone", new IllegalStateException("500")),
                new UncheckedIOException(new IOException("Connection reset")));
    }

    @ParameterizedTest
    @MethodSource("failuresOfFileSystems")
    void shouldNotCallAFileDamagedThatItsFileSystemCannotRead(Exception cause) throws Exception {
        Path file = write("COMPRESSION SNAPPY");
        assertThat(
                        FileFault.of(
                                new org.apache.flink.core.fs.Path(file.toUri()),
                                Files.size(file),
                                cause))
                .hasMessage(
                        "Cannot read the footer of a Parquet file: file=file:%s, cause=%s. "
                                + "Check its file system, and read the file again.",
                        file, cause)
                .hasCause(cause);
    }
}
