package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The receiving end of an edge between two tasks of one process. Chunks pass beside the edge, as
 * references; a {@linkplain LocalExchangeTicket ticket} for each goes through it.
 *
 * <pre>
 *   sender --- ticket, ticket, chunk, ticket ---> receiver     Flink's channel: order, barriers
 *      \------ chunk,  chunk,         chunk -------/            this queue
 * </pre>
 *
 * <p>Both ends are named by a {@link OneToOneEdge}, so that the channel and the queue have the same
 * two ends, and a sender never finds the receiver of another execution attempt. On any other edge
 * all chunks go through the channel.
 *
 * <p>Order, barriers and backpressure stay those of the channel, and a chunk that finds no room
 * goes through the channel itself. With aligned checkpoints no ticket is ever in a snapshot: the
 * receiver has read all chunks before a barrier when the barrier reaches it.
 *
 * <p>One thread sends, one receives.
 */
public final class LocalExchange implements AutoCloseable {

    /** Chunks that the sender may be ahead; few, so that they are still in the cache. */
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
     * @throws IllegalStateException if it is open
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
    static LocalExchange find(OneToOneEdge edge) {
        return OPEN.get(edge);
    }

    /**
     * Queues a chunk whose ticket the sender emits next.
     *
     * @return false if there is no room, or the receiver has closed
     */
    boolean offer(Chunk chunk) {
        return !isClosed && chunks.offer(chunk);
    }

    /**
     * Queues a chunk whose ticket the sender emits next.
     *
     * @return false if there was no room for that long, or the receiver has closed
     */
    boolean offer(Chunk chunk, long timeoutMs) throws InterruptedException {
        return !isClosed && chunks.offer(chunk, timeoutMs, TimeUnit.MILLISECONDS);
    }

    /**
     * Returns the chunk that arrived through the channel, or the one that it is a ticket for.
     *
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

    /** Whether a chunk may be of an edge with local exchange: it is of no partition. */
    public static boolean mayReceive(Chunk arrived) {
        return arrived.partition() == ChunkDescriptor.UNPARTITIONED;
    }

    /**
     * Returns the chunk that arrived through the channel of an edge without local exchange.
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

    /** Drops unread chunks. A sender that still holds this end sends through the channel. */
    @Override
    public void close() {
        isClosed = true;
        OPEN.remove(edge, this);
        chunks.clear();
    }
}
