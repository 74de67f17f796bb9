// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * The condition of each step of a join of several inputs, besides equal keys. Called by one thread
 * at a time.
 */
@FunctionalInterface
public interface MultiJoinCondition {

    /** The condition that all rows meet. */
    MultiJoinCondition ALWAYS = (input, chunks, rows) -> true;

    /**
     * Returns whether a row of an input matches rows of the inputs before it. Must not keep or
     * change the arrays and chunks.
     *
     * @param input of the row, at least 1
     * @param chunks with the rows of the inputs up to this one; null for an input that had no match
     *     in its own step. Later elements have no meaning.
     * @param rows numbers of the rows in their chunks
     */
    boolean matches(int input, @Nullable Chunk[] chunks, int[] rows);
}
