// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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

    private static final Runnable NOTHING = () -> {};

    private static long nowNs = START_NS;

    /** Done as time passes, but for the time that it takes itself. */
    private static Runnable background = NOTHING;

    /** Done while a task waits for others. */
    private static Runnable others = NOTHING;

    private static boolean inBackground;

    private VirtualTime() {}

    static void reset() {
        nowNs = START_NS;
        background = NOTHING;
        others = NOTHING;
    }

    /**
     * @param inBackground done whenever time has passed
     * @param whileWaiting done whenever a task waits for what others do
     */
    static void beside(Runnable inBackground, Runnable whileWaiting) {
        background = inBackground;
        others = whileWaiting;
    }

    static void advanceNs(long ns) {
        nowNs += Math.max(0, ns);
        if (inBackground) {
            return;
        }
        inBackground = true;
        try {
            background.run();
        } finally {
            inBackground = false;
        }
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
        if (!inBackground) {
            others.run();
        }
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
