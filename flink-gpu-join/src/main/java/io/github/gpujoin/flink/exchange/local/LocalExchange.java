// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSlots;
import io.github.gpujoin.core.slot.SlotPool;
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
    private final @Nullable SlotPool slots;
    private final BlockingQueue<Chunk> chunks = new ArrayBlockingQueue<>(CAPACITY);
    private int nextTicket;
    private volatile boolean isClosed;

    private LocalExchange(OneToOneEdge edge, @Nullable SlotPool slots) {
        this.edge = edge;
        this.slots = slots;
    }

    /**
     * Opens the receiving end.
     *
     * @param slots in which the sender seals its chunks, closed with this end; null if it seals
     *     them on the heap
     * @throws IllegalStateException if it is open already; the caller still owns the slots
     */
    public static LocalExchange open(OneToOneEdge edge, @Nullable SlotPool slots) {
        LocalExchange exchange = new LocalExchange(edge, slots);
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

    /** Returns the receiver's slots, in which the sender seals its chunks. */
    ChunkSlots slots() {
        return slots == null ? ChunkSlots.NONE : slots;
    }

    /**
     * Queues a chunk, whose user is then the receiver. The sender must emit its ticket next.
     *
     * @return false if the queue is full, or the receiver has closed
     */
    boolean offer(Chunk chunk) {
        return !isClosed && chunks.offer(chunk) && isReceived(chunk);
    }

    /**
     * Queues a chunk, and waits for room if necessary. The receiver is then the chunk's user. The
     * sender must emit its ticket next.
     *
     * @return false if the queue stayed full for the timeout, or the receiver has closed
     */
    boolean offer(Chunk chunk, long timeoutMs) throws InterruptedException {
        return !isClosed
                && chunks.offer(chunk, timeoutMs, TimeUnit.MILLISECONDS)
                && isReceived(chunk);
    }

    /**
     * Returns whether the receiver still reads a chunk that was queued. If it has closed meanwhile,
     * one of both ends removes the chunk; the sender is its user if it is this one.
     */
    private boolean isReceived(Chunk chunk) {
        return !isClosed || !chunks.removeIf(queued -> queued == chunk);
    }

    /**
     * Returns an arrived chunk or, for a ticket, its chunk from the queue. The caller is its user.
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
            try {
                throw mismatch(arrived, chunk);
            } finally {
                if (chunk != null) {
                    chunk.release();
                }
            }
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
        for (Chunk chunk = chunks.poll(); chunk != null; chunk = chunks.poll()) {
            chunk.release();
        }
        if (slots != null) {
            slots.close();
        }
    }
}
