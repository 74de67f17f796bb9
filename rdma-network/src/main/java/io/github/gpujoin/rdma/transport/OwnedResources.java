// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory and connections that a transport owns and closes with itself, unless they were closed
 * before. Thread-safe.
 */
public final class OwnedResources {

    private static final Logger LOG = LoggerFactory.getLogger(OwnedResources.class);

    /** Memory or a connection of a transport. */
    public interface Item extends AutoCloseable {

        /** Whether it is closed and nothing of it runs in the background. */
        boolean isClosed();

        /** Waits for the end of what {@link #close} left running in the background. */
        default void awaitEnd() {}
    }

    private final String transport;
    private final Deque<Item> items = new ArrayDeque<>();
    private boolean closed;

    /**
     * @param transport name for messages
     */
    public OwnedResources(String transport) {
        this.transport = transport;
    }

    /**
     * Adds an item, which is closed with the transport at the latest.
     *
     * @return the item
     * @throws TransportException if the transport is closed; the item then is closed as well
     */
    public synchronized <T extends Item> T add(T item) throws TransportException {
        if (closed) {
            closeQuietly(item, transport);
            item.awaitEnd();
            throw new TransportException("The transport is closed: transport=" + transport);
        }
        items.removeIf(Item::isClosed);
        items.push(item);
        return item;
    }

    /**
     * Closes all items, the last first, and waits for their end.
     *
     * @return whether this was the first call
     */
    public synchronized boolean close() {
        boolean first = !closed;
        closed = true;
        items.forEach(item -> closeQuietly(item, transport));
        items.forEach(Item::awaitEnd);
        items.clear();
        return first;
    }

    /**
     * Closes a resource and logs a failure, because the caller cannot act on it.
     *
     * @param what name of the resource, for the log
     * @return whether closing succeeded
     */
    public static boolean closeQuietly(AutoCloseable resource, String what) {
        try {
            resource.close();
            return true;
        } catch (Exception e) {
            LOG.warn("Closing failed: resource={}", what, e);
            return false;
        }
    }
}
