// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns whose values follow from those of another column, as in the result of a join. */
class DependentColumnsTest {

    private static final MessageType TYPES =
            MessageTypeParser.parseMessageType(
                    """
                    message rows {
                      required int32 number;
                      optional int64 key;
                      optional int64 same;
                      optional int32 unique;
                      optional int64 region;
                      optional int64 almost;
                      required int64 always;
                    }
                    """);

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("number", ColumnType.INT32),
                    Column.of("key", ColumnType.INT64),
                    Column.of("same", ColumnType.INT64),
                    Column.of("unique", ColumnType.INT32),
                    Column.of("region", ColumnType.INT16),
                    Column.of("almost", ColumnType.INT64),
                    Column.of("always", ColumnType.INT64));

    private static final int[] ALL = {0, 1, 2, 3, 4, 5, 6};

    /** A row without a match. */
    private static final int[] WITHOUT_ATTRIBUTES = {0, 1, 2, -1, -1, -1, 6};

    private final List<List<@Nullable Object>> expected = new ArrayList<>();

    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteValuesThatFollowFromAKey(long seed) throws Exception {
        Random random = new Random(seed);
        write(
                rows(random, 70_000, 2_000, ALL),
                rows(random, 30_000, 1, ALL),
                rows(random, 50_000, 900, ALL));

        assertThat(read()).isEqualTo(expected);
        assertThat(encodedBytes("same")).isEqualTo(encodedBytes("key"));
        assertThat(encodedBytes("region")).isLessThan(encodedBytes("key") / 2);
        assertThat(
                        query(
                                "select distinct path_in_schema from parquet_metadata('%s')"
                                        + " where encodings like '%%DICTIONARY%%' order by all"))
                .extracting(row -> row.get(0))
                .containsExactly("almost", "always", "key", "region", "same", "unique");
    }

    @ParameterizedTest
    @ValueSource(longs = {4, 5})
    void shouldWriteAttributesThatSomeRowsLack(long seed) throws Exception {
        Random random = new Random(seed);
        write(
                rows(random, 20_000, 2_000, ALL),
                rows(random, 25_000, 2_000, WITHOUT_ATTRIBUTES),
                rows(random, 5_000, 2_000, ALL));

        assertThat(read()).isEqualTo(expected);
        assertThat(query("select count(*) from '%s' where region is null"))
                .containsExactly(List.of(25_000L));
    }

    private record Rows(Chunk chunk, int[] columns) {}

    private void write(Rows... parts) throws Exception {
        org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(file().toUri());
        try (ParquetChunkWriter writer = new ParquetChunkWriter(path, TYPES, 2)) {
            for (Rows part : parts) {
                writer.write(part.chunk(), part.columns());
            }
            writer.finish();
        }
    }

    private Rows rows(Random random, int count, int keys, int[] columns) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 64 * count);
        for (int i = 0; i < count; i++) {
            int number = expected.size();
            long key = 1_000_000L * random.nextInt(keys) - 500;
            int unique = (int) (key * 31 + 7);
            long region = Math.floorMod(key / 1_000_000, 5);
            // Differs once only, behind many rows with the value that follows from the key.
            long almost = i == count - 1 ? -1 : key + 1;
            List<@Nullable Object> row =
                    Arrays.asList(number, key, key, unique, region, almost, key - 1);
            builder.putInt(0, number);
            builder.putLong(1, key);
            builder.putLong(2, key);
            builder.putInt(3, unique);
            builder.putInteger(4, region);
            builder.putLong(5, almost);
            builder.putLong(6, key - 1);
            builder.endRow();
            for (int column = 0; column < columns.length; column++) {
                if (columns[column] < 0) {
                    row.set(column, null);
                }
            }
            expected.add(Collections.unmodifiableList(row));
        }
        return new Rows(
                builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0), columns);
    }

    private Path file() {
        return folder.resolve("rows.parquet");
    }

    private long encodedBytes(String column) throws SQLException {
        String sql =
                "select sum(total_compressed_size)::bigint from parquet_metadata('%s')"
                        + " where path_in_schema = '"
                        + column
                        + "'";
        return (Long) query(sql).get(0).get(0);
    }

    private List<List<@Nullable Object>> read() throws SQLException {
        return query("from '%s' order by number");
    }

    private List<List<@Nullable Object>> query(String sql) throws SQLException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = db.createStatement();
                ResultSet result = statement.executeQuery(sql.formatted(file()))) {
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
