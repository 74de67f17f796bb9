// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import java.io.Closeable;
import java.io.IOException;
import org.apache.flink.annotation.PublicEvolving;
import org.jspecify.annotations.Nullable;

/** Reads the rows of one split, chunk by chunk. Used by one thread at a time. */
@PublicEvolving
public interface ColumnarReader extends Closeable {

    /**
     * Returns the next rows in a chunk that does not change, or null at the end of the split. A
     * reader that skips many rows returns a chunk without rows now and then: between two calls the
     * source counts what was skipped, and stops if its job is cancelled.
     *
     * @return the rows, or null
     * @throws IOException if the file cannot be read or is damaged; the message names the file and
     *     the place in it. No later call is made
     */
    @Nullable Chunk read() throws IOException;

    /**
     * Returns the position of the row after the last chunk: where a restored reader starts.
     *
     * @return the position
     */
    ColumnarPosition position();

    /**
     * Returns how many rows the reader has skipped because they fail a condition.
     *
     * @return the number of rows since the reader was opened
     */
    default long rowsSkipped() {
        return 0;
    }
}
