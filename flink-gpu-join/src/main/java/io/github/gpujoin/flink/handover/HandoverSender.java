package io.github.gpujoin.flink.handover;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * The sending end of a {@link Handover}, for one thread. Chunks go through the channel until the
 * receiver has opened in this process, and always where it opens in another one.
 */
public final class HandoverSender {

    /**
     * Longest wait for room. The receiver takes a chunk within that time unless it is held up
     * itself; then the channel's own backpressure is the right one.
     */
    private static final long MAX_WAIT_MS = 10;

    private final Handover.Edge edge;
    private final ChunkBuilder tickets;
    private Handover receiver;
    private long sent;

    /**
     * @param schema of the chunks, and of tickets
     */
    public HandoverSender(Handover.Edge edge, ChunkSchema schema) {
        this.edge = edge;
        this.tickets = new ChunkBuilder(schema, 1);
    }

    static boolean isTicket(Chunk chunk) {
        return chunk.rowCount() == 0 && chunk.epoch() != 0;
    }

    /** What is to be sent through the channel: a ticket, or the chunk itself, which has rows. */
    public Chunk send(Chunk chunk) {
        if (receiver == null) {
            receiver = Handover.find(edge);
        }
        if (receiver == null || !offer(chunk)) {
            return chunk;
        }
        return tickets.seal(
                ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, receiver.epoch(), sent++);
    }

    private boolean offer(Chunk chunk) {
        try {
            return receiver.offer(chunk, MAX_WAIT_MS);
        } catch (InterruptedException e) {
            // The task is being cancelled; the channel notices that by itself.
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
