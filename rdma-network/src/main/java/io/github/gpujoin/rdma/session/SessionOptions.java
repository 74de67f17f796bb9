package io.github.gpujoin.rdma.session;

import java.util.concurrent.TimeUnit;

/**
 * Times of a session.
 *
 * @param heartbeatIntervalNs at most this long is neither side silent
 * @param peerTimeoutNs silence after which a peer counts as dead; a connection that it closes, as
 *     the operating system does for a killed process, is noticed at once
 * @param slotTimeoutNs how long a slot may stay away or torn that has arrived, as the writer
 *     announced
 * @param handshakeTimeoutNs for all messages up to the reader's accept
 * @param retryIntervalNs between two attempts of a writer to connect
 * @param reconnectTimeoutNs how long a session may be without a peer before it fails
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
                    "a peer is given at least two heartbeats: peerTimeoutNs="
                            + peerTimeoutNs
                            + ", heartbeatIntervalNs="
                            + heartbeatIntervalNs);
        }
    }

    private static void requirePositive(String name, long valueNs) {
        if (valueNs <= 0) {
            throw new IllegalArgumentException("a time is positive: " + name + "=" + valueNs);
        }
    }
}
