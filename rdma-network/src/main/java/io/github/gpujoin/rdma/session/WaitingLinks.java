package io.github.gpujoin.rdma.session;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;

/**
 * Connections that were made and whose handshake has not begun: bounded in all, half of them from
 * one host at most, and served one host after the other. Thread-safe.
 *
 * <p>A host is an IPv4 address, or the first 64 bits of an IPv6 address, since whoever has one of
 * those has them all.
 */
final class WaitingLinks {

    private final int maxCount;
    private final Map<Long, Queue<TcpControlLink>> byHost = new LinkedHashMap<>();
    private int count;

    WaitingLinks(int maxCount) {
        this.maxCount = maxCount;
    }

    /**
     * @return false if there is no room for another one of its host
     */
    synchronized boolean offer(TcpControlLink link) {
        long host = host(link.address());
        Queue<TcpControlLink> ofHost = byHost.getOrDefault(host, new ArrayDeque<>());
        if (count == maxCount || ofHost.size() >= maxCount / 2) {
            return false;
        }
        count++;
        byHost.put(host, ofHost);
        return ofHost.add(link);
    }

    /** The first one of the next host, null if none waits. */
    synchronized TcpControlLink poll() {
        if (count == 0) {
            return null;
        }
        count--;
        long host = byHost.keySet().iterator().next();
        Queue<TcpControlLink> ofHost = byHost.remove(host);
        TcpControlLink link = ofHost.remove();
        if (!ofHost.isEmpty()) {
            byHost.put(host, ofHost); // behind the others
        }
        return link;
    }

    static long host(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return bytes.remaining() == Integer.BYTES ? bytes.getInt() : bytes.getLong();
    }
}
