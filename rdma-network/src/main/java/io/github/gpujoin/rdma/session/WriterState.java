package io.github.gpujoin.rdma.session;

import java.util.EnumSet;
import java.util.Set;

/** Where a {@link WriterSession} is. */
public enum WriterState {
    /** There is no link; the next attempt to connect has its time. */
    DISCONNECTED,
    /** The hello was sent; the reader is to prove itself. */
    GREETED,
    /** The proof was sent; the reader is to accept it. */
    PROVEN,
    /** Slots are written and acknowledged. */
    OPEN,
    /** The reader refused this writer for good, was gone for too long, or the ring is lost. */
    FAILED,
    /** The owner closed the session. */
    CLOSED;

    /** States that may follow this one. */
    Set<WriterState> next() {
        return switch (this) {
            case DISCONNECTED -> EnumSet.of(GREETED, FAILED, CLOSED);
            case GREETED -> EnumSet.of(PROVEN, DISCONNECTED, FAILED, CLOSED);
            case PROVEN -> EnumSet.of(OPEN, DISCONNECTED, FAILED, CLOSED);
            case OPEN -> EnumSet.of(DISCONNECTED, FAILED, CLOSED);
            case FAILED -> EnumSet.of(CLOSED);
            case CLOSED -> EnumSet.noneOf(WriterState.class);
        };
    }

    WriterState to(WriterState next) {
        if (!next().contains(next)) {
            throw new IllegalStateException(
                    "a writer's session goes to " + next() + " from " + this + ": next=" + next);
        }
        return next;
    }
}
