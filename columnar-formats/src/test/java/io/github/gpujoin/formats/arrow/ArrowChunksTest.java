// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import static java.nio.charset.StandardCharsets.UTF_8;
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
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArrowChunksTest {

    private static final ArrowFormat TEXTS =
            ArrowFormat.of(
                    ChunkSchema.of(
                            Column.of("text", ColumnType.STRING),
                            Column.of("id", ColumnType.INT64)));

    private static final DictionaryEncoding ENCODING =
            new DictionaryEncoding(1, false, new ArrowType.Int(32, true));

    @TempDir Path folder;

    /** Writes one batch of ascending ids and equal texts. */
    private Path writeTexts(int textBytes, int rowCount) throws IOException {
        Path file = folder.resolve("texts.arrow");
        byte[] value = "x".repeat(textBytes).getBytes(UTF_8);
        try (BufferAllocator allocator = new RootAllocator();
                BigIntVector id = new BigIntVector("id", allocator);
                VarCharVector text = new VarCharVector("text", allocator);
                OutputStream out = Files.newOutputStream(file)) {
            for (int i = 0; i < rowCount; i++) {
                id.setSafe(i, i);
                text.setSafe(i, value);
            }
            write(new MapDictionaryProvider(), out, VectorSchemaRoot.of(id, text), rowCount);
        }
        return file;
    }

    private static void write(
            MapDictionaryProvider dictionaries,
            OutputStream out,
            VectorSchemaRoot root,
            int rowCount)
            throws IOException {
        root.setRowCount(rowCount);
        try (ArrowFileWriter writer =
                new ArrowFileWriter(root, dictionaries, Channels.newChannel(out))) {
            writer.start();
            writer.writeBatch();
            writer.end();
        }
    }

    @ParameterizedTest
    @CsvSource({"100000, 300", "2500000, 5"})
    void shouldEndChunksOfLargeTextsAtTheirSize(int textBytes, int rowCount) throws IOException {
        Path file = writeTexts(textBytes, rowCount);
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (ColumnarReader reader = TEXTS.open(FormatRows.whole(file), ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                assertThat(chunk.lengthBytes())
                        .isLessThan(FileColumns.CHUNK_BYTES + textBytes + 10_000);
                FormatRows.addRows(chunk, rows);
                assertThat(reader.position().rows()).isEqualTo(rows.size());
            }
        }
        List<Long> ids = LongStream.range(0, rowCount).boxed().toList();
        assertThat(rows).extracting(row -> row.get(1)).isEqualTo(ids);
        assertThat(FormatRows.readInPieces(TEXTS, file, new Random(1)))
                .extracting(row -> row.get(1))
                .isEqualTo(ids);
    }

    @Test
    void shouldRejectAPositionBehindTheRowsOfItsRecordBatch() throws IOException {
        Path file = writeTexts(10, 100);
        ColumnarPosition end;
        try (ColumnarReader reader = TEXTS.open(FormatRows.whole(file), ColumnarPosition.START)) {
            reader.read();
            end = reader.position();
        }
        assertThat(FormatRows.read(TEXTS, FormatRows.whole(file), end)).isEmpty();
        ColumnarPosition behind = new ColumnarPosition(end.offset(), end.rows() + 1);
        assertThatThrownBy(() -> TEXTS.open(FormatRows.whole(file), behind))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("File has changed since the checkpoint: row=101, rows=100")
                .hasMessageContaining("texts.arrow");
    }

    /** Writers may build dictionaries with a null before they know which values rows have. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldRejectANullOfADictionaryOnlyIfARowRefersToIt(boolean isNullUsed) throws IOException {
        Path file = folder.resolve("colors.arrow");
        try (BufferAllocator allocator = new RootAllocator();
                VarCharVector colors = new VarCharVector("colors", allocator);
                IntVector color =
                        new IntVector(
                                "color",
                                new FieldType(true, new ArrowType.Int(32, true), ENCODING),
                                allocator);
                OutputStream out = Files.newOutputStream(file)) {
            colors.setSafe(0, "red".getBytes(UTF_8));
            colors.setNull(1);
            colors.setValueCount(2);
            color.setSafe(0, 0);
            color.setSafe(1, isNullUsed ? 1 : 0);
            write(
                    new MapDictionaryProvider(new Dictionary(colors, ENCODING)),
                    out,
                    VectorSchemaRoot.of(color),
                    2);
        }
        ArrowFormat format = ArrowFormat.of(ChunkSchema.of(Column.of("color", ColumnType.STRING)));
        if (isNullUsed) {
            assertThatThrownBy(() -> FormatRows.read(format, file))
                    .isInstanceOf(FileSchemaException.class)
                    .hasMessageStartingWith(
                            "Null in a column that is declared as not nullable: column=color, recordBatchOffset=")
                    .hasMessageEndingWith(
                            ", row=1, file=file:%s. Declare it with Column.nullable."
                                    .formatted(file));
        } else {
            assertThat(FormatRows.read(format, file))
                    .isEqualTo(List.of(List.of("red"), List.of("red")));
        }
    }
}
