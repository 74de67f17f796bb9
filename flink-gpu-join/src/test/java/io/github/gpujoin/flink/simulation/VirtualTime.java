package io.github.gpujoin.flink.simulation;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The clock of a simulated life. {@link VirtualTimeLoader} redirects every read of the clock and
 * every timed wait in the project's classes to these methods.
 *
 * <p>One thread runs a life, and each thread loads this class anew, so the clock is its own.
 */
public final class VirtualTime {

    private static final long START_NS = TimeUnit.DAYS.toNanos(1);

    /** A read of the clock takes time, so that a loop until a deadline ends. */
    private static final long READ_NS = 100;

    private static long nowNs = START_NS;

    private VirtualTime() {}

    static void reset() {
        nowNs = START_NS;
    }

    static void advanceNs(long ns) {
        nowNs += Math.max(0, ns);
    }

    static long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(nowNs);
    }

    /** Replaces {@link System#nanoTime}. */
    public static long nanoTime() {
        nowNs += READ_NS;
        return nowNs;
    }

    /** Replaces {@link System#currentTimeMillis}. */
    public static long currentTimeMillis() {
        return TimeUnit.NANOSECONDS.toMillis(nanoTime());
    }

    /** Replaces {@link java.util.concurrent.locks.LockSupport#parkNanos(long)}. */
    public static void parkNanos(long ns) {
        advanceNs(ns);
    }

    /** Replaces {@link Thread#sleep(long)}. */
    public static void sleep(long ms) {
        advanceNs(TimeUnit.MILLISECONDS.toNanos(ms));
    }

    /**
     * Replaces {@link BlockingQueue#offer(Object, long, TimeUnit)}. Nobody takes an element while
     * the only thread waits, so a full queue costs the whole timeout.
     */
    public static <E> boolean offer(
            BlockingQueue<E> queue, E element, long timeout, TimeUnit unit) {
        if (queue.offer(element)) {
            return true;
        }
        advanceNs(unit.toNanos(timeout));
        return false;
    }
}
