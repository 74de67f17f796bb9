// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/** The receiving end of one ring. */
final class ReaderEnd extends RingEnd {

    private static final long MIN_POLL_INTERVAL_NS = 10_000;
    private static final long MAX_POLL_INTERVAL_NS = 1_000_000;

    private final ReaderSession session;
    private final long maxWaitNs;

    /**
     * @param session which this end closes
     * @param maxWaitNs longest wait for the chunk of a ticket
     */
    ReaderEnd(ReaderSession session, long maxWaitNs) {
        this.session = session;
        this.maxWaitNs = maxWaitNs;
    }

    /**
     * Receives the chunk of a ticket, and waits until it arrives. For the mailbox thread.
     *
     * @param cancelled whether the task is cancelled; polled during the wait
     * @param idle counts waits as idle time
     * @return a private copy, validated like every chunk of another process
     * @throws SessionException if the session with the sender has failed
     * @throws IllegalStateException if the ticket is not for the next chunk, or the chunk does not
     *     arrive in time
     */
    Chunk receive(Chunk ticket, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        try {
            return await(ticket, cancelled, idle);
        } catch (InternalError e) {
            throw sessionFailure(e);
        }
    }

    private Chunk await(Chunk ticket, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        long startNs = System.nanoTime();
        long waitNs = MIN_POLL_INTERVAL_NS;
        Chunk chunk;
        while ((chunk = poll(ticket)) == null) {
            if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                throw new CancelTaskException(
                        "The task was cancelled while it waited for a chunk.");
            }
            if (System.nanoTime() - startNs > maxWaitNs) {
                throw mismatch("Chunk of a ticket did not arrive in time", ticket);
            }
            idle.markStart();
            LockSupport.parkNanos(waitNs);
            idle.markEnd();
            waitNs = Math.min(2 * waitNs, MAX_POLL_INTERVAL_NS);
        }
        return chunk;
    }

    private @Nullable Chunk poll(Chunk ticket) throws SessionException {
        lock.lock();
        try {
            step(System.nanoTime());
            checkNotFailed();
            return session.poll() ? tryRead(ticket) : null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Copies the next slot.
     *
     * @return null if the slot has not fully arrived; the caller polls again, and the session
     *     requests a retransmission if that does not help
     */
    private @Nullable Chunk tryRead(Chunk ticket) {
        long next = session.releasedSequence() + 1;
        if (ticket.sequence() != next) {
            throw mismatch("Ticket is not for the next chunk of its ring", ticket);
        }
        byte[] bytes = new byte[session.lengthBytes()];
        if (!session.copyTo(bytes)) {
            return null;
        }
        // The copy is the slot of this sequence, complete and private. A mismatch from here on is
        // an error of the writer.
        Chunk chunk = ChunkDecoder.decode(ticket.schema(), bytes);
        if (!RingTicket.isOf(ticket, chunk, bytes)) {
            throw mismatch("Chunk of a ring does not match its ticket", ticket);
        }
        session.release();
        return chunk;
    }

    private IllegalStateException mismatch(String fault, Chunk ticket) {
        return new IllegalStateException(
                fault
                        + ": channel="
                        + session.channel()
                        + ", attempt="
                        + session.attempt()
                        + ", next="
                        + (session.releasedSequence() + 1)
                        + ", ticket="
                        + ticket.sequence()
                        + ", session="
                        + session.state()
                        + ", lastLoss="
                        + session.lastLoss());
    }

    @Override
    void stepSession(long nowNs) throws SessionException {
        session.step(nowNs);
    }

    @Override
    void closeSession() {
        session.close();
    }
}
