// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * Some results of one submitted chunk, in the order in which they are emitted. Valid until the next
 * call of the join. A result refers to a row of either input, or to none where the other row has no
 * match or the kind of the join returns only one side.
 */
public interface SymmetricBatch {

    /** Returns the number of results, 0 or more. */
    int resultCount();

    /**
     * Returns the number of leading rows of the submitted chunk whose results are complete with
     * this batch. A join that restarts submits the chunk from this row on. A batch that ends amid
     * the results of a row contains results of no other row, so that a caller can tell which
     * results a restart repeats.
     */
    int completedRows();

    /** Whether this is the last batch of its chunk. */
    boolean isLast();

    /** Returns whether a result is added or retracted downstream. */
    ChangeKind kind(int result);

    /** Returns the chunk of the row of an input, or null if the result has none. */
    @Nullable Chunk chunk(JoinSide side, int result);

    /** Returns the number of the row in {@link #chunk}; of no meaning if that is null. */
    int row(JoinSide side, int result);
}
