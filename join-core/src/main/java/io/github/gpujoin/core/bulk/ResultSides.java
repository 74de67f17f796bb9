// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/** The inputs whose columns a result row has. */
public enum ResultSides {
    /** A left and a right row with equal keys. */
    BOTH,
    /** A left row: one without a match, or the result of a semi join. */
    LEFT,
    /** A right row without a match. */
    RIGHT;

    public boolean contains(JoinSide side) {
        return this == BOTH || this == of(side);
    }

    /** Returns the results with columns of one input only. */
    public static ResultSides of(JoinSide side) {
        return side == JoinSide.LEFT ? LEFT : RIGHT;
    }
}
