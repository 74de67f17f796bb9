// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvHeader;
import io.github.gpujoin.examples.run.Cli.UserError;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * An input file, its columns and its key column.
 *
 * @param columns columns of the file, in order
 * @param keyColumn index in {@code columns}
 * @param schema file of the Avro reader schema, or null for the schema in the file
 */
public record RecordFile(
        Path path, FileFormat format, RowType columns, int keyColumn, @Nullable Path schema) {

    /**
     * Reads and checks the columns of a file.
     *
     * @param format format of the file, or null to select it by extension
     * @param key name of the key column
     * @param schema file of the Avro reader schema, or null for the schema in the file and for
     *     other formats
     * @throws UserError if the file is missing or malformed, lacks the key column, or has a schema
     *     and is not Avro
     */
    public static RecordFile open(
            Path path, @Nullable FileFormat format, String key, @Nullable Path schema) {
        if (Files.isDirectory(path)) {
            throw new UserError("The file is a directory. Name a file in it: file=" + path);
        }
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            throw new UserError(
                    "Cannot read the file. Check the path and its permissions: file=" + path);
        }
        FileFormat found = format == null ? FileFormat.of(path) : format;
        if (schema != null && found != FileFormat.AVRO) {
            throw new UserError(
                    "A schema is set for a file that is not Avro. Remove it: file=" + path);
        }
        RowType columns = found.records().columns(path, schema);
        int keyColumn = columns.getFieldIndex(key);
        if (keyColumn < 0) {
            throw new UserError(
                    "Unknown key column. Choose one of the columns of the file: file="
                            + path
                            + ", column="
                            + key
                            + ", columns="
                            + columns.getFieldNames());
        }
        return new RecordFile(path, found, columns, keyColumn, schema);
    }

    LogicalType keyType() {
        return columns.getTypeAt(keyColumn);
    }

    /**
     * Whether every non-null key is a 64-bit integer: by the column type, or in CSV by parsing
     * every key.
     */
    boolean hasIntegerKeys() {
        return keyType().is(LogicalTypeFamily.INTEGER_NUMERIC)
                || format == FileFormat.CSV && CsvHeader.read(path).hasIntegerKeys(keyColumn);
    }
}
