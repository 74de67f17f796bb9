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

/**
 * A file of rows, and which of its columns is the key.
 *
 * @param columns its columns, in order
 * @param schema file of the schema with which it is read; null for its own
 */
public record RecordFile(
        Path path, FileFormat format, RowType columns, int keyColumn, Path schema) {

    /**
     * Reads and checks what a file says of its columns.
     *
     * @param format null to tell it by the file's name
     * @param schema file of an Avro schema with which to read; null for the file's own
     * @throws UserError where the file is missing or not of the format, or has no such column
     */
    public static RecordFile open(Path path, FileFormat format, String key, Path schema) {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            throw new UserError("the file cannot be read: file=" + path);
        }
        FileFormat found = format == null ? FileFormat.of(path) : format;
        if (schema != null && found != FileFormat.AVRO) {
            throw new UserError("a schema can be given for an Avro file alone: file=" + path);
        }
        RowType columns = found.records().columns(path, schema);
        int keyColumn = columns.getFieldIndex(key);
        if (keyColumn < 0) {
            throw new UserError(
                    "there is no such column: file="
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
     * Whether every key that is not null is a 64-bit integer, by its type or, in a CSV file, by
     * what stands there.
     */
    boolean hasIntegerKeys() {
        return keyType().is(LogicalTypeFamily.INTEGER_NUMERIC)
                || format == FileFormat.CSV && CsvHeader.read(path).hasIntegerKeys(keyColumn);
    }
}
