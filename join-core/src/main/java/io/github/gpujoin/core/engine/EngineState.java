// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

/** Life cycle of an engine. */
public enum EngineState {
    /** Accepts build chunks. */
    LOADING,
    /** Builds its tables from all build chunks, step by step. */
    BUILDING,
    /** Has complete tables; accepts probe chunks and returns results. */
    JOINING,
    /** Has unusable tables after an error; only close is legal. */
    FAILED,
    /** Has freed all memory. */
    CLOSED;

    /** Whether the change of state is legal. Any state may become CLOSED. */
    public boolean canBecome(EngineState next) {
        return switch (next) {
            case LOADING -> false;
            case BUILDING -> this == LOADING;
            case JOINING -> this == LOADING || this == BUILDING;
            case FAILED -> this != FAILED && this != CLOSED;
            case CLOSED -> true;
        };
    }

    /**
     * Returns the next state.
     *
     * @throws IllegalStateException if the change is illegal
     */
    public EngineState to(EngineState next) {
        if (!canBecome(next)) {
            throw new IllegalStateException(
                    "Illegal change of an engine's state: state=" + this + ", next=" + next);
        }
        return next;
    }

    /**
     * Checks that a call is legal in this state.
     *
     * @throws IllegalStateException if this is another state
     */
    public void require(EngineState expected) {
        if (this != expected) {
            throw new IllegalStateException(
                    "Call is illegal in this state of the engine: expected="
                            + expected
                            + ", state="
                            + this);
        }
    }
}
