// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/**
 * Which results a bulk join returns, as in SQL. For semi and anti joins of the right input, swap
 * the inputs.
 */
public enum BulkJoinKind {
    /** A pair for each match. */
    INNER(true, false, false),
    /** Pairs, and the left rows without a match. */
    LEFT(true, true, false),
    /** Pairs, and the right rows without a match. */
    RIGHT(true, false, true),
    /** Pairs, and the rows of both inputs without a match. */
    FULL(true, true, true),
    /** Each left row with a match, once. */
    SEMI(false, false, false),
    /** The left rows without a match. */
    ANTI(false, true, false);

    private final boolean returnsPairs;
    private final boolean keepsUnmatchedLeft;
    private final boolean keepsUnmatchedRight;

    BulkJoinKind(boolean returnsPairs, boolean keepsUnmatchedLeft, boolean keepsUnmatchedRight) {
        this.returnsPairs = returnsPairs;
        this.keepsUnmatchedLeft = keepsUnmatchedLeft;
        this.keepsUnmatchedRight = keepsUnmatchedRight;
    }

    /** Whether a match is a result of its own, with columns of both inputs. */
    public boolean returnsPairs() {
        return returnsPairs;
    }

    /** Whether rows of an input without a match are results. */
    public boolean keepsUnmatched(JoinSide side) {
        return side == JoinSide.LEFT ? keepsUnmatchedLeft : keepsUnmatchedRight;
    }

    /** Whether some results have columns of an input. */
    public boolean returns(JoinSide side) {
        return returnsPairs || side == JoinSide.LEFT;
    }
}
