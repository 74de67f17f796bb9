// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A file format whose rows a {@link ColumnarSource} reads as chunks. A format knows the columns
 * that its user wants, and reads no others. Immutable: subtasks open readers of it on several
 * threads.
 */
@PublicEvolving
public interface ColumnarFormat extends Serializable {

    /**
     * Returns the columns of all chunks.
     *
     * @return the schema
     */
    ChunkSchema schema();

    /**
     * Tells whether several readers may read parts of one file; if not, a split is a whole file.
     *
     * @return whether they may
     */
    boolean isSplittable();

    /**
     * Opens a reader of the rows that begin in a split. Splits of a file cover it without gaps and
     * are cut at any byte, so each row, block or row group belongs to the split in which a byte of
     * it lies that the format chooses.
     *
     * @param split the part of a file
     * @param from where to start: the position of an earlier reader of the split, or {@link
     *     ColumnarPosition#START}
     * @return the reader, which its caller closes
     * @throws IOException if the file cannot be read, or is not of this format; the message names
     *     the file
     */
    ColumnarReader open(ColumnarSplit split, ColumnarPosition from) throws IOException;

    /**
     * Opens a reader that may skip rows which have no results. This method ignores the conditions.
     *
     * @param split the part of a file
     * @param from where to start
     * @param conditions of the join that reads the rows; more of them may follow at any time
     * @return the reader, which its caller closes. Its position counts skipped rows, too
     * @throws IOException if the file cannot be read, or is not of this format; the message names
     *     the file
     */
    default ColumnarReader open(
            ColumnarSplit split, ColumnarPosition from, ColumnConditions conditions)
            throws IOException {
        return open(split, from);
    }
}
