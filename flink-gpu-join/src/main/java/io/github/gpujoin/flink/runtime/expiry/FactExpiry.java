// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.expiry;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.ArrayDeque;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Drops facts whose time to live ended while they waited for the dimensions. It drops some as
 * others arrive, which bounds the log, and the rest before the first fact is joined. The time runs
 * from the arrival of a fact, or from a restore before the dimensions were complete.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class FactExpiry {

    /** Expired chunks that are dropped for each one that arrives. */
    private static final int DROPS_A_CHUNK = 2;

    private final long ttlMs;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final Counter expiredFacts;

    /**
     * Arrival times of the waiting chunks, in the order of the log; empty without a time to live.
     */
    private final ArrayDeque<Long> arrivalsMs = new ArrayDeque<>();

    /**
     * @param ttlMs {@link TimesToLive#FOREVER} for no limit
     */
    public FactExpiry(long ttlMs, ProbeLog log, ProcessingTimeService time, Counter expiredFacts) {
        this.ttlMs = ttlMs;
        this.log = log;
        this.time = time;
        this.expiredFacts = expiredFacts;
    }

    /** Whether facts expire while they wait. */
    public boolean isOn() {
        return ttlMs != TimesToLive.FOREVER;
    }

    /** Records the arrival of a chunk that the log holds now. */
    public void waits() {
        if (ttlMs != TimesToLive.FOREVER) {
            arrivalsMs.add(time.getCurrentProcessingTime());
        }
    }

    /**
     * Drops a few of the expired chunks, oldest first.
     *
     * @param dropped receives each dropped chunk
     */
    public void dropSome(ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        drop(DROPS_A_CHUNK, dropped);
    }

    /** Drops all expired chunks; the others do not expire any more. */
    public void dropAll(ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        drop(Integer.MAX_VALUE, dropped);
        arrivalsMs.clear();
    }

    private void drop(int most, ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        long before = time.getCurrentProcessingTime() - ttlMs;
        for (int i = 0; i < most && !arrivalsMs.isEmpty() && arrivalsMs.peek() < before; i++) {
            arrivalsMs.remove();
            InFlightProbe oldest = log.peek();
            log.remove();
            expiredFacts.inc(oldest.chunk().rowCount() - oldest.firstRow());
            dropped.accept(oldest.chunk());
        }
    }
}
