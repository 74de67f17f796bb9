package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.flink.state.ProbeLog;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Puts facts off whose build rows have no tables, so that tables are made once for many of them. A
 * partition's facts are joined
 *
 * <ul>
 *   <li>when they are so many that making tables costs little beside joining them;
 *   <li>when the first of them has waited for the longest delay, since watermarks wait for them;
 *   <li>when no facts come, the partition with the most bytes first;
 *   <li>when tables are made after all, and at the end of the facts.
 * </ul>
 *
 * <p>Runs in the task's mailbox thread.
 */
final class DeferredProbes {

    /** Looks at the clock for each longest delay. */
    private static final int TICKS_IN_DELAY = 10;

    private final HybridJoinEngine engine;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final long delayMs;
    private final ThrowingRunnable<Exception> onResumed;
    private final Map<Integer, Waiting> partitions = new HashMap<>();
    private boolean timerRuns;
    private boolean factsCame;
    private boolean ended;
    private volatile long waitingBytes;

    /** Facts of one partition. */
    private static final class Waiting {
        private final long sinceMs;
        private long bytes;

        Waiting(long sinceMs) {
            this.sinceMs = sinceMs;
        }
    }

    /**
     * @param delayMs longest time that facts wait
     * @param onResumed has the facts joined that the log then gives
     */
    DeferredProbes(
            HybridJoinEngine engine,
            ProbeLog log,
            ProcessingTimeService time,
            long delayMs,
            ThrowingRunnable<Exception> onResumed) {
        this.engine = engine;
        this.log = log;
        this.time = time;
        this.delayMs = delayMs;
        this.onResumed = onResumed;
    }

    /** Bytes of facts that are put off. */
    long waitingBytes() {
        return waitingBytes;
    }

    /**
     * Whether a chunk of many partitions that just came can be joined in one piece; it goes behind
     * all that the log has.
     */
    boolean takesManyPartitions() {
        factsCame = true;
        if (!engine.acceptsMixedPartitions()) {
            return false;
        }
        List.copyOf(partitions.keySet()).forEach(this::resume);
        return true;
    }

    /**
     * Puts a chunk off that just came, where its build rows have no tables.
     *
     * @return whether it did; if not, the chunk goes behind all that the log has of its partition
     */
    boolean putOff(InFlightProbe probe) throws Exception {
        factsCame = true;
        int partition = probe.chunk().partition();
        if (ended || !engine.isSpilled(partition)) {
            resume(partition);
            return false;
        }
        log.appendPutOff(probe);
        count(probe);
        return true;
    }

    /**
     * Puts the log's next chunks off, up to one that is due or whose build rows have tables. Behind
     * the last one there is nothing left to wait for.
     */
    void putOffNext() throws Exception {
        while (!log.isEmpty() && !log.isDue()) {
            InFlightProbe next = log.peek();
            if (!engine.isSpilled(next.chunk().partition())) {
                return;
            }
            log.putOffNext();
            count(next);
        }
        resumeAtEnd();
    }

    private void count(InFlightProbe probe) {
        int partition = probe.chunk().partition();
        long now = time.getCurrentProcessingTime();
        Waiting waiting = partitions.computeIfAbsent(partition, p -> new Waiting(now));
        engine.announceDeferred(partition, probe.chunk().rowCount());
        long bytes = EngineChecks.payloadBytes(probe.chunk());
        waiting.bytes += bytes;
        waitingBytes += bytes;
        if (waiting.bytes >= engine.worthwhileFactBytes(partition)) {
            resume(partition);
        }
        if (!timerRuns) {
            timerRuns = true;
            time.registerTimer(now + tickMs(), this::onTimer);
        }
    }

    private long tickMs() {
        return Math.max(1, delayMs / TICKS_IN_DELAY);
    }

    private void onTimer(long now) throws Exception {
        timerRuns = false;
        for (Map.Entry<Integer, Waiting> entry : new ArrayList<>(partitions.entrySet())) {
            if (now - entry.getValue().sinceMs >= delayMs) {
                resume(entry.getKey());
            }
        }
        if (!factsCame && log.isEmpty()) {
            partitions.entrySet().stream()
                    .max(Map.Entry.comparingByValue((a, b) -> Long.compare(a.bytes, b.bytes)))
                    .ifPresent(most -> resume(most.getKey()));
        }
        factsCame = false;
        if (!partitions.isEmpty()) {
            timerRuns = true;
            time.registerTimer(now + tickMs(), this::onTimer);
        }
        onResumed.run();
    }

    /**
     * Has all facts joined: those of the log are put off first, so that each partition's follow.
     */
    void factsEnded() {
        ended = true;
        resumeAtEnd();
    }

    private void resumeAtEnd() {
        if (ended && log.isEmpty()) {
            List.copyOf(partitions.keySet()).forEach(this::resume);
        }
    }

    private void resume(int partition) {
        Waiting waiting = partitions.remove(partition);
        if (waiting != null) {
            waitingBytes -= waiting.bytes;
            log.resume(partition);
        }
    }
}
