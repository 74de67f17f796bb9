// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Accepted connections whose handshake has not begun. The total is bounded, one host may use half
 * of it, and hosts are served in turn. Thread-safe.
 *
 * <p>A host is an IPv4 address or the first 64 bits of an IPv6 address, because the owner of one
 * address of such a network usually owns them all.
 */
final class LinkQueue {

    private final int maxCount;
    private final Map<Long, Queue<TcpControlLink>> byHost = new LinkedHashMap<>();
    private int count;

    LinkQueue(int maxCount) {
        this.maxCount = maxCount;
    }

    /**
     * Adds a connection.
     *
     * @return false if its host has no room left; the caller closes the connection
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

    /** Removes the oldest connection of the next host; returns null if there is none. */
    synchronized @Nullable TcpControlLink poll() {
        if (count == 0) {
            return null;
        }
        count--;
        long host = byHost.keySet().iterator().next();
        Queue<TcpControlLink> ofHost = byHost.remove(host);
        TcpControlLink link = ofHost.remove();
        if (!ofHost.isEmpty()) {
            byHost.put(host, ofHost); // to the end of the round
        }
        return link;
    }

    static long host(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return bytes.remaining() == Integer.BYTES ? bytes.getInt() : bytes.getLong();
    }
}
