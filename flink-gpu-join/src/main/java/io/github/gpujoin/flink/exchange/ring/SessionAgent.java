// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.SessionException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that serves a subtask's sessions while its mailbox is busy: connects, sends heartbeats
 * and grants credit. It shares only the sessions with the mailbox thread; it never accesses state
 * and never emits.
 */
final class SessionAgent implements AutoCloseable {

    /** Work that the agent performs in each round. */
    @FunctionalInterface
    interface Duty {

        /**
         * Performs the due work. Implementations keep expected failures for the mailbox thread. The
         * agent removes a duty that throws, and reports that to the mailbox thread.
         */
        void step(long nowNs);
    }

    private static final Logger LOG = LoggerFactory.getLogger(SessionAgent.class);

    private final List<Duty> duties = new CopyOnWriteArrayList<>();
    private final String name;
    private final AutoCloseable rounds;
    private volatile @Nullable SessionException failure;

    SessionAgent(String task, RingHost host) {
        name = "gpu-join rings of " + task;
        rounds = host.repeat(name, () -> duties.forEach(this::step), this::report);
    }

    void add(Duty duty) {
        duties.add(duty);
    }

    private void step(Duty duty) {
        try {
            duty.step(System.nanoTime());
        } catch (RuntimeException | Error e) {
            // The mailbox thread fails the task. The other rings work until then.
            duties.remove(duty);
            report(e);
        }
    }

    /** Keeps the first failure, which may be the cause of later ones. */
    private void report(Throwable cause) {
        if (failure == null) {
            failure =
                    new SessionException(
                            "Thread of the rings failed: cause="
                                    + cause
                                    + FileDescriptors.shortage(),
                            cause);
        }
        LOG.warn("Thread of the rings failed: thread={}", name, cause);
    }

    /**
     * Reports a failure to the mailbox thread.
     *
     * @throws SessionException if a duty has thrown an exception
     */
    void checkNotFailed() throws SessionException {
        SessionException failed = failure;
        if (failed != null) {
            throw new SessionException(failed.getMessage(), failed);
        }
    }

    /** Stops the thread, and waits for its current round. */
    @Override
    public void close() throws Exception {
        rounds.close();
    }
}
