// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.util.EnumSet;
import java.util.Set;

/** State of a {@link WriterSession}. */
public enum WriterState {
    /** There is no link; the next attempt to connect is scheduled. */
    DISCONNECTED,
    /** The hello was sent; the reader must authenticate. */
    GREETED,
    /** The proof was sent; the reader must accept it. */
    PROVEN,
    /** Slots are written and acknowledged. */
    OPEN,
    /**
     * The reader refused this writer permanently or was absent for too long, or the ring is lost.
     */
    FAILED,
    /** The owner closed the session. */
    CLOSED;

    /** Returns the states that may follow this one. */
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
                    "Invalid state transition: state=" + this + ", next=" + next);
        }
        return next;
    }
}
