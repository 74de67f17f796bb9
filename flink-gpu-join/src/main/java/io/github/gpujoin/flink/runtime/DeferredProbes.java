// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
 * Defers probes of spilled partitions, so their tables are built once for many probes. The probes
 * of a partition resume
 *
 * <ul>
 *   <li>when they have enough bytes that the build costs little beside the join;
 *   <li>when the first of them has waited for the longest delay, since watermarks wait for it;
 *   <li>when no facts arrive, the partition with the most bytes first;
 *   <li>when the engine builds permanent tables of the partition, and at the end of the facts.
 * </ul>
 *
 * <p>Runs in the task's mailbox thread.
 */
final class DeferredProbes implements ProbeDeferral {

    /** Timer ticks in one longest delay. */
    private static final int TICKS_IN_DELAY = 10;

    private final HybridJoinEngine engine;
    private final ProbeLog log;
    private final ProcessingTimeService time;
    private final long delayMs;
    private final ThrowingRunnable<Exception> onResumed;
    private final Map<Integer, Waiting> partitions = new HashMap<>();
    private boolean timerRuns;
    private boolean factsArrived;
    private boolean ended;
    private volatile long deferredBytes;

    /** Deferred probes of one partition. */
    private static final class Waiting {
        private final long sinceMs;
        private long bytes;

        Waiting(long sinceMs) {
            this.sinceMs = sinceMs;
        }
    }

    /**
     * @param delayMs longest time that probes are deferred
     * @param onResumed joins the probes that have resumed
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

    /** Bytes of deferred probes. Any thread. */
    long deferredBytes() {
        return deferredBytes;
    }

    @Override
    public boolean acceptsMixedPartitions() {
        factsArrived = true;
        if (!engine.acceptsMixedPartitions()) {
            return false;
        }
        List.copyOf(partitions.keySet()).forEach(this::resume);
        return true;
    }

    @Override
    public boolean defer(InFlightProbe probe) throws Exception {
        factsArrived = true;
        int partition = probe.chunk().partition();
        if (ended || !engine.isSpilled(partition)) {
            resume(partition);
            return false;
        }
        log.appendDeferred(probe);
        count(probe);
        return true;
    }

    @Override
    public void deferNext() throws Exception {
        while (!log.isEmpty() && !log.isDue()) {
            InFlightProbe next = log.peek();
            if (!engine.isSpilled(next.chunk().partition())) {
                return;
            }
            log.deferNext();
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
        deferredBytes += bytes;
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
        if (!factsArrived && log.isEmpty()) {
            partitions.entrySet().stream()
                    .max(Map.Entry.comparingByValue((a, b) -> Long.compare(a.bytes, b.bytes)))
                    .ifPresent(most -> resume(most.getKey()));
        }
        factsArrived = false;
        if (!partitions.isEmpty()) {
            timerRuns = true;
            time.registerTimer(now + tickMs(), this::onTimer);
        }
        onResumed.run();
    }

    /** Defers probes of the log first, which keeps the probes of each partition in order. */
    @Override
    public void endInput() {
        ended = true;
        resumeAtEnd();
    }

    @Override
    public int orderOf(int partition) {
        return partition;
    }

    private void resumeAtEnd() {
        if (ended && log.isEmpty()) {
            List.copyOf(partitions.keySet()).forEach(this::resume);
        }
    }

    private void resume(int partition) {
        Waiting waiting = partitions.remove(partition);
        if (waiting != null) {
            deferredBytes -= waiting.bytes;
            log.resume(partition);
        }
    }
}
