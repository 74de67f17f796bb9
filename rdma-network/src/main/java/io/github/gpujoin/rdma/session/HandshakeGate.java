package io.github.gpujoin.rdma.session;

import java.util.concurrent.TimeUnit;

/**
 * Paces the handshakes of strangers: each one costs a thread, and TLS its arithmetic. For one
 * thread.
 *
 * <p>A virtual clock advances by one interval for each handshake and may run ahead of the real one
 * by a burst. A writer that proves itself takes its interval back, so that writers that come back
 * are not counted with strangers.
 */
final class HandshakeGate {

    private final long intervalNs;
    private final long burstNs;
    private boolean isFirst = true;
    private long nextNs;

    HandshakeGate(int maxPerSecond, int burst) {
        this.intervalNs = TimeUnit.SECONDS.toNanos(1) / maxPerSecond;
        this.burstNs = intervalNs * (burst - 1);
    }

    /** Whether a handshake may begin now. */
    boolean isOpen(long nowNs) {
        return isFirst || nextNs - nowNs <= burstNs;
    }

    /** Counts a handshake. */
    void enter(long nowNs) {
        nextNs = (isFirst || nowNs - nextNs > 0 ? nowNs : nextNs) + intervalNs;
        isFirst = false;
    }

    /** No longer counts a handshake whose writer has proved itself. */
    void prove() {
        nextNs -= intervalNs;
    }
}
