// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/** States of a {@link BulkJoin}. */
public enum BulkJoinState {
    /** Accepts chunks of both inputs. */
    LOADING,
    /** Has all chunks; returns results. */
    JOINING,
    /** Has returned all results. */
    DONE,
    /** Has incomplete results after an error; only close is legal. */
    FAILED,
    /** Has freed all memory. */
    CLOSED;

    /** Whether the change of state is legal. Any state may become CLOSED. */
    public boolean canBecome(BulkJoinState next) {
        return switch (next) {
            case LOADING -> false;
            case JOINING -> this == LOADING;
            case DONE -> this == JOINING;
            case FAILED -> this == LOADING || this == JOINING;
            case CLOSED -> true;
        };
    }

    /**
     * Returns the next state.
     *
     * @throws IllegalStateException if the change is illegal
     */
    public BulkJoinState to(BulkJoinState next) {
        if (!canBecome(next)) {
            throw new IllegalStateException(
                    "Illegal change of a bulk join's state: state=" + this + ", next=" + next);
        }
        return next;
    }

    /**
     * Checks that a call is legal in this state.
     *
     * @throws IllegalStateException if this is another state
     */
    public void require(BulkJoinState expected) {
        if (this != expected) {
            throw new IllegalStateException(
                    "Call is illegal in this state of the bulk join: expected="
                            + expected
                            + ", state="
                            + this);
        }
    }
}
