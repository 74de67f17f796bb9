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
 * Drops facts by processing time: some as others arrive, which bounds the log, and the rest before
 * the first fact is joined. The time runs from the arrival of a fact, or from a restore before the
 * dimensions were complete.
 */
final class ProcessingTimeFactExpiry implements FactExpiry {

    /** Expired chunks that are dropped for each one that arrives. */
    private static final int DROPS_A_CHUNK = 2;

    private final long ttlMs;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final Counter expiredFacts;

    /** Arrival times of the waiting chunks, in the order of the log. */
    private final ArrayDeque<Long> arrivalsMs = new ArrayDeque<>();

    private boolean isStopped;

    ProcessingTimeFactExpiry(
            long ttlMs, ProbeLog log, ProcessingTimeService time, Counter expiredFacts) {
        this.ttlMs = ttlMs;
        this.log = log;
        this.time = time;
        this.expiredFacts = expiredFacts;
    }

    @Override
    public boolean isEnabled() {
        return true;
    }

    @Override
    public void recordArrival() {
        if (!isStopped) {
            arrivalsMs.add(time.getCurrentProcessingTime());
        }
    }

    @Override
    public void stop() {
        isStopped = true;
    }

    @Override
    public void dropSome(ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        drop(DROPS_A_CHUNK, dropped);
    }

    @Override
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
