// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.flink.exchange.ring.PayloadAccess;
import io.github.gpujoin.flink.exchange.ring.SlotFaults;
import io.github.gpujoin.flink.metrics.StageTimes;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Submits waiting facts to the engine and emits its results, until a deadline, while the output has
 * room and no barrier is due. Emits unmatched build rows behind the results of all facts.
 *
 * <p>Used by the task's mailbox thread.
 */
final class ProbeLoop {

    /** Time between two polls for results of the engine. */
    private static final long POLL_INTERVAL_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final JoinEngine engine;
    private final ProbeLog log;
    private final ProbeDeferral deferral;
    private final UnmatchedBuildRows unmatched;
    private final ThrowingRunnable<Exception> onUnmatchedEmitted;
    private final ResultPump pump;
    private final StageTimes times;
    private final ProbeBackpressure backpressure;
    private final ThrowingRunnable<Exception> checkNotCancelled;

    private JoinPhase phase = JoinPhase.LOAD;

    /**
     * @param onUnmatchedEmitted called behind the last unmatched build row
     * @param times receives the time of joining, emission included
     * @param checkNotCancelled throws if the task has been cancelled
     */
    ProbeLoop(
            JoinEngine engine,
            ProbeLog log,
            ProbeDeferral deferral,
            UnmatchedBuildRows unmatched,
            ThrowingRunnable<Exception> onUnmatchedEmitted,
            ResultPump pump,
            StageTimes times,
            ProbeBackpressure backpressure,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.engine = engine;
        this.log = log;
        this.deferral = deferral;
        this.unmatched = unmatched;
        this.onUnmatchedEmitted = onUnmatchedEmitted;
        this.pump = pump;
        this.times = times;
        this.backpressure = backpressure;
        this.checkNotCancelled = checkNotCancelled;
    }

    JoinPhase phase() {
        return phase;
    }

    /** Starts {@link JoinPhase#JOIN}; in LOAD the loop has no work. */
    void startJoining() {
        phase = phase.to(JoinPhase.JOIN);
        backpressure.startJoining();
    }

    boolean isJoining() {
        return phase == JoinPhase.JOIN;
    }

    /** How facts are to be received: in place if the engine is the next to read them. */
    PayloadAccess payloadAccess() {
        if (!isJoining() || !log.isEmpty()) {
            return PayloadAccess.COPY;
        }
        return engine.verifiesSlots() ? PayloadAccess.IN_PLACE : PayloadAccess.VERIFIED_IN_PLACE;
    }

    // ------------------------------------------------------------------ work

    /** Submits a probe, unless other probes wait in state. */
    boolean trySubmit(InFlightProbe probe) throws Exception {
        return log.isEmpty()
                && SlotFaults.orFail(() -> engine.submitProbe(probe.chunk(), probe.firstRow()));
    }

    boolean hasWork() {
        return isJoining() && (hasFacts() || unmatched.isDue());
    }

    /** Whether facts, except deferred ones, lack results. */
    boolean hasFacts() {
        return isEngineBusy() || !log.isEmpty();
    }

    /** Whether the engine holds probes, or rebuilds its tables for some. */
    private boolean isEngineBusy() {
        return engine.inFlightCount() > 0
                || pump.holdsBatch()
                || engine.state() == EngineState.BUILDING;
    }

    /**
     * Submits waiting probes and emits results while the output has room.
     *
     * @param maxMs approximate limit in ms
     */
    void work(long maxMs) throws Exception {
        if (backpressure.awaitOutput()) {
            SlotFaults.orFail(() -> join(maxMs));
        }
    }

    private void join(long maxMs) throws Exception {
        long startNs = System.nanoTime();
        long deadlineNs = startNs + TimeUnit.MILLISECONDS.toNanos(maxMs);
        boolean progresses = true;
        boolean hasProgressed = false;
        while (progresses && hasWork()) {
            submitWaiting();
            progresses = hasFacts() ? pump.emitNext() : emitUnmatched();
            hasProgressed |= progresses;
            progresses &= System.nanoTime() - deadlineNs < 0 && !backpressure.yieldsToBarrier();
            progresses &= backpressure.outputHasRoom();
        }
        if (isJoining() && engine.inFlightCount() == 0 && !pump.holdsBatch()) {
            engine.poll(); // releases the buffers of the last batch
        }
        // A barrier may follow, and no result may be counted as emitted that is still buffered.
        pump.flushEmitter();
        times.addSince(StageTimes.Stage.JOIN, startNs);
        if (!hasProgressed) {
            // The engine waits for a device. A source on this core may need the time more.
            Thread.yield();
        }
    }

    private void submitWaiting() throws Exception {
        while (hasWaiting()) {
            InFlightProbe probe = log.peek();
            if (!engine.submitProbe(probe.chunk(), probe.firstRow())) {
                return;
            }
            log.remove();
        }
    }

    /** Whether facts can be submitted now; facts of spilled partitions are deferred. */
    private boolean hasWaiting() throws Exception {
        deferral.deferNext();
        return !log.isEmpty();
    }

    /** Emits some unmatched build rows, behind deferred facts; returns whether it did. */
    private boolean emitUnmatched() throws Exception {
        if (!unmatched.isDue()) {
            return false;
        }
        unmatched.emitSome();
        if (!unmatched.isDue()) {
            onUnmatchedEmitted.run();
        }
        return true;
    }

    // ------------------------------------------------------------------ barriers and end

    /** Emits results that should precede a barrier. */
    void flush() throws Exception {
        if (isJoining()) {
            long startNs = System.nanoTime();
            SlotFaults.orFail(
                    () -> {
                        emitInFlight(startNs + TimeUnit.MILLISECONDS.toNanos(ProbePath.MAIL_MS));
                        pump.beforeBarrier();
                    });
            times.addSince(StageTimes.Stage.JOIN, startNs);
        }
    }

    /**
     * Emits the engine's results until the deadline. A GPU needs about a millisecond, a CPU none.
     * Behind the barrier of a stop, results would reach a sink without transactions, and again
     * after the restore.
     */
    private void emitInFlight(long deadlineNs) throws Exception {
        while (engine.inFlightCount() > 0
                && engine.state() == EngineState.JOINING
                && backpressure.outputIsAvailable()
                && System.nanoTime() - deadlineNs < 0) {
            if (!pump.emitNext()) {
                checkNotCancelled.run();
                LockSupport.parkNanos(POLL_INTERVAL_NS);
            }
        }
    }

    /** Emits the results of all facts so far. */
    void awaitFacts() throws Exception {
        while (hasFacts()) {
            work(ProbeBackpressure.MAX_WAIT_MS);
            checkNotCancelled.run();
        }
    }

    /** Emits the results of all facts that the engine holds; facts in state continue to wait. */
    void awaitEngine() throws Exception {
        if (!isJoining()) {
            return;
        }
        while (isEngineBusy()) {
            SlotFaults.orFail(pump::emitNext);
            checkNotCancelled.run();
        }
        pump.flushEmitter();
    }

    /** Emits the results of all facts and the unmatched build rows. */
    void finish() throws Exception {
        while (hasWork()) {
            work(ProbeBackpressure.MAX_WAIT_MS);
            checkNotCancelled.run();
        }
        flush();
    }

    /** The engine's in-flight probes, each with the number of its emitted rows. */
    List<InFlightProbe> inFlight() {
        return pump.emitted(engine.snapshot());
    }
}
