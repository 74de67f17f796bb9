package io.github.gpujoin.rdma.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a transport gave out and closes with itself, unless it was closed before. Thread-safe. */
public final class GivenOut {

    private static final Logger LOG = LoggerFactory.getLogger(GivenOut.class);

    /** Memory or a connection. */
    public interface Item extends AutoCloseable {

        /** Whether it is closed, and nothing of it is under way. */
        boolean isClosed();

        /** Waits until what closing has left under way is over, too. */
        default void awaitEnd() {}
    }

    private final String transport;
    private final Deque<Item> items = new ArrayDeque<>();
    private boolean closed;

    /**
     * @param transport its name, for messages
     */
    public GivenOut(String transport) {
        this.transport = transport;
    }

    /**
     * Keeps what is to be closed with the transport.
     *
     * @throws TransportException where that is too late; the item is closed then
     */
    public synchronized <T extends Item> T add(T item) throws TransportException {
        if (closed) {
            closeQuietly(item, transport);
            item.awaitEnd();
            throw new TransportException(
                    "a transport gives out nothing once it is closed: transport=" + transport);
        }
        items.removeIf(Item::isClosed);
        items.push(item);
        return item;
    }

    /**
     * Closes all, the last first, and waits for their end.
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
     * Whether closing succeeded; a failure is logged, since the caller has nothing to do about it.
     */
    public static boolean closeQuietly(AutoCloseable resource, String what) {
        try {
            resource.close();
            return true;
        } catch (Exception e) {
            LOG.warn("A {} was not closed as it should be", what, e);
            return false;
        }
    }
}
