package io.github.gpujoin.flink.runtime.expiry;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.ArrayDeque;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Drops facts that waited longer for the dimensions to be complete than they live: as others come,
 * so that the log does not grow beyond what comes in that time, and before any of it is joined.
 * Their time runs from their arrival, or from a restore on where the dimensions were not complete.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class FactExpiry {

    /** Chunks that each one which comes takes out, where their time is over. */
    private static final int DROPS_A_CHUNK = 2;

    private final long ttlMs;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final Counter expiredFacts;

    /** When the chunks came that wait in the log, in its order; none where facts live for ever. */
    private final ArrayDeque<Long> arrivalsMs = new ArrayDeque<>();

    /**
     * @param ttlMs {@link TimesToLive#FOREVER} for facts that wait as long as it takes
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

    /** Takes note of a chunk that the log has. */
    public void waits() {
        if (ttlMs != TimesToLive.FOREVER) {
            arrivalsMs.add(time.getCurrentProcessingTime());
        }
    }

    /**
     * Takes the oldest chunks out of the log whose time is over, a few at a time.
     *
     * @param dropped given each of them
     */
    public void dropSome(ThrowingConsumer<Chunk, Exception> dropped) throws Exception {
        drop(DROPS_A_CHUNK, dropped);
    }

    /** Takes all of them out; what is left does not expire any more. */
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
