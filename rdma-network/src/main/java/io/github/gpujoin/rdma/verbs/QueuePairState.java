package io.github.gpujoin.rdma.verbs;

/** Life of a {@link QueuePair}. */
public enum QueuePairState {
    /** Writes can be posted. */
    CONNECTED,
    /** A write failed or the peer left; only closing is left. */
    FAILED,
    /** Nothing is held any more. */
    CLOSED;

    /** Whether the state may follow this one. */
    public boolean allows(QueuePairState next) {
        return next.ordinal() > ordinal();
    }

    /**
     * @throws IllegalStateException if the state may not follow this one
     */
    public QueuePairState to(QueuePairState next) {
        if (!allows(next)) {
            throw new IllegalStateException(
                    "a queue pair goes from connected to failed to closed: state="
                            + this
                            + ", next="
                            + next);
        }
        return next;
    }
}
