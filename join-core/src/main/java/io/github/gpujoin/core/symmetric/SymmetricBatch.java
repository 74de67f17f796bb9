// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * Some results of one submitted chunk, in the order in which they are emitted. Valid until the next
 * call of the join. A result refers to a row of each input, or to none where another row has no
 * match or the kind of the join returns only one side.
 */
public interface SymmetricBatch {

    /** Returns the number of results, 0 or more. */
    int resultCount();

    /**
     * Returns the number of leading rows of the submitted chunk whose results are complete with
     * this batch. A join that restarts submits the chunk from this row on.
     */
    int completedRows();

    /**
     * Whether the batch ends amid the results of the row that follows the completed ones. It then
     * contains results of no other row. A restart would repeat them.
     */
    boolean endsAmidRow();

    /** Whether this is the last batch of its chunk. */
    boolean isLast();

    /** Returns whether a result is added or retracted downstream. */
    ChangeKind kind(int result);

    /** Returns the chunk of the row of an input, or null if the result has none. */
    @Nullable Chunk chunk(int input, int result);

    /** Returns the number of the row in {@link #chunk}; of no meaning if that is null. */
    int row(int input, int result);
}
