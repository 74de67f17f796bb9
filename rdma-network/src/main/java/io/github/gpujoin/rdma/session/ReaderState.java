package io.github.gpujoin.rdma.session;

import java.util.EnumSet;
import java.util.Set;

/** Where a {@link ReaderSession} is. */
public enum ReaderState {
    /** No writer is connected, and no memory can be written by any. */
    WAITING,
    /** One writer is connected. */
    OPEN,
    /** No writer came for too long, or this process cannot hold the ring. */
    FAILED,
    /** The owner closed the session. */
    CLOSED;

    /** States that may follow this one. */
    Set<ReaderState> next() {
        return switch (this) {
            case WAITING -> EnumSet.of(OPEN, FAILED, CLOSED);
            case OPEN -> EnumSet.of(WAITING, FAILED, CLOSED);
            case FAILED -> EnumSet.of(CLOSED);
            case CLOSED -> EnumSet.noneOf(ReaderState.class);
        };
    }

    ReaderState to(ReaderState next) {
        if (!next().contains(next)) {
            throw new IllegalStateException(
                    "a reader's session goes to " + next() + " from " + this + ": next=" + next);
        }
        return next;
    }
}
