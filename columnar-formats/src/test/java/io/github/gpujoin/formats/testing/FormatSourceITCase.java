// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.formats.arrow.ArrowFormat;
import io.github.gpujoin.formats.avro.AvroFormat;
import io.github.gpujoin.formats.text.TextColumn;
import io.github.gpujoin.formats.text.TextFormat;
import io.github.gpujoin.formats.text.TextType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads files of each format in a job that restarts. */
@Timeout(120)
class FormatSourceITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int FILES = 3;
    private static final int ROWS = 100_000;

    private static final ChunkSchema ROW =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("name", ColumnType.STRING));

    private static final TextColumn[] TEXT = {
        TextColumn.of("id", TextType.INT64), TextColumn.of("name", TextType.TEXT)
    };

    @TempDir Path folder;

    /** The formats, each with a writer of rows from an id on. */
    enum Kind {
        TBL(TextFormat.tbl(TEXT)) {
            @Override
            void write(Path file, int first) throws IOException {
                StringBuilder text = new StringBuilder();
                for (int i = first; i < first + ROWS; i++) {
                    text.append(i).append("|row ").append(i).append("|\n");
                }
                Files.writeString(file, text);
            }
        },
        CSV(TextFormat.csv(TEXT)) {
            @Override
            void write(Path file, int first) throws IOException {
                StringBuilder text = new StringBuilder("name,id\n");
                for (int i = first; i < first + ROWS; i++) {
                    text.append("\"row, ").append(i).append("\",").append(i).append('\n');
                }
                Files.writeString(file, text);
            }
        },
        AVRO(AvroFormat.of(ROW)) {
            @Override
            void write(Path file, int first) throws IOException {
                Schema schema =
                        SchemaBuilder.record("row")
                                .fields()
                                .requiredString("name")
                                .requiredLong("id")
                                .endRecord();
                try (DataFileWriter<GenericRecord> writer =
                        new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
                    writer.create(schema, file.toFile());
                    for (int i = first; i < first + ROWS; i++) {
                        GenericRecord row = new GenericData.Record(schema);
                        row.put("id", (long) i);
                        row.put("name", "row " + i);
                        writer.append(row);
                    }
                }
            }
        },
        ARROW(ArrowFormat.of(ROW)) {
            @Override
            void write(Path file, int first) throws IOException {
                int batchRows = ROWS / 20;
                try (BufferAllocator allocator = new RootAllocator();
                        BigIntVector id = new BigIntVector("id", allocator);
                        VarCharVector name = new VarCharVector("name", allocator);
                        VectorSchemaRoot root = VectorSchemaRoot.of(name, id);
                        OutputStream out = Files.newOutputStream(file);
                        ArrowFileWriter writer =
                                new ArrowFileWriter(root, null, Channels.newChannel(out))) {
                    for (int batch = first; batch < first + ROWS; batch += batchRows) {
                        for (int i = 0; i < batchRows; i++) {
                            String text = "row " + (batch + i);
                            id.setSafe(i, batch + i);
                            name.setSafe(i, text.getBytes(StandardCharsets.UTF_8));
                        }
                        root.setRowCount(batchRows);
                        writer.writeBatch();
                    }
                    writer.end();
                }
            }
        };

        final ColumnarFormat format;

        Kind(ColumnarFormat format) {
            this.format = format;
        }

        abstract void write(Path file, int first) throws IOException;
    }

    @ParameterizedTest
    @CsvSource({"TBL, false", "TBL, true", "CSV, false", "CSV, true"})
    void shouldReadNoRowsFromTextFilesOfNoBytes(Kind kind, boolean isWatched) throws Exception {
        Files.createFile(folder.resolve("empty"));
        kind.write(folder.resolve("rows"), 0);
        assertThat(readRows(kind, isWatched)).hasSize(ROWS).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({"AVRO, false", "AVRO, true", "ARROW, false", "ARROW, true"})
    void shouldRejectOtherFilesOfNoBytesByName(Kind kind, boolean isWatched) throws Exception {
        Path file = Files.createFile(folder.resolve("empty"));
        assertThatThrownBy(() -> readRows(kind, isWatched))
                .hasStackTraceContaining(", or damaged: file=file:" + file);
    }

    static List<Arguments> otherSchemas() {
        ChunkSchema absent = ChunkSchema.of(Column.of("absent", ColumnType.INT64));
        ChunkSchema number = ChunkSchema.of(Column.of("name", ColumnType.INT64));
        TextColumn[] column = {TextColumn.of("absent", TextType.INT64)};
        return List.of(
                Arguments.of(Kind.CSV, TextFormat.csv(column), "Header lacks a column"),
                Arguments.of(Kind.AVRO, AvroFormat.of(absent), "Column is not in the Avro file"),
                Arguments.of(Kind.AVRO, AvroFormat.of(number), "Column has another type in the"),
                Arguments.of(Kind.ARROW, ArrowFormat.of(absent), "Column is not in the Arrow file"),
                Arguments.of(Kind.ARROW, ArrowFormat.of(number), "Column has another type in the"));
    }

    @ParameterizedTest
    @MethodSource("otherSchemas")
    void shouldNotRestartIfAFileHasAnotherSchema(Kind kind, ColumnarFormat format, String message)
            throws Exception {
        kind.write(folder.resolve("rows"), 0);
        assertThatThrownBy(() -> readRows(format, false))
                .hasStackTraceContaining(message)
                .hasStackTraceContaining(RestartingJob.NOT_RECOVERABLE);
    }

    private List<Long> readRows(Kind kind, boolean isWatched) throws Exception {
        return readRows(kind.format, isWatched);
    }

    private List<Long> readRows(ColumnarFormat format, boolean isWatched) throws Exception {
        RestartingJob.failAt(Integer.MAX_VALUE);
        ColumnarSource source =
                ColumnarSource.of(format, new org.apache.flink.core.fs.Path(folder.toUri()));
        if (isWatched) {
            source = source.watch(Duration.ofMillis(20));
        }
        List<Long> ids = new ArrayList<>();
        try (CloseableIterator<Long> read =
                RestartingJob.ids(RestartingJob.environment(), source)) {
            while (ids.size() < ROWS && read.hasNext()) {
                ids.add(read.next());
            }
        }
        return ids;
    }

    /** Results are collected exactly once, so rows that were read twice would be there twice. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void shouldReadEachRowOnceAcrossARestart(Kind kind) throws Exception {
        for (int i = 0; i < FILES; i++) {
            kind.write(folder.resolve("part-" + i), i * ROWS);
        }
        RestartingJob.failAt(12);
        StreamExecutionEnvironment env = RestartingJob.environment();
        env.enableCheckpointing(10);
        ColumnarSource source =
                ColumnarSource.of(kind.format, new org.apache.flink.core.fs.Path(folder.toUri()));
        List<Long> ids = CollectionUtil.iteratorToList(RestartingJob.ids(env, source));
        assertThat(RestartingJob.hasFailed()).isTrue();
        assertThat(ids).hasSize(FILES * ROWS).doesNotHaveDuplicates();
    }
}
