// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.util.EnumSet;
import java.util.Set;

/** State of a {@link ReaderSession}. */
public enum ReaderState {
    /** No writer is connected, and none can write to memory of this session. */
    WAITING,
    /** One writer is connected. */
    OPEN,
    /** No writer reconnected in time, or this process cannot hold the ring. */
    FAILED,
    /** The owner closed the session. */
    CLOSED;

    /** Returns the states that may follow this one. */
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
                    "Invalid state transition: state=" + this + ", next=" + next);
        }
        return next;
    }
}
