// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnConditions;
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
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/**
 * Parquet files without nested columns. A reader reads only the columns of its schema. Splits share
 * a row group that has a page index; one without belongs to the split in which its middle lies. A
 * checkpoint holds the row group and the row in it.
 *
 * <table>
 *   <caption>Types</caption>
 *   <tr><th>Parquet</th><th>chunk</th></tr>
 *   <tr><td>BOOLEAN</td><td>INT8, 0 or 1</td></tr>
 *   <tr><td>INT32, INT64, INT(8 to 64, signed)</td><td>INT8 to INT64</td></tr>
 *   <tr><td>INT(8, 16, 32, unsigned)</td><td>INT16, INT32, INT64</td></tr>
 *   <tr><td>DATE</td><td>INT32, days since 1970</td></tr>
 *   <tr><td>TIME, TIMESTAMP</td><td>INT32 or INT64 in the unit of the file</td></tr>
 *   <tr><td>INT96</td><td>INT64, nanoseconds since 1970</td></tr>
 *   <tr><td>DECIMAL of at most 18 digits</td><td>INT32 or INT64, a count of its last digit</td></tr>
 *   <tr><td>DECIMAL of more digits, UUID, BINARY, FIXED</td><td>BYTES, as they are stored</td></tr>
 *   <tr><td>FLOAT, DOUBLE</td><td>FLOAT32, FLOAT64</td></tr>
 *   <tr><td>STRING, ENUM, JSON</td><td>STRING</td></tr>
 * </table>
 *
 * <p>The schema may declare a wider integer than the file has, and a column that a file declares
 * OPTIONAL as not nullable: it is then an array in the chunk, which joins read fastest. A null in
 * it fails the job.
 */
@PublicEvolving
public final class ParquetFormat implements ColumnarFormat {

    private static final long serialVersionUID = 1L;

    private final ChunkSchema schema;

    private ParquetFormat(ChunkSchema schema) {
        this.schema = schema;
    }

    /** Reads columns of known types. Each file must have them, in any order; it may have others. */
    public static ParquetFormat of(ChunkSchema schema) {
        return new ParquetFormat(Objects.requireNonNull(schema, "schema"));
    }

    /**
     * Reads columns whose types a file tells; columns that it declares OPTIONAL are nullable.
     *
     * @param columns names, or none for all
     * @throws FileSchemaException if the file lacks a column
     * @throws IOException if the file cannot be read, or is no Parquet file
     * @throws IllegalArgumentException if chunks have no type for a column
     */
    public static ParquetFormat like(Path file, String... columns) throws IOException {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(columns, "columns");
        long length = file.getFileSystem().getFileStatus(file).getLen();
        try (ParquetFile opened = ParquetFile.open(file, length)) {
            MessageType types = opened.types();
            List<Column> found = new ArrayList<>();
            if (columns.length == 0) {
                types.getFields().forEach(field -> found.add(ParquetColumn.column(field)));
            }
            for (String name : columns) {
                found.add(ParquetColumn.column(ParquetReader.requireColumn(types, name, file)));
            }
            return new ParquetFormat(ChunkSchema.of(found));
        }
    }

    /**
     * Reads all columns of one file. A column is nullable only if the file may have nulls in it, by
     * its statistics. Other files may have them, so {@link #like} suits a set of files.
     *
     * @throws IOException if the file cannot be read, or is no Parquet file
     * @throws IllegalArgumentException if chunks have no type for a column
     */
    public static ParquetFormat ofFile(Path file) throws IOException {
        Objects.requireNonNull(file, "file");
        long length = file.getFileSystem().getFileStatus(file).getLen();
        try (ParquetFile opened = ParquetFile.open(file, length)) {
            List<Column> columns = new ArrayList<>();
            for (Type field : opened.types().getFields()) {
                Column column = ParquetColumn.column(field);
                columns.add(
                        column.nullable() && !opened.mayHaveNulls(field.getName())
                                ? Column.of(column.name(), column.type())
                                : column);
            }
            return new ParquetFormat(ChunkSchema.of(columns));
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
        return open(split, from, ColumnConditions.NONE);
    }

    @Override
    public ColumnarReader open(
            ColumnarSplit split, ColumnarPosition from, ColumnConditions conditions)
            throws IOException {
        return ParquetReader.open(schema, FileColumns.CHUNK_BYTES, split, from, conditions);
    }
}
