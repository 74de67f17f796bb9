// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import org.apache.flink.annotation.Internal;

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
     * @throws IllegalArgumentException if it cannot
     */
    public static void requireReadable(Column column, ColumnType stored, String format) {
        boolean isWider =
                column.type().isInteger()
                        && stored.isInteger()
                        && column.type().widthBytes() >= stored.widthBytes();
        if (column.type() != stored && !isWider) {
            throw new IllegalArgumentException(
                    "Column has another type in the %s file: column=%s, stored=%s, declared=%s. Declare the stored type, or a wider integer for an integer"
                            .formatted(format, column.name(), stored, column.type()));
        }
    }
}
