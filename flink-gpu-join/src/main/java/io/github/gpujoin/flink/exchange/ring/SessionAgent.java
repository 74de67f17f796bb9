package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.SessionException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that keeps a subtask's sessions alive while its mailbox is busy: connects, sends
 * heartbeats and gives credit. It never touches state, never emits, and hands nothing over but by
 * the sessions.
 */
final class SessionAgent implements AutoCloseable {

    /** A thing to be done often, by this thread. */
    @FunctionalInterface
    interface Duty {

        /**
         * Failures are kept for the mailbox, which has to be told; a duty that throws is not done
         * again.
         */
        void step(long nowNs);
    }

    private static final Logger LOG = LoggerFactory.getLogger(SessionAgent.class);

    private final List<Duty> duties = new CopyOnWriteArrayList<>();
    private final String name;
    private final AutoCloseable rounds;
    private volatile SessionException breakdown;

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
            // The mailbox ends the task; until then, the other rings live on.
            duties.remove(duty);
            report(e);
        }
    }

    /** Keeps the first: what breaks down after it may do so because of it. */
    private void report(Throwable cause) {
        if (breakdown == null) {
            breakdown =
                    new SessionException(
                            "a duty of the rings' thread must not break down: "
                                    + cause
                                    + FileDescriptors.want(),
                            cause);
        }
        LOG.warn("A duty of the rings' thread broke down: {}", name, cause);
    }

    /**
     * For the mailbox.
     *
     * @throws SessionException where a duty is not done any more, since it broke down
     */
    void checkNotFailed() throws SessionException {
        SessionException failed = breakdown;
        if (failed != null) {
            throw new SessionException(failed.getMessage(), failed);
        }
    }

    /** Returns once no duty is under way, and none comes any more. */
    @Override
    public void close() throws Exception {
        rounds.close();
    }
}
