// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.IOException;
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
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DuckDB reads the rows that were written. */
class ParquetChunkWriterTest {

    private static final MessageType TYPES =
            MessageTypeParser.parseMessageType(
                    """
                    message rows {
                      required int32 number;
                      optional int64 any;
                      optional int64 few;
                      optional int32 small (INTEGER(16,true));
                      optional boolean flag;
                      optional float real;
                      optional double large;
                      optional binary text (STRING);
                      optional int64 nullable;
                      optional boolean maybe;
                    }
                    """);

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("number", ColumnType.INT32),
                    Column.of("any", ColumnType.INT64),
                    Column.of("few", ColumnType.INT64),
                    Column.of("small", ColumnType.INT16),
                    Column.of("flag", ColumnType.INT8),
                    Column.of("real", ColumnType.FLOAT32),
                    Column.of("large", ColumnType.FLOAT64),
                    Column.nullable("text", ColumnType.STRING),
                    Column.nullable("nullable", ColumnType.INT64),
                    Column.nullable("maybe", ColumnType.INT8));

    private static final ChunkSchema NUMBERS = ChunkSchema.of(SCHEMA.column(0));

    private final List<List<@Nullable Object>> expected = new ArrayList<>();

    @TempDir private Path folder;
    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("rows.parquet");
    }

    private ParquetChunkWriter open(int threads) throws IOException {
        return new ParquetChunkWriter(
                new org.apache.flink.core.fs.Path(file.toUri()), TYPES, threads);
    }

    /** Chunks of all columns, and between them chunks of numbers alone, in several row groups. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteRowsThatDuckDbReads(long seed) throws Exception {
        Random random = new Random(seed);
        int[] all = new int[SCHEMA.size()];
        Arrays.setAll(all, i -> i);
        int[] numberOnly = new int[SCHEMA.size()];
        Arrays.fill(numberOnly, 1, numberOnly.length, -1);
        try (ParquetChunkWriter writer = open(1 + random.nextInt(3))) {
            for (int i = 0; i < 60; i++) {
                if (random.nextInt(4) == 0) {
                    writer.write(numbers(1 + random.nextInt(9_000)), numberOnly);
                } else {
                    writer.write(rows(random, 1 + random.nextInt(20_000)), all);
                }
            }
            writer.finish();
        }

        assertThat(read()).isEqualTo(expected);
        assertThat(query("select count(distinct row_group_id) from parquet_metadata('%s')"))
                .singleElement()
                .satisfies(count -> assertThat((Long) count.get(0)).isGreaterThan(1));
        assertThat(
                        query(
                                "select distinct encodings like '%%DICTIONARY%%' from"
                                        + " parquet_metadata('%s') where path_in_schema = 'few'"
                                        + " and row_group_num_rows > 10000"))
                .containsExactly(List.of(true));
        assertThat(
                        query(
                                "select min(stats_min::int), max(stats_max::int) from parquet_metadata('%s')"
                                        + " where path_in_schema = 'number'"))
                .containsExactly(List.of(0, expected.size() - 1));
    }

    /** Null in its statistics would make a reader skip the file. */
    @Test
    void shouldWriteAColumnThatIsNullInAllRows() throws Exception {
        int[] columns = new int[SCHEMA.size()];
        Arrays.fill(columns, 1, columns.length, -1);
        try (ParquetChunkWriter writer = open(1)) {
            writer.write(numbers(30_000), columns);
            writer.finish();
        }

        assertThat(read()).isEqualTo(expected);
        assertThat(query("select count(*) from '%s' where \"any\" is null and text is null"))
                .containsExactly(List.of(30_000L));
    }

    @Test
    void shouldWriteAFileWithoutRows() throws Exception {
        try (ParquetChunkWriter writer = open(2)) {
            writer.finish();
        }

        assertThat(read()).isEmpty();
    }

    @Test
    void shouldLeaveNoReadableFileIfRowsAreIncomplete() throws Exception {
        try (ParquetChunkWriter writer = open(2)) {
            writer.write(numbers(10), new int[] {0, -1, -1, -1, -1, -1, -1, -1, -1, -1});
        }

        assertThat(file).exists();
        assertThatThrownBy(this::read).isInstanceOf(SQLException.class);
    }

    @Test
    void shouldNameARequiredColumnThatIsMissing() throws Exception {
        int[] none = new int[SCHEMA.size()];
        Arrays.fill(none, -1);
        try (ParquetChunkWriter writer = open(2)) {
            writer.write(numbers(10), none);

            assertThatThrownBy(writer::finish)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Null in a required column")
                    .hasMessageContaining("number");
        }
    }

    @Test
    void shouldRejectAMappingOfOtherColumns() throws Exception {
        try (ParquetChunkWriter writer = open(1)) {
            assertThatThrownBy(() -> writer.write(numbers(1), new int[] {0}))
                    .hasMessage("Chunk and file differ in their columns: mapped=1, columns=10");
        }
    }

    private Chunk numbers(int count) {
        ChunkBuilder builder = new ChunkBuilder(NUMBERS, 8 * count);
        for (int i = 0; i < count; i++) {
            List<@Nullable Object> row = new ArrayList<>(Collections.nCopies(SCHEMA.size(), null));
            row.set(0, expected.size());
            builder.putInt(0, expected.size());
            builder.endRow();
            expected.add(row);
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private Chunk rows(Random random, int count) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 200 * count);
        for (int i = 0; i < count; i++) {
            int number = expected.size();
            long any = random.nextLong();
            long few = random.nextInt(300) - 150L;
            short small = (short) random.nextInt();
            boolean flag = random.nextBoolean();
            float real = random.nextFloat();
            double large = random.nextDouble();
            String text = random.nextInt(5) == 0 ? null : "text " + random.nextInt(2_000);
            Long nullable = random.nextInt(3) == 0 ? null : (Long) random.nextLong();
            Boolean maybe = random.nextInt(7) == 0 ? null : (Boolean) random.nextBoolean();
            builder.putInt(0, number);
            builder.putLong(1, any);
            builder.putLong(2, few);
            builder.putInteger(3, small);
            builder.putInteger(4, flag ? 1 : 0);
            builder.putFloat(5, real);
            builder.putDouble(6, large);
            if (text == null) {
                builder.addNull();
            } else {
                byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                builder.addBytes(utf8, 0, utf8.length);
            }
            if (nullable == null) {
                builder.addNull();
            } else {
                builder.addLong(nullable);
            }
            if (maybe == null) {
                builder.addNull();
            } else {
                builder.addInteger(1, maybe ? 1 : 0);
            }
            builder.endRow();
            expected.add(
                    Arrays.asList(
                            number, any, few, small, flag, real, large, text, nullable, maybe));
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private List<List<@Nullable Object>> read() throws SQLException {
        return query("from '%s' order by number");
    }

    private List<List<@Nullable Object>> query(String sql) throws SQLException {
        assertThat(Files.exists(file)).isTrue();
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = db.createStatement();
                ResultSet result = statement.executeQuery(sql.formatted(file))) {
            while (result.next()) {
                List<@Nullable Object> row = new ArrayList<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    row.add(result.getObject(i));
                }
                rows.add(row);
            }
        }
        return rows;
    }
}
