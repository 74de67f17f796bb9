// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of an edge between two tasks of one process. A queue beside the edge passes
 * chunks as references; Flink's channel carries a {@linkplain LocalExchangeTicket ticket} for each.
 *
 * <pre>
 *   sender --- ticket, ticket, chunk, ticket ---> receiver     Flink's channel: order, barriers
 *      \------ chunk,  chunk,         chunk -------/            this queue
 * </pre>
 *
 * <p>A {@link OneToOneEdge} identifies both ends. So the channel and the queue have the same two
 * ends, and a sender never finds the receiver of another execution attempt. On any other edge, all
 * chunks go through the channel.
 *
 * <p>The channel determines order, barriers and backpressure. If the queue is full, a chunk goes
 * through the channel itself. With aligned checkpoints no snapshot contains a ticket, because the
 * receiver reads all chunks before a barrier before it reads the barrier.
 *
 * <p>Safe for one sending and one receiving thread.
 */
public final class LocalExchange implements AutoCloseable {

    /** Queued chunks, at most. Few, so that the receiver finds them in the processor's cache. */
    private static final int CAPACITY = 4;

    private static final Map<OneToOneEdge, LocalExchange> OPEN = new ConcurrentHashMap<>();

    private final OneToOneEdge edge;
    private final BlockingQueue<Chunk> chunks = new ArrayBlockingQueue<>(CAPACITY);
    private int nextTicket;
    private volatile boolean isClosed;

    private LocalExchange(OneToOneEdge edge) {
        this.edge = edge;
    }

    /**
     * Opens the receiving end.
     *
     * @throws IllegalStateException if it is open already
     */
    public static LocalExchange open(OneToOneEdge edge) {
        LocalExchange exchange = new LocalExchange(edge);
        if (OPEN.putIfAbsent(edge, exchange) != null) {
            throw new IllegalStateException(
                    "Two tasks read one subpartition by local exchange: edge=" + edge);
        }
        return exchange;
    }

    /** Returns the receiving end, or null if none is open in this process. */
    static @Nullable LocalExchange find(OneToOneEdge edge) {
        return OPEN.get(edge);
    }

    /**
     * Queues a chunk. The sender must emit its ticket next.
     *
     * @return false if the queue is full, or the receiver has closed
     */
    boolean offer(Chunk chunk) {
        return !isClosed && chunks.offer(chunk);
    }

    /**
     * Queues a chunk, and waits for room if necessary. The sender must emit its ticket next.
     *
     * @return false if the queue stayed full for the timeout, or the receiver has closed
     */
    boolean offer(Chunk chunk, long timeoutMs) throws InterruptedException {
        return !isClosed && chunks.offer(chunk, timeoutMs, TimeUnit.MILLISECONDS);
    }

    /**
     * Returns an arrived chunk or, for a ticket, its chunk from the queue.
     *
     * @param arrived chunk or ticket from the channel
     * @throws IllegalStateException if the ticket is not for the next chunk of the queue
     */
    public Chunk received(Chunk arrived) {
        if (!LocalExchangeTicket.isTicket(arrived)) {
            return arrived;
        }
        Chunk chunk = chunks.poll();
        if (chunk == null
                || !LocalExchangeTicket.isFor(arrived, edge, nextTicket)
                || !LocalExchangeTicket.describes(arrived, chunk)) {
            throw mismatch(arrived, chunk);
        }
        nextTicket++;
        return chunk;
    }

    /**
     * Whether a chunk may have arrived on an edge with local exchange, whose chunks have no
     * partition.
     */
    public static boolean mayReceive(Chunk arrived) {
        return arrived.partition() == ChunkDescriptor.UNPARTITIONED;
    }

    /**
     * Returns a chunk that arrived on an edge without local exchange.
     *
     * @throws IllegalStateException if it is a ticket
     */
    public static Chunk receivedWithout(Chunk arrived) {
        if (LocalExchangeTicket.isTicket(arrived)) {
            throw new IllegalStateException(
                    "Ticket on an edge without local exchange: ticket="
                            + LocalExchangeTicket.describe(arrived)
                            + ".");
        }
        return arrived;
    }

    private IllegalStateException mismatch(Chunk ticket, Chunk chunk) {
        return new IllegalStateException(
                "Local exchange ticket does not match its chunk: ticket="
                        + LocalExchangeTicket.describe(ticket)
                        + ", nextTicket="
                        + nextTicket
                        + ", edge="
                        + edge
                        + ", chunk="
                        + chunk
                        + ".");
    }

    /**
     * Drops unread chunks. A sender that still refers to this end sends through the channel from
     * now on.
     */
    @Override
    public void close() {
        isClosed = true;
        OPEN.remove(edge, this);
        chunks.clear();
    }
}
