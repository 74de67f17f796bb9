package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;

/** The receiving end of a ring. */
final class ReaderEnd extends RingEnd {

    private static final long FIRST_LOOK_NS = 10_000;
    private static final long LAST_LOOK_NS = 1_000_000;

    private final ReaderSession session;
    private final long maxWaitNs;

    /**
     * @param session this end's own from now on
     * @param maxWaitNs longest wait for a chunk whose sender is connected
     */
    ReaderEnd(ReaderSession session, long maxWaitNs) {
        this.session = session;
        this.maxWaitNs = maxWaitNs;
    }

    /**
     * Takes the chunk of a ticket, which is there or on its way; for the mailbox.
     *
     * @param cancelled whether the task is; looked at while the chunk is waited for
     * @param idle counts waits
     * @return a copy that no peer can write any more, checked as every chunk from outside
     * @throws SessionException where the sender is gone for good
     * @throws IllegalStateException where the ticket is not for the next chunk, or the chunk does
     *     not come
     */
    Chunk take(Chunk ticket, BooleanSupplier cancelled, TimerGauge idle) throws SessionException {
        try {
            return await(ticket, cancelled, idle);
        } catch (InternalError e) {
            throw brokenDown(e);
        }
    }

    private Chunk await(Chunk ticket, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        long startNs = System.nanoTime();
        long waitNs = FIRST_LOOK_NS;
        Chunk chunk;
        while ((chunk = look(ticket)) == null) {
            if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                throw new CancelTaskException("the task was cancelled while it waited for a chunk");
            }
            if (System.nanoTime() - startNs > maxWaitNs) {
                throw unexpected("the chunk of a ticket arrives", ticket);
            }
            idle.markStart();
            LockSupport.parkNanos(waitNs);
            idle.markEnd();
            waitNs = Math.min(2 * waitNs, LAST_LOOK_NS);
        }
        return chunk;
    }

    private Chunk look(Chunk ticket) throws SessionException {
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
     * @return null where the slot is not whole yet, or no more: it is looked at again, and the
     *     session has it sent again where that does not help
     */
    private Chunk tryRead(Chunk ticket) {
        long next = session.releasedSequence() + 1;
        if (ticket.sequence() != next) {
            throw unexpected("a ticket is for the next chunk of its ring", ticket);
        }
        byte[] bytes = new byte[session.lengthBytes()];
        if (!session.copyTo(bytes)) {
            return null;
        }
        // The copy is what the writer put into this sequence's slot, and nobody else can write it:
        // from here on only a writer that does not do as its tickets say can be found out.
        Chunk chunk = Chunk.wrap(ticket.schema(), bytes);
        if (!RingTicket.isOf(ticket, chunk)) {
            throw unexpected("a ring brings the chunk that its ticket was written for", ticket);
        }
        session.release();
        return chunk;
    }

    private IllegalStateException unexpected(String rule, Chunk ticket) {
        return new IllegalStateException(
                rule
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
