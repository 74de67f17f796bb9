package io.github.gpujoin.core.engine;

/** Life of an engine. */
public enum EngineState {
    /** Takes build chunks. */
    LOADING,
    /** Has all build chunks and makes its tables of them, step by step. */
    BUILDING,
    /** The build side is complete; takes probe chunks and gives results. */
    JOINING,
    /** An error left the tables unusable; only close is legal. */
    FAILED,
    /** All memory is given back. */
    CLOSED;

    /** Whether the step is legal; closing is, from everywhere. */
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
     * The next state.
     *
     * @throws IllegalStateException where the step is not legal
     */
    public EngineState to(EngineState next) {
        if (!canBecome(next)) {
            throw new IllegalStateException(
                    "Illegal change of an engine's state: state=" + this + ", next=" + next);
        }
        return next;
    }

    /** Fails a call that is legal in another state only. */
    public void require(EngineState expected) {
        if (this != expected) {
            throw new IllegalStateException(
                    "the call needs another engine state: expected="
                            + expected
                            + ", state="
                            + this);
        }
    }
}
