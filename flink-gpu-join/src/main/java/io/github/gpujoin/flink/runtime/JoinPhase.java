// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

/** Phases of the join operator, in order. */
public enum JoinPhase {
    /** Dimensions are loaded; facts wait in state. */
    LOAD,
    /** Dimensions are complete; facts are joined as they arrive. */
    JOIN;

    /**
     * The next phase.
     *
     * @throws IllegalStateException if {@code next} precedes this phase
     */
    JoinPhase to(JoinPhase next) {
        if (next.ordinal() < ordinal()) {
            throw new IllegalStateException(
                    "Join phase before the current one: phase=" + this + ", next=" + next);
        }
        return next;
    }
}
