// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.expiry;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.ProbeLog;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Drops facts whose time to live ended while they waited for the dimensions. Used by the task's
 * mailbox thread.
 */
public interface FactExpiry {

    /** Drops no facts. */
    FactExpiry NONE =
            new FactExpiry() {
                @Override
                public boolean isEnabled() {
                    return false;
                }

                @Override
                public void recordArrival() {}

                @Override
                public void stop() {}

                @Override
                public void dropSome(ThrowingConsumer<Chunk, Exception> dropped) {}

                @Override
                public void dropAll(ThrowingConsumer<Chunk, Exception> dropped) {}
            };

    /**
     * Drops facts of a log.
     *
     * @param ttlMs {@link TimesToLive#FOREVER} for no limit
     */
    static FactExpiry of(
            long ttlMs, ProbeLog log, ProcessingTimeService time, Counter expiredFacts) {
        return ttlMs == TimesToLive.FOREVER
                ? NONE
                : new ProcessingTimeFactExpiry(ttlMs, log, time, expiredFacts);
    }

    /** Whether facts have a time to live. */
    boolean isEnabled();

    /** Records the arrival of a chunk that the log holds now. */
    void recordArrival();

    /** Ignores later arrivals: facts that wait from now on do not expire. */
    void stop();

    /**
     * Drops a few of the expired chunks, oldest first.
     *
     * @param dropped receives each dropped chunk
     */
    void dropSome(ThrowingConsumer<Chunk, Exception> dropped) throws Exception;

    /**
     * Drops all expired chunks; the others do not expire any more.
     *
     * @param dropped receives each dropped chunk
     */
    void dropAll(ThrowingConsumer<Chunk, Exception> dropped) throws Exception;
}
