package io.github.gpujoin.flink.transport;

import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.transport.Threads;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
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

    /** Between two rounds: far below a heartbeat, since handshakes wait for it, too. */
    private static final long IDLE_NS = 2_000_000;

    private final List<Duty> duties = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private volatile Throwable breakdown;
    private volatile boolean stops;

    SessionAgent(String task) {
        thread = new Thread(this::run, "gpu-join rings of " + task);
        thread.setDaemon(true);
        thread.start();
    }

    void add(Duty duty) {
        duties.add(duty);
    }

    private void run() {
        while (!stops) {
            try {
                duties.forEach(this::step);
                LockSupport.parkNanos(IDLE_NS);
            } catch (RuntimeException | Error e) {
                report(e); // a fault of memory surfaces at any call after it
            }
        }
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
            breakdown = cause;
        }
        LOG.warn("A duty of the rings' thread broke down: {}", thread.getName(), cause);
    }

    /**
     * For the mailbox.
     *
     * @throws SessionException where a duty is not done any more, since it broke down
     */
    void checkNotFailed() throws SessionException {
        Throwable cause = breakdown;
        if (cause != null) {
            throw new SessionException(
                    "a duty of the rings' thread must not break down: " + cause, cause);
        }
    }

    /** Returns once no duty is under way, and none comes any more. */
    @Override
    public void close() {
        stops = true;
        LockSupport.unpark(thread);
        // What the thread uses is closed next, so its end is waited for all the same.
        Threads.joinUninterruptibly(thread);
    }
}
