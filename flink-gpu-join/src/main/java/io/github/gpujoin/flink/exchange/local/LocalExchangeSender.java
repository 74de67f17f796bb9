// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.ChunkSlots;
import java.util.Optional;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of a {@link LocalExchange}. Chunks go through Flink's channel until the receiver
 * opens in this process, always if it opens in another one, and while the exchange has no room.
 *
 * <p>For one thread.
 */
public final class LocalExchangeSender implements ChunkSlots {

    /**
     * Longest wait for room. A receiver without backpressure of its own reads a chunk within that
     * time; otherwise the channel's backpressure applies.
     */
    private static final long MAX_WAIT_MS = 10;

    private final OneToOneEdge edge;
    private final TimerGauge backPressured;
    private final LocalExchangeTicket.Writer tickets;
    private @Nullable LocalExchange receiver;

    /**
     * @param edge from the sender to its receiver
     * @param schema of the chunks and tickets
     * @param backPressured counts waits for room
     */
    public LocalExchangeSender(OneToOneEdge edge, ChunkSchema schema, TimerGauge backPressured) {
        this.edge = edge;
        this.backPressured = backPressured;
        this.tickets = new LocalExchangeTicket.Writer(edge, schema);
    }

    /**
     * Returns the sender of a task, if its edge permits a local exchange.
     *
     * @param operator configuration of the operator that sends
     * @param schema of the chunks and tickets
     */
    public static Optional<LocalExchangeSender> outOf(
            StreamConfig operator, Environment task, ClassLoader userCode, ChunkSchema schema) {
        return OneToOneEdge.outOf(operator, task, userCode)
                .map(
                        edge ->
                                new LocalExchangeSender(
                                        edge,
                                        schema,
                                        task.getMetricGroup()
                                                .getIOMetricGroup()
                                                .getHardBackPressuredTimePerSecond()));
    }

    /** {@inheritDoc} Slots are the receiver's; until it is open there are none. */
    @Override
    public @Nullable ChunkSlot tryAcquire(int lengthBytes) {
        findReceiver();
        return receiver == null ? null : receiver.slots().tryAcquire(lengthBytes);
    }

    private void findReceiver() {
        if (receiver == null) {
            receiver = LocalExchange.find(edge);
        }
    }

    /**
     * Sends a chunk, and returns what the caller must emit to the channel: its ticket or the chunk
     * itself. The caller must emit it before the next chunk, as the channel determines the order.
     *
     * <p>Waits for room up to 10 ms. An interrupt ends the wait and stays set.
     *
     * @param chunk with at least one row, whose user is the caller, and afterwards the receiver; a
     *     chunk in a slot goes through the channel as a copy
     */
    public Chunk send(Chunk chunk) {
        findReceiver();
        if (receiver != null) {
            // The receiver may release the chunk as soon as it is queued.
            Chunk ticket = tickets.write(chunk);
            if (offer(chunk)) {
                tickets.sent();
                return ticket;
            }
        }
        Chunk copy = chunk.onHeap();
        chunk.release();
        return copy;
    }

    private boolean offer(Chunk chunk) {
        if (receiver.offer(chunk)) {
            return true;
        }
        backPressured.markStart();
        try {
            return receiver.offer(chunk, MAX_WAIT_MS);
        } catch (InterruptedException e) {
            // Flink is cancelling the task, which the emission to the channel detects.
            Thread.currentThread().interrupt();
            return false;
        } finally {
            backPressured.markEnd();
        }
    }
}
