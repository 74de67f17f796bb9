// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.layout.Chunk;

/** A condition on two rows with equal keys, part of their match. Called by one thread at a time. */
@FunctionalInterface
public interface MatchCondition {

    /** The condition that every pair meets. */
    MatchCondition ALWAYS = (left, leftRow, right, rightRow) -> true;

    /**
     * Returns whether the rows match. Must not keep or change the chunks.
     *
     * @param leftRow number of the row in {@code left}
     * @param rightRow number of the row in {@code right}
     */
    boolean matches(Chunk left, int leftRow, Chunk right, int rightRow);
}
