// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.RingFault;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One end of one ring. The mailbox thread, which moves chunks, and the {@link SessionAgent} share
 * it; the lock guards the session.
 */
abstract class RingEnd implements SessionAgent.Duty, AutoCloseable {

    final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable SessionException failure;

    /**
     * Performs the due work of the session, such as heartbeats and credit. The caller holds the
     * lock.
     */
    abstract void stepSession(long nowNs) throws SessionException;

    /** Closes the session. The caller holds the lock. Idempotent. */
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
            // Rethrown, it would end the agent's thread, and stall all rings of the subtask.
            failure = sessionFailure(e);
        } finally {
            stepped();
            lock.unlock();
        }
    }

    /**
     * Returns the failure of a session that threw an unexpected exception. The mailbox thread
     * throws it instead of an {@link InternalError}, after which Flink would end the process.
     */
    static SessionException sessionFailure(Throwable cause) {
        String reason =
                cause instanceof InternalError fault ? RingFault.describe(fault) : cause.toString();
        return new SessionException(
                "Session of a ring failed: " + reason + FileDescriptors.shortage(), cause);
    }

    /** Publishes the state of the session after a step. The caller holds the lock. */
    void stepped() {}

    /**
     * Reports a failure to the mailbox thread.
     *
     * @throws SessionException if the session has failed in any thread
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
