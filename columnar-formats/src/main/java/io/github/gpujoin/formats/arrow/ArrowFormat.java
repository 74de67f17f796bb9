// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;

/**
 * Arrow IPC: files (Feather version 2) and streams. A reader of a file reads the record batches
 * whose first byte lies in its split; one reader reads all of a stream. A checkpoint holds the
 * record batch and the row in it. Dictionaries are expanded, and compressed buffers decompressed:
 * ZSTD, and LZ4 if the class path has commons-io 2.16 or later, which Flink 2.3 has not.
 *
 * <table>
 *   <caption>Types</caption>
 *   <tr><th>Arrow</th><th>chunk</th></tr>
 *   <tr><td>Bool</td><td>INT8, 0 or 1</td></tr>
 *   <tr><td>Int(8 to 64, signed)</td><td>INT8 to INT64</td></tr>
 *   <tr><td>Int(8, 16, 32, unsigned)</td><td>INT16, INT32, INT64</td></tr>
 *   <tr><td>Date(DAY)</td><td>INT32, days since 1970</td></tr>
 *   <tr><td>Date(MILLISECOND), Time, Timestamp, Duration</td>
 *       <td>INT32 or INT64 in the unit of the file</td></tr>
 *   <tr><td>Decimal of at most 18 digits</td><td>INT64, a count of its last digit</td></tr>
 *   <tr><td>other Decimal, Binary, FixedSizeBinary</td><td>BYTES, as they are stored</td></tr>
 *   <tr><td>FloatingPoint(SINGLE, DOUBLE)</td><td>FLOAT32, FLOAT64</td></tr>
 *   <tr><td>Utf8</td><td>STRING</td></tr>
 * </table>
 *
 * <p>The schema may declare a wider integer than the file has, and a nullable field as not
 * nullable: it is then an array in the chunk, which joins read fastest. A null in it fails the job.
 * A stream may end at any record batch, so one that lost its last batches is not found out.
 *
 * <p>Arrow needs {@code --add-opens=java.base/java.nio=ALL-UNNAMED}, which Flink's scripts set.
 */
@PublicEvolving
public final class ArrowFormat implements ColumnarFormat {

    private static final long serialVersionUID = 1L;

    private final ChunkSchema schema;
    private final boolean isStream;

    private ArrowFormat(ChunkSchema schema, boolean isStream) {
        this.schema = Objects.requireNonNull(schema, "schema");
        this.isStream = isStream;
    }

    /**
     * Reads columns of known types of files. Each file must have them, in any order; it may have
     * others.
     *
     * @param schema the columns
     * @return the format
     */
    public static ArrowFormat of(ChunkSchema schema) {
        return new ArrowFormat(schema, false);
    }

    /**
     * Reads columns of known types of streams.
     *
     * @param schema the columns
     * @return the format
     */
    public static ArrowFormat ofStreams(ChunkSchema schema) {
        return new ArrowFormat(schema, true);
    }

    /**
     * Reads columns whose types a file or stream tells; nullable fields are nullable.
     *
     * @param file any of the files
     * @param columns names, or none for all
     * @return the format of files or of streams, as this one is
     * @throws FileSchemaException if the file lacks a column
     * @throws IOException if the file cannot be read, or is not Arrow
     * @throws IllegalArgumentException if chunks have no type for a column
     */
    public static ArrowFormat like(Path file, String... columns) throws IOException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(columns, "columns");
        long length = file.getFileSystem().getFileStatus(file).getLen();
        boolean isStream = !ArrowBatches.isFile(file);
        try (ArrowBatches batches = ArrowBatches.open(file, length, isStream)) {
            List<Column> found = new ArrayList<>();
            if (columns.length == 0) {
                for (String name : batches.names()) {
                    found.add(batches.column(name).chunkColumn());
                }
            }
            for (String name : columns) {
                found.add(batches.column(name).chunkColumn());
            }
            return new ArrowFormat(ChunkSchema.of(found), isStream);
        }
    }

    @Override
    public ChunkSchema schema() {
        return schema;
    }

    @Override
    public boolean isSplittable() {
        return !isStream;
    }

    @Override
    public ColumnarReader open(ColumnarSplit split, ColumnarPosition from) throws IOException {
        ArrowBatches batches = ArrowBatches.open(split.path(), split.fileBytes(), isStream);
        return ArrowChunks.open(batches, schema, FileColumns.CHUNK_BYTES, split, from);
    }
}
