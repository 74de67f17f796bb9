package io.github.gpujoin.flink.runtime;

/** Phases of the join operator, in order. */
public enum JoinPhase {
    /** The build side is coming in; facts wait in state. */
    LOAD,
    /** The build side is complete; facts are joined as they come. */
    JOIN;

    /**
     * The next phase.
     *
     * @throws IllegalStateException where the step goes back
     */
    JoinPhase to(JoinPhase next) {
        if (next.ordinal() < ordinal()) {
            throw new IllegalStateException(
                    "phases go from LOAD to JOIN: phase=" + this + ", next=" + next);
        }
        return next;
    }
}
