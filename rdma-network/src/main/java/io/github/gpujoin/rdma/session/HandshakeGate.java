package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.SessionListener.Limits;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Bounds what writers cost that have not proved themselves: how many at once, and how many in a
 * second, in all and from one host. For one thread.
 *
 * <p>Memory is bounded by the limits: a host is kept while it has a handshake under way or had one
 * begun in this second. A host is an IPv4 address, or the first 64 bits of an IPv6 address, since
 * whoever has one of those has them all.
 */
final class HandshakeGate {

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final Limits limits;
    private final Map<Long, Integer> underWayByHost = new HashMap<>();
    private final Map<Long, Integer> begunByHost = new HashMap<>();
    private long secondStartNs;
    private int underWay;
    private int begun;

    HandshakeGate(Limits limits) {
        this.limits = limits;
    }

    /**
     * Lets a handshake begin, which {@link #leave leaves} at its end.
     *
     * @return false where a limit is reached
     */
    boolean enter(InetAddress from, long nowNs) {
        if (begun == 0 || nowNs - secondStartNs >= SECOND_NS) {
            secondStartNs = nowNs;
            begun = 0;
            begunByHost.clear();
        }
        Long host = host(from);
        if (underWay >= limits.maxUnderWay()
                || begun >= limits.maxPerSecond()
                || underWayByHost.getOrDefault(host, 0) >= limits.maxUnderWayPerHost()
                || begunByHost.getOrDefault(host, 0) >= limits.maxPerSecondPerHost()) {
            return false;
        }
        underWay++;
        begun++;
        underWayByHost.merge(host, 1, Integer::sum);
        begunByHost.merge(host, 1, Integer::sum);
        return true;
    }

    void leave(InetAddress from) {
        underWay--;
        underWayByHost.computeIfPresent(host(from), (host, count) -> count == 1 ? null : count - 1);
    }

    /** Hosts that are kept. */
    int hostCount() {
        return Math.max(underWayByHost.size(), begunByHost.size());
    }

    private static Long host(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return bytes.remaining() == Integer.BYTES ? bytes.getInt() : bytes.getLong();
    }
}
