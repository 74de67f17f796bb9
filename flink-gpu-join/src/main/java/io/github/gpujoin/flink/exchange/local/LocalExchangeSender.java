package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import org.apache.flink.runtime.metrics.TimerGauge;

/**
 * The sending end of a {@link LocalExchange}, for one thread. Chunks go through the channel until
 * the receiver has opened in this process, and always if it opens in another one.
 */
public final class LocalExchangeSender {

    /**
     * Longest wait for room. A receiver that is not blocked itself takes a chunk within that time;
     * otherwise the channel's own backpressure is the right one.
     */
    private static final long MAX_WAIT_MS = 10;

    private final OneToOneEdge edge;
    private final TimerGauge backPressured;
    private final LocalExchangeTicket.Writer tickets;
    private LocalExchange receiver;

    /**
     * @param edge from the sender to its receiver
     * @param schema of the chunks and of tickets
     * @param backPressured counts waits for room
     */
    public LocalExchangeSender(OneToOneEdge edge, ChunkSchema schema, TimerGauge backPressured) {
        this.edge = edge;
        this.backPressured = backPressured;
        this.tickets = new LocalExchangeTicket.Writer(edge, schema);
    }

    /** Returns what to send through the channel: a ticket, or the chunk itself, which has rows. */
    public Chunk send(Chunk chunk) {
        if (receiver == null) {
            receiver = LocalExchange.find(edge);
        }
        return receiver != null && offer(chunk) ? tickets.write(chunk) : chunk;
    }

    private boolean offer(Chunk chunk) {
        if (receiver.offer(chunk)) {
            return true;
        }
        backPressured.markStart();
        try {
            return receiver.offer(chunk, MAX_WAIT_MS);
        } catch (InterruptedException e) {
            // The task is being cancelled; the channel notices that by itself.
            Thread.currentThread().interrupt();
            return false;
        } finally {
            backPressured.markEnd();
        }
    }
}
