package io.github.gpujoin.flink.handover;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;

/**
 * The receiving end of a forward edge between two tasks of one process. Chunks pass beside the
 * edge, as references; a ticket for each goes through it.
 *
 * <pre>
 *   sender --- ticket, ticket, chunk, ticket ---> receiver     Flink's channel: order, barriers
 *      \------ chunk,  chunk,         chunk -------/            this queue
 * </pre>
 *
 * <p>A ticket is a chunk without rows: its epoch names the receiver, its sequence counts tickets.
 * Order, barriers and backpressure stay those of the channel, and a chunk for which there is no
 * room goes through the channel itself. With aligned checkpoints no ticket is ever in a snapshot:
 * the receiver has taken all chunks before a barrier when the barrier reaches it. The receiver
 * opens only on an edge of which Flink says that it is never checkpointed unaligned.
 *
 * <p>One thread sends, one receives.
 */
public final class Handover implements AutoCloseable {

    /**
     * A forward edge from one subtask to the subtask of the same number.
     *
     * @param sender number of the sending operator in the job's graph
     */
    public record Edge(JobID job, int sender, int subtask) {}

    /** Chunks that the sender may be ahead; few, so that they are still in the cache. */
    private static final int CAPACITY = 4;

    private static final Map<Edge, Handover> OPEN = new ConcurrentHashMap<>();
    private static final AtomicLong LAST_EPOCH = new AtomicLong();

    private final Edge edge;
    private final long epoch = LAST_EPOCH.incrementAndGet();
    private final BlockingQueue<Chunk> chunks = new ArrayBlockingQueue<>(CAPACITY);
    private long taken;
    private volatile boolean closed;

    private Handover(Edge edge) {
        this.edge = edge;
    }

    /** Opens the receiving end. */
    public static Handover open(Edge edge) {
        Handover handover = new Handover(edge);
        OPEN.put(edge, handover);
        return handover;
    }

    /** The receiving end of the edge, if it is open in this process; else null. */
    static Handover find(Edge edge) {
        return OPEN.get(edge);
    }

    long epoch() {
        return epoch;
    }

    /**
     * Queues a chunk, its ticket to be sent next.
     *
     * @return false where there was no room for that long, or the receiver has closed
     */
    boolean offer(Chunk chunk, long timeoutMs) throws InterruptedException {
        return !closed && chunks.offer(chunk, timeoutMs, TimeUnit.MILLISECONDS);
    }

    /**
     * The chunk that came through the channel, or the one that it is a ticket for.
     *
     * @throws IllegalStateException where the ticket is for another receiver, or out of order
     */
    public Chunk received(Chunk arrived) {
        if (!HandoverSender.isTicket(arrived)) {
            return arrived;
        }
        Chunk chunk = arrived.epoch() == epoch ? chunks.poll() : null;
        if (chunk == null || arrived.sequence() != taken) {
            throw new IllegalStateException(
                    "a ticket is for the next chunk of this receiver: edge="
                            + edge
                            + ", epoch="
                            + epoch
                            + ", ticketEpoch="
                            + arrived.epoch()
                            + ", next="
                            + taken
                            + ", ticket="
                            + arrived.sequence());
        }
        taken++;
        return chunk;
    }

    /** Drops what was not taken. A sender that still holds this end sends through the channel. */
    @Override
    public void close() {
        closed = true;
        OPEN.remove(edge, this);
        chunks.clear();
    }
}
