package io.github.gpujoin.flink.transport;

import io.github.gpujoin.rdma.transport.Threads;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that keeps a subtask's sessions alive while its mailbox is busy: connects, sends
 * heartbeats and gives credit. It never touches state, never emits, and hands nothing over but by
 * the sessions.
 */
final class SessionAgent implements AutoCloseable {

    /** A thing to be done often, by this thread. */
    @FunctionalInterface
    interface Duty {

        /** Failures are kept for the mailbox, which has to be told. */
        void step(long nowNs);
    }

    /** Between two rounds: far below a heartbeat, since handshakes wait for it, too. */
    private static final long IDLE_NS = 2_000_000;

    private final List<Duty> duties = new CopyOnWriteArrayList<>();
    private final Thread thread;
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
            for (Duty duty : duties) {
                duty.step(System.nanoTime());
            }
            LockSupport.parkNanos(IDLE_NS);
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
