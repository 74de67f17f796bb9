// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.util.concurrent.TimeUnit;

/**
 * Limits the rate of handshakes of unauthenticated writers, which cost a thread each, and with TLS
 * cryptography. For one thread.
 *
 * <p>A virtual clock advances by one interval for each handshake and may lead the real clock by a
 * burst. Authentication refunds the interval, so that reconnecting writers do not use up the rate.
 */
final class HandshakeRateLimiter {

    private final long intervalNs;
    private final long burstNs;
    private boolean isFirst = true;
    private long nextNs;

    HandshakeRateLimiter(int maxPerSecond, int burst) {
        this.intervalNs = TimeUnit.SECONDS.toNanos(1) / maxPerSecond;
        this.burstNs = intervalNs * (burst - 1);
    }

    /** Whether a handshake may start now. */
    boolean isPermitted(long nowNs) {
        return isFirst || nextNs - nowNs <= burstNs;
    }

    /** Counts a handshake that starts. */
    void start(long nowNs) {
        nextNs = (isFirst || nowNs - nextNs > 0 ? nowNs : nextNs) + intervalNs;
        isFirst = false;
    }

    /** Stops counting a handshake, because its writer has authenticated. */
    void refund() {
        nextNs -= intervalNs;
    }
}
