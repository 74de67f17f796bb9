// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;

/**
 * A row of a split, as checkpoints hold it.
 *
 * @param offset in the file of a row, block or row group
 * @param rows between it and the row
 */
@PublicEvolving
public record ColumnarPosition(long offset, long rows) {

    /** The first row of a split. */
    public static final ColumnarPosition START =
            new ColumnarPosition(CheckpointedPosition.NO_OFFSET, 0);

    /**
     * Tells whether this is the start of a split, for which a format knows no offset yet.
     *
     * @return whether it is
     */
    public boolean isStart() {
        return offset == CheckpointedPosition.NO_OFFSET;
    }
}
