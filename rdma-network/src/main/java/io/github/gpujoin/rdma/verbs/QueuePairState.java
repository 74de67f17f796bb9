// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

/** State of a {@link QueuePair}. */
public enum QueuePairState {
    /** Writes can be posted. */
    CONNECTED,
    /** A write failed or the peer left; the pair can only be closed. */
    FAILED,
    /** All resources are released. */
    CLOSED;

    /** Whether the state may follow this one. */
    public boolean allows(QueuePairState next) {
        return next.ordinal() > ordinal();
    }

    /**
     * Returns the next state.
     *
     * @throws IllegalStateException if it may not follow this one
     */
    public QueuePairState to(QueuePairState next) {
        if (!allows(next)) {
            throw new IllegalStateException(
                    "Invalid state transition: state=" + this + ", next=" + next);
        }
        return next;
    }
}
