// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;

/** The chunks of a row group that is to be written. Not thread-safe. */
final class RowGroupRows {

    /** Column of a file that a chunk lacks: null in all rows. */
    static final int MISSING = -1;

    /**
     * A chunk of the row group.
     *
     * @param columns for each column of the file its column in the chunk, or {@link #MISSING}
     */
    record Part(Chunk chunk, int[] columns) {

        /** Returns whether the chunk has a column of the file, as an array of values. */
        boolean isFixed(int column) {
            return columns[column] != MISSING && chunk.schema().column(columns[column]).isFixed();
        }

        boolean isMissing(int column) {
            return columns[column] == MISSING;
        }
    }

    private final List<Part> parts = new ArrayList<>();
    private int rowCount;
    private long bytes;

    void add(Chunk chunk, int[] columns) {
        parts.add(new Part(chunk, columns));
        rowCount = Math.addExact(rowCount, chunk.rowCount());
        bytes += chunk.lengthBytes();
    }

    List<Part> parts() {
        return parts;
    }

    int rowCount() {
        return rowCount;
    }

    /** Returns the bytes of all chunks. */
    long bytes() {
        return bytes;
    }

    /** Returns whether each chunk that has a column of the file has it as an array of values. */
    boolean isFixed(int column) {
        return parts.stream().allMatch(part -> part.isMissing(column) || part.isFixed(column));
    }
}
