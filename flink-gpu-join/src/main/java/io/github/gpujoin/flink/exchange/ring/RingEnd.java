package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.RingFault;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One end of one ring, shared by the mailbox, which moves chunks, and the {@link SessionAgent}.
 * Whoever has the lock works on the session.
 */
abstract class RingEnd implements SessionAgent.Duty, AutoCloseable {

    final ReentrantLock lock = new ReentrantLock();
    private volatile SessionException failure;

    /** Lets the session go on with what is to be done now; under the lock. */
    abstract void stepSession(long nowNs) throws SessionException;

    /** Under the lock; legal twice. */
    abstract void closeSession();

    @Override
    public final void step(long nowNs) {
        lock.lock();
        try {
            if (failure == null) {
                stepSession(nowNs);
            }
        } catch (SessionException e) {
            failure = e;
        } catch (RuntimeException | Error e) {
            // The agent's thread would end with it and stall all rings of the subtask.
            failure = brokenDown(e);
        } finally {
            stepped();
            lock.unlock();
        }
    }

    /**
     * The failure of this ring's session for what a call of it threw. The mailbox throws it in
     * place of an {@link InternalError}, on which Flink would end the process.
     */
    static SessionException brokenDown(Throwable cause) {
        String reason =
                cause instanceof InternalError fault ? RingFault.describe(fault) : cause.toString();
        return new SessionException(
                "a ring's session must not break down: " + reason + FileDescriptors.want(), cause);
    }

    /** Shows others what became of the session, its failure being known; under the lock. */
    void stepped() {}

    /**
     * For the mailbox.
     *
     * @throws SessionException where the session has failed, whoever found it out
     */
    final void checkNotFailed() throws SessionException {
        SessionException failed = failure;
        if (failed != null) {
            throw new SessionException(failed.getMessage(), failed);
        }
    }

    @Override
    public final void close() {
        lock.lock();
        try {
            closeSession();
        } finally {
            lock.unlock();
        }
    }
}
