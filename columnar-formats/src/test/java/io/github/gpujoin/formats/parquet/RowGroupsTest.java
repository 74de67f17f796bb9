// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.formats.testing.FormatRows;
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
import java.util.stream.LongStream;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several readers share one row group. */
class RowGroupsTest {

    private static final int ROWS = 300_000;
    private static final int SPLITS = 4;

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = folder.resolve("t.parquet");
        IndexedFile.write(file, ROWS, 1L << 30, CompressionCodecName.UNCOMPRESSED);
    }

    private ParquetFormat format() throws IOException {
        return ParquetFormat.like(
                new org.apache.flink.core.fs.Path(file.toUri()), "id", "nulls", "text");
    }

    private static List<Long> ids(List<List<@Nullable Object>> rows) {
        return rows.stream().map(row -> (Long) row.get(0)).toList();
    }

    private static List<Long> allIds() {
        return LongStream.range(0, ROWS).boxed().toList();
    }

    /** A row group of several pieces, whose dictionary is read with the first. */
    @ParameterizedTest
    @EnumSource(
            value = CompressionCodecName.class,
            names = {"UNCOMPRESSED", "SNAPPY", "GZIP"})
    void shouldReadWhatDuckDbReads(CompressionCodecName codec) throws Exception {
        IndexedFile.write(file, ROWS, 1L << 30, codec);
        List<List<@Nullable Object>> expected = new ArrayList<>();
        String query = "SELECT id, nulls::BIGINT, text FROM '%s' ORDER BY id".formatted(file);
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement();
                ResultSet rows = sql.executeQuery(query)) {
            while (rows.next()) {
                expected.add(
                        Arrays.asList(rows.getObject(1), rows.getObject(2), rows.getObject(3)));
            }
        }
        // AssertJ would describe all rows.
        assertThat(FormatRows.read(format(), file).equals(expected)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionCodecName.class,
            names = {"UNCOMPRESSED", "SNAPPY", "GZIP"})
    void shouldReadPagesOfNullsOnly(CompressionCodecName codec) throws Exception {
        MessageType type =
                MessageTypeParser.parseMessageType(
                        "message t { required int64 id; optional double none; }");
        Path nulls = folder.resolve("nulls.parquet");
        try (ParquetWriter<Group> writer =
                ExampleParquetWriter.builder(new LocalOutputFile(nulls))
                        .withType(type)
                        .withConf(new PlainParquetConfiguration())
                        .withCompressionCodec(codec)
                        .withWriterVersion(WriterVersion.PARQUET_2_0)
                        .withDictionaryEncoding(false)
                        .build()) {
            for (long id = 0; id < 100; id++) {
                writer.write(new SimpleGroupFactory(type).newGroup().append("id", id));
            }
        }
        ParquetFormat format = ParquetFormat.like(new org.apache.flink.core.fs.Path(nulls.toUri()));
        assertThat(FormatRows.read(format, nulls))
                .hasSize(100)
                .allSatisfy(row -> assertThat(row.get(1)).isNull());
    }

    @Test
    void shouldLetEverySplitReadPartOfARowGroup() throws Exception {
        List<Long> ids = new ArrayList<>();
        long length = Files.size(file) / SPLITS + 1;
        for (int i = 0; i < SPLITS; i++) {
            var split = FormatRows.split(file, i * length, length);
            List<Long> some = ids(FormatRows.read(format(), split, ColumnarPosition.START));
            assertThat(some).as("split %d", i).isNotEmpty();
            ids.addAll(some);
        }
        assertThat(ids).isEqualTo(allIds());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadEachRowOnceInRandomSplitsAndAfterRestores(long seed) throws Exception {
        List<List<@Nullable Object>> rows =
                FormatRows.readInPieces(format(), file, new Random(seed));
        assertThat(ids(rows)).as("seed=%d", seed).isEqualTo(allIds());
    }

    @Test
    void shouldCountSkippedRowsOfItsPartOnly() throws Exception {
        List<ColumnCondition> conditions =
                List.of(
                        new ColumnCondition(
                                "id", new RangeCondition(ValueRanges.between(100_000, 100_999))));
        long length = Files.size(file) / SPLITS + 1;
        long read = 0;
        long skipped = 0;
        for (int i = 0; i < SPLITS; i++) {
            try (ColumnarReader reader =
                    format().open(
                                    FormatRows.split(file, i * length, length),
                                    ColumnarPosition.START,
                                    () -> conditions)) {
                for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                    read += chunk.rowCount();
                }
                skipped += reader.rowsSkipped();
            }
        }
        assertThat(read).isEqualTo(1_000);
        assertThat(read + skipped).isEqualTo(ROWS);
    }
}
