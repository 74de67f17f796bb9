// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.util.concurrent.TimeUnit;

/**
 * Intervals and timeouts of a session, in nanoseconds.
 *
 * @param heartbeatIntervalNs longest time in which a side sends nothing
 * @param peerTimeoutNs silence after which a peer counts as dead, at least two heartbeats. If the
 *     peer closes its connection, as the operating system does for a killed process, the session
 *     notices at once
 * @param slotTimeoutNs how long a slot may be missing or torn after the writer announced its
 *     arrival
 * @param handshakeTimeoutNs for all messages up to the reader's accept
 * @param retryIntervalNs pause of a writer between attempts to connect
 * @param reconnectTimeoutNs how long a session may lack a peer before it fails
 */
public record SessionOptions(
        long heartbeatIntervalNs,
        long peerTimeoutNs,
        long slotTimeoutNs,
        long handshakeTimeoutNs,
        long retryIntervalNs,
        long reconnectTimeoutNs) {

    public static final SessionOptions DEFAULT =
            new SessionOptions(
                    TimeUnit.MILLISECONDS.toNanos(100),
                    TimeUnit.MILLISECONDS.toNanos(600),
                    TimeUnit.MILLISECONDS.toNanos(600),
                    TimeUnit.SECONDS.toNanos(5),
                    TimeUnit.MILLISECONDS.toNanos(50),
                    TimeUnit.SECONDS.toNanos(30));

    public SessionOptions {
        requirePositive("heartbeatIntervalNs", heartbeatIntervalNs);
        requirePositive("slotTimeoutNs", slotTimeoutNs);
        requirePositive("handshakeTimeoutNs", handshakeTimeoutNs);
        requirePositive("retryIntervalNs", retryIntervalNs);
        requirePositive("reconnectTimeoutNs", reconnectTimeoutNs);
        if (peerTimeoutNs < 2 * heartbeatIntervalNs) {
            throw new IllegalArgumentException(
                    "Peer timeout is shorter than two heartbeats: peerTimeoutNs="
                            + peerTimeoutNs
                            + ", heartbeatIntervalNs="
                            + heartbeatIntervalNs);
        }
    }

    private static void requirePositive(String name, long valueNs) {
        if (valueNs <= 0) {
            throw new IllegalArgumentException("Time is not positive: " + name + "=" + valueNs);
        }
    }
}
