// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.fs.Path;

/** Checks the columns of files that are read as chunks. */
@Internal
public final class FileColumns {

    /** Bytes of rows in a chunk. */
    public static final int CHUNK_BYTES = 256 << 10;

    private FileColumns() {}

    /**
     * Checks that a column of a file can be read as one of a chunk, which has the same type or a
     * wider integer.
     *
     * @param stored type of the column in the file
     * @param format of the file, for the message
     * @throws FileSchemaException if it cannot
     */
    public static void requireReadable(Column column, ColumnType stored, String format, Path file)
            throws FileSchemaException {
        boolean isWider =
                column.type().isInteger()
                        && stored.isInteger()
                        && column.type().widthBytes() >= stored.widthBytes();
        if (column.type() != stored && !isWider) {
            throw new FileSchemaException(
                    "Column has another type in the %s file".formatted(format),
                    "column=%s, stored=%s, declared=%s"
                            .formatted(column.name(), stored, column.type()),
                    file,
                    "Declare the stored type, or a wider integer for an integer");
        }
    }

    /**
     * Returns the exception for a column that a file lacks.
     *
     * @param fault where the column is missing
     * @param columns names of the columns that the file has
     */
    public static FileSchemaException absent(
            String fault, String column, List<String> columns, Path file) {
        String remedy =
                columns.stream()
                        .filter(column::equalsIgnoreCase)
                        .findFirst()
                        .map("Names are case-sensitive, use '%s'"::formatted)
                        .orElse("Use a name that the file has, or read another file");
        return new FileSchemaException(
                fault, "column=%s, columns=%s".formatted(column, columns), file, remedy);
    }

    /**
     * Returns the exception for a null in a column that is declared as not nullable.
     *
     * @param row number and place of the row, for the message
     */
    public static FileSchemaException unexpectedNull(String column, String row, Path file) {
        return new FileSchemaException(
                "Null in a column that is declared as not nullable",
                "column=%s, %s".formatted(column, row),
                file,
                "Declare it with Column.nullable");
    }
}
