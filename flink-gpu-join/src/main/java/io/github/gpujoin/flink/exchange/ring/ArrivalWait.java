// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/**
 * A wait of the mailbox thread for the chunk of a ticket, in intervals that grow.
 *
 * @param maxWaitNs longest wait
 */
record ArrivalWait(long maxWaitNs) {

    private static final long MIN_POLL_INTERVAL_NS = 10_000;
    private static final long MAX_POLL_INTERVAL_NS = 1_000_000;

    /** Returns the chunk, or null while it has not fully arrived. */
    @FunctionalInterface
    interface Poll {
        @Nullable Chunk poll() throws SessionException;
    }

    /**
     * Polls until a chunk arrives.
     *
     * @param cancelled whether the task is cancelled
     * @param idle counts the wait as idle time
     * @param late returns the failure after the longest wait
     * @throws CancelTaskException if the task is cancelled or its thread interrupted
     */
    Chunk until(
            Poll arrived,
            BooleanSupplier cancelled,
            TimerGauge idle,
            Supplier<RuntimeException> late)
            throws SessionException {
        long startNs = System.nanoTime();
        long waitNs = MIN_POLL_INTERVAL_NS;
        Chunk chunk;
        while ((chunk = arrived.poll()) == null) {
            if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                throw new CancelTaskException(
                        "The task was cancelled while it waited for a chunk.");
            }
            if (System.nanoTime() - startNs > maxWaitNs) {
                throw late.get();
            }
            idle.markStart();
            LockSupport.parkNanos(waitNs);
            idle.markEnd();
            waitNs = Math.min(2 * waitNs, MAX_POLL_INTERVAL_NS);
        }
        return chunk;
    }
}
