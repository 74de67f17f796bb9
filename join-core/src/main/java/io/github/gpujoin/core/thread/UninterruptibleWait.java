// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.thread;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Waits that an interrupt does not end, so that a caller can free what threads use. The calling
 * thread is interrupted afterwards, if it was meanwhile.
 */
public final class UninterruptibleWait {

    private UninterruptibleWait() {}

    /** A wait that an interrupt ends early. */
    @FunctionalInterface
    public interface Step {

        /**
         * Waits for an event, at least for a moment.
         *
         * @return whether the event has happened; if not, a further call follows
         * @throws InterruptedException if the thread was interrupted; a further call follows
         */
        boolean await() throws InterruptedException;
    }

    /** Repeats a wait until its event has happened. */
    public static void until(Step step) {
        boolean isInterrupted = false;
        boolean isOver = false;
        while (!isOver) {
            try {
                isOver = step.await();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for a thread that was asked to end. A thread that was not started has ended. */
    public static void join(Thread thread) {
        until(
                () -> {
                    thread.join();
                    return true;
                });
    }

    /** Waits for all threads of an executor that was shut down. */
    public static void untilTerminated(ExecutorService executor) {
        until(() -> executor.awaitTermination(1, TimeUnit.SECONDS));
    }
}
