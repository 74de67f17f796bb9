package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.checkpoint.ProbeLog;
import java.util.ArrayDeque;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Drops facts that waited longer for the dimensions to be complete than they live. Their time runs
 * from their arrival, or from a restore on.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class FactExpiry {

    private final long ttlMs;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final Counter expiredFacts;

    /** When the chunks came that wait in the log, in its order; none where facts live for ever. */
    private final ArrayDeque<Long> arrivalsMs = new ArrayDeque<>();

    /**
     * @param ttlMs {@link TimesToLive#FOREVER} for facts that wait as long as it takes
     */
    FactExpiry(long ttlMs, ProbeLog log, ProcessingTimeService time, Counter expiredFacts) {
        this.ttlMs = ttlMs;
        this.log = log;
        this.time = time;
        this.expiredFacts = expiredFacts;
    }

    /** Takes note of a chunk that was appended to the log. */
    void waits() {
        if (ttlMs != TimesToLive.FOREVER) {
            arrivalsMs.add(time.getCurrentProcessingTime());
        }
    }

    /**
     * Takes the chunks out of the log whose time is over, before any of it is joined.
     *
     * @param dropped given each of them
     */
    void drop(ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        long before = time.getCurrentProcessingTime() - ttlMs;
        while (!arrivalsMs.isEmpty() && arrivalsMs.remove() < before) {
            PendingProbe oldest = log.peek();
            log.remove();
            expiredFacts.inc(oldest.chunk().rowCount() - oldest.firstRow());
            dropped.accept(oldest.chunk());
        }
        arrivalsMs.clear();
    }
}
