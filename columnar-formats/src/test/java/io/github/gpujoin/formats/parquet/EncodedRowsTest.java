// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileSchemaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dictionaries of Parquet that become dictionaries of chunks. */
class EncodedRowsTest {

    private static final int ROWS = 100_000;

    private static final MessageType TYPE =
            MessageTypeParser.parseMessageType(
                    """
                    message t {
                      required int64 few;
                      optional int32 sorted;
                      required int32 growing;
                      required double one;
                      required int64 all;
                      required int32 given_up;
                    }
                    """);

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("few", ColumnType.INT64),
                    Column.of("sorted", ColumnType.INT32),
                    Column.of("growing", ColumnType.INT64),
                    Column.of("one", ColumnType.FLOAT64),
                    Column.of("all", ColumnType.INT64),
                    Column.of("given_up", ColumnType.INT32));

    @TempDir Path folder;

    private List<List<Object>> rows(long seed) {
        Random random = new Random(seed);
        int few = 1 + random.nextInt(300);
        int rowsOfOne = 1 + random.nextInt(3000);
        List<List<Object>> rows = new ArrayList<>(ROWS);
        for (int i = 0; i < ROWS; i++) {
            rows.add(
                    List.of(
                            (long) random.nextInt(few),
                            i / rowsOfOne,
                            random.nextInt(1 + i / 100),
                            2.5,
                            random.nextLong(),
                            i < ROWS / 2 ? i % 7 : random.nextInt()));
        }
        return rows;
    }

    private Path write(List<List<Object>> rows) throws IOException {
        Path file = folder.resolve("t.parquet");
        SimpleGroupFactory groups = new SimpleGroupFactory(TYPE);
        try (var writer =
                ExampleParquetWriter.builder(new LocalOutputFile(file))
                        .withType(TYPE)
                        .withConf(new PlainParquetConfiguration())
                        .withCompressionCodec(CompressionCodecName.SNAPPY)
                        .withDictionaryEncoding("all", false)
                        .withDictionaryPageSize(16 << 10)
                        .withPageSize(4 << 10)
                        .withWriteMode(org.apache.parquet.hadoop.ParquetFileWriter.Mode.OVERWRITE)
                        .build()) {
            for (List<Object> row : rows) {
                writer.write(
                        groups.newGroup()
                                .append("few", (long) row.get(0))
                                .append("sorted", (int) row.get(1))
                                .append("growing", (int) row.get(2))
                                .append("one", (double) row.get(3))
                                .append("all", (long) row.get(4))
                                .append("given_up", (int) row.get(5)));
            }
        }
        return file;
    }

    private static List<Chunk> read(Path file, ColumnConditions conditions, ChunkSchema schema)
            throws IOException {
        long length = Files.size(file);
        var split =
                new ColumnarSplit(
                        new org.apache.flink.core.fs.Path(file.toUri()), 0, length, length);
        List<Chunk> chunks = new ArrayList<>();
        try (ColumnarReader reader =
                ParquetFormat.of(schema).open(split, ColumnarPosition.START, conditions)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                chunks.add(chunk);
            }
        }
        return chunks;
    }

    private static List<List<Object>> values(List<Chunk> chunks) {
        List<List<Object>> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                rows.add(
                        List.of(
                                chunk.getLong(0, row),
                                chunk.getInt(1, row),
                                (int) chunk.getLong(2, row),
                                chunk.getDouble(3, row),
                                chunk.getLong(4, row),
                                chunk.getInt(5, row)));
            }
        }
        return rows;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldHandOnCodesAndRunsOfDictionaries(long seed) throws Exception {
        List<List<Object>> rows = rows(seed);
        List<Chunk> chunks = read(write(rows), ColumnConditions.NONE, SCHEMA);

        assertThat(values(chunks)).isEqualTo(rows);
        assertThat(chunks.subList(0, chunks.size() - 1))
                .allSatisfy(chunk -> assertThat(chunk).isInstanceOf(EncodedChunk.class));
        long encodedBytes = chunks.stream().mapToLong(Chunk::lengthBytes).sum();
        // Plain rows have 40 bytes; "all" has 8, "given_up" 4 in half of the rows.
        assertThat(encodedBytes).isLessThan(18L * ROWS);
    }

    @Test
    void shouldHandOnValuesWhereAColumnGaveUpItsDictionary() throws Exception {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("all", ColumnType.INT64),
                        Column.of("given_up", ColumnType.INT32));
        List<Chunk> chunks = read(write(rows(7)), ColumnConditions.NONE, schema);
        assertThat(chunks.get(0)).isInstanceOf(EncodedChunk.class);
        assertThat(chunks.get(chunks.size() - 1)).isNotInstanceOf(EncodedChunk.class);
    }

    @Test
    void shouldDecodeRowsUnderConditions() throws Exception {
        List<List<Object>> rows = rows(8);
        var isOne = new ColumnCondition("few", new RangeCondition(ValueRanges.between(1, 1)));
        List<Chunk> chunks = read(write(rows), () -> List.of(isOne), SCHEMA);
        assertThat(values(chunks))
                .isEqualTo(rows.stream().filter(row -> row.get(0).equals(1L)).toList());
        assertThat(chunks)
                .allSatisfy(chunk -> assertThat(chunk).isNotInstanceOf(EncodedChunk.class));
    }

    @Test
    void shouldContinueFromThePositionOfAnyEncodedChunk() throws Exception {
        List<List<Object>> rows = rows(9);
        Path file = write(rows);
        long length = Files.size(file);
        var split =
                new ColumnarSplit(
                        new org.apache.flink.core.fs.Path(file.toUri()), 0, length, length);
        ParquetFormat format = ParquetFormat.of(SCHEMA);
        List<Chunk> chunks = new ArrayList<>();
        ColumnarPosition position = ColumnarPosition.START;
        for (boolean hasMore = true; hasMore; ) {
            try (ColumnarReader reader = format.open(split, position)) {
                Chunk chunk = reader.read();
                hasMore = chunk != null;
                if (hasMore) {
                    chunks.add(chunk);
                    position = reader.position();
                }
            }
        }
        assertThat(values(chunks)).isEqualTo(rows);
    }

    @Test
    void shouldNameFileRowGroupAndColumnOfACodeThatHasNoValue() throws Exception {
        List<List<Object>> rows = new ArrayList<>(rows(10));
        Path file = write(rows);
        byte[] bytes = Files.readAllBytes(file);
        Random random = new Random(10);
        int failures = 0;
        for (int i = 0; i < 200; i++) {
            byte[] damaged = bytes.clone();
            damaged[4 + random.nextInt(bytes.length / 4)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            try {
                values(read(file, ColumnConditions.NONE, SCHEMA));
            } catch (IOException e) {
                failures++;
                assertThat(e).hasMessageContaining("t.parquet").hasMessageContaining("rowGroup=0");
            }
        }
        assertThat(failures).isPositive();
    }

    @Test
    void shouldRejectANullInAColumnThatIsReadAsNotNullable() throws Exception {
        Path file = folder.resolve("n.parquet");
        SimpleGroupFactory groups = new SimpleGroupFactory(TYPE);
        try (ParquetWriter<org.apache.parquet.example.data.Group> writer =
                ExampleParquetWriter.builder(new LocalOutputFile(file))
                        .withType(TYPE)
                        .withConf(new PlainParquetConfiguration())
                        .build()) {
            for (int i = 0; i < ROWS; i++) {
                var row = groups.newGroup().append("few", 1L).append("growing", 1);
                if (i != 70_000) {
                    row.append("sorted", 1);
                }
                writer.write(row.append("one", 1.0).append("all", 1L).append("given_up", 1));
            }
        }
        assertThatThrownBy(() -> read(file, ColumnConditions.NONE, SCHEMA))
                .isInstanceOf(FileSchemaException.class)
                .hasMessage(
                        "Null in a column that is declared as not nullable: column=sorted, rowGroup=0, row=70000, file=file:%s. Declare it with Column.nullable."
                                .formatted(file));
    }
}
