// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

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
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;

/**
 * Avro container files of records. A reader decodes only the fields of its schema, and the blocks
 * whose sync marker, that before the block, starts in its split. A checkpoint holds the block and
 * the row in it.
 *
 * <table>
 *   <caption>Types</caption>
 *   <tr><th>Avro</th><th>chunk</th></tr>
 *   <tr><td>boolean</td><td>INT8, 0 or 1</td></tr>
 *   <tr><td>int, long, float, double</td><td>INT32, INT64, FLOAT32, FLOAT64</td></tr>
 *   <tr><td>date</td><td>INT32, days since 1970</td></tr>
 *   <tr><td>time, timestamp</td><td>INT32 or INT64 in the unit of the file</td></tr>
 *   <tr><td>decimal of at most 18 digits</td><td>INT64, a count of its last digit</td></tr>
 *   <tr><td>other decimals, bytes, fixed</td><td>BYTES, as they are stored</td></tr>
 *   <tr><td>string, enum</td><td>STRING</td></tr>
 *   <tr><td>union of null and one of these</td><td>the same, nullable</td></tr>
 * </table>
 *
 * <p>The schema may declare a wider integer than the file has, and a union with null as not
 * nullable: it is then an array in the chunk, which joins read fastest. A null in it fails the job.
 */
@PublicEvolving
public final class AvroFormat implements ColumnarFormat {

    private static final long serialVersionUID = 1L;

    private final ChunkSchema schema;

    private AvroFormat(ChunkSchema schema) {
        this.schema = schema;
    }

    /**
     * Reads fields of known types. Each file must have them, in any order; it may have others.
     *
     * @param schema the columns
     * @return the format
     */
    public static AvroFormat of(ChunkSchema schema) {
        return new AvroFormat(Objects.requireNonNull(schema, "schema"));
    }

    /**
     * Reads fields whose types a file tells; unions with null are nullable.
     *
     * @param file any of the files
     * @param columns names, or none for all
     * @return the format
     * @throws FileSchemaException if the file lacks a field
     * @throws IOException if the file cannot be read, or is no Avro container file
     * @throws IllegalArgumentException if chunks have no type for a field
     */
    public static AvroFormat like(Path file, String... columns) throws IOException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(columns, "columns");
        long length = file.getFileSystem().getFileStatus(file).getLen();
        try (DataFileReader<Void> reader = AvroReader.open(new AvroInput(file, length), file)) {
            List<Column> found = new ArrayList<>();
            if (columns.length == 0) {
                for (Schema.Field field : reader.getSchema().getFields()) {
                    found.add(AvroColumn.of(field).column(field.name()));
                }
            }
            for (String name : columns) {
                Schema.Field field = AvroColumn.require(reader.getSchema(), name, file);
                found.add(AvroColumn.of(field).column(name));
            }
            return new AvroFormat(ChunkSchema.of(found));
        }
    }

    @Override
    public ChunkSchema schema() {
        return schema;
    }

    @Override
    public boolean isSplittable() {
        return true;
    }

    @Override
    public ColumnarReader open(ColumnarSplit split, ColumnarPosition from) throws IOException {
        return AvroReader.open(schema, FileColumns.CHUNK_BYTES, split, from);
    }
}
