package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.checkpoint.ProbeLog;
import io.github.gpujoin.flink.expiry.FactExpiry;
import io.github.gpujoin.flink.report.StageTimes;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The facts of a subtask on their way through the engine. In {@link JoinPhase#LOAD} they wait in
 * state. In {@link JoinPhase#JOIN} they go to the engine, and its results to the output; facts that
 * the engine has no room for within {@value #MAX_WAIT_MS} ms join those that wait in state, so that
 * a barrier is never far behind. What waits is worked off in self-posted mails of a few
 * milliseconds.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class ProbeSide {

    /** Longest time that one chunk of facts holds up the next barrier. */
    private static final long MAX_WAIT_MS = 100;

    /** Time that one mail works before others get their turn. */
    static final long MAIL_MS = 10;

    /** Stands for build rows without a match where results are waited for. */
    private static final int UNMATCHED = Integer.MIN_VALUE;

    private final JoinEngine engine;
    private final ProbeLog log;

    /** Null where all build rows always have tables. */
    private final SpilledFacts spilled;

    private final UnmatchedBuildRows<?> unmatched;
    private final WatermarkGate watermarks;
    private final ResultPump pump;
    private final MailboxExecutor mailbox;
    private final FactExpiry expiry;
    private final StageTimes times;
    private JoinPhase phase = JoinPhase.LOAD;
    private boolean mailPosted;
    private boolean idle;

    /**
     * @param spilled null where all build rows always have tables
     * @param pumpOf makes the pump of the engine's results, given who is told of each chunk whose
     *     results are all emitted
     * @param times gets the time that joining takes, emitting included
     */
    ProbeSide(
            JoinEngine engine,
            ProbeLog log,
            SpilledFacts spilled,
            UnmatchedBuildRows<?> unmatched,
            Function<ThrowingConsumer<Chunk, Exception>, ResultPump> pumpOf,
            MailboxExecutor mailbox,
            FactExpiry expiry,
            StageTimes times) {
        this.engine = engine;
        this.log = log;
        this.spilled = spilled;
        this.unmatched = unmatched;
        this.mailbox = mailbox;
        this.expiry = expiry;
        this.times = times;
        this.pump = pumpOf.apply(this::completed);
        this.watermarks = new WatermarkGate(pump::pass);
    }

    JoinPhase phase() {
        return phase;
    }

    /**
     * Takes up what a snapshot had waiting; watermarks wait for it.
     *
     * @param loads whether it goes on waiting for the dimensions, and so may expire
     */
    void restore(boolean loads) throws Exception {
        unmatched.restore();
        log.restore(
                partition -> {
                    watermarks.accepted(spilled == null ? 0 : partition);
                    if (loads) {
                        expiry.waits();
                    }
                });
    }

    /** The build side is complete, and the engine's tables. */
    void startJoining() throws Exception {
        phase = phase.to(JoinPhase.JOIN);
        expiry.dropAll(this::completed);
        postMail();
    }

    // ------------------------------------------------------------------ what comes

    void accept(Chunk chunk) throws Exception {
        PendingProbe probe = new PendingProbe(chunk, 0);
        watermarks.accepted(line(chunk));
        if (phase == JoinPhase.LOAD) {
            log.append(probe);
            expiry.waits();
            expiry.dropSome(this::completed);
            return;
        }
        if (spilled != null && spilled.putOff(probe)) {
            work(MAIL_MS);
            postMail();
            return;
        }
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MS);
        while (!trySubmit(probe)) {
            if (System.nanoTime() - deadlineNs > 0) {
                log.append(probe);
                postMail();
                return;
            }
            work(MAIL_MS);
        }
        work(MAX_WAIT_MS);
        postMail();
    }

    /**
     * The largest one goes on with {@link #ended} only: it also comes where one channel has ended
     * and the others are idle, and does not where the facts end while idle.
     */
    void accept(Watermark mark) throws Exception {
        if (mark.getTimestamp() != Long.MAX_VALUE) {
            watermarks.hold(mark);
        }
    }

    void accept(WatermarkStatus status) throws Exception {
        idle = status.isIdle();
        watermarks.hold(status);
    }

    /**
     * Has build rows without a match emitted behind all facts, and then the largest watermark: no
     * fact comes any more.
     */
    void ended() throws Exception {
        resumeSpilled();
        if (unmatched.factsEnded()) {
            watermarks.accepted(UNMATCHED);
        }
        if (idle) {
            // a watermark of an idle stream is lost
            accept(WatermarkStatus.ACTIVE);
        }
        watermarks.hold(Watermark.MAX_WATERMARK);
        postMail();
    }

    /** Has facts joined that were put off; no other ones will be. */
    private void resumeSpilled() {
        if (spilled != null) {
            spilled.factsEnded();
        }
    }

    // ------------------------------------------------------------------ barriers and the end

    /** Emits what the output is to have before a barrier. */
    void flush() throws Exception {
        if (phase == JoinPhase.JOIN) {
            long startNs = System.nanoTime();
            pump.beforeBarrier();
            times.addSince(StageTimes.Stage.JOIN, startNs);
        }
    }

    /**
     * Emits the results of all facts so far.
     *
     * @param check throws where the task does not go on
     */
    void awaitAll(ThrowingRunnable<Exception> check) throws Exception {
        while (hasFacts()) {
            work(MAX_WAIT_MS);
            check.run();
        }
    }

    /**
     * Emits the results of all facts that the engine has; those that wait in state go on waiting.
     *
     * @param check throws where the task does not go on
     */
    void awaitEngine(ThrowingRunnable<Exception> check) throws Exception {
        if (phase == JoinPhase.LOAD) {
            return;
        }
        while (engine.inFlight() > 0 || engine.state() == EngineState.BUILDING) {
            pump.turn();
            check.run();
        }
        pump.handOutKept();
    }

    /** Writes what the engine has in flight to the state. */
    void snapshot() throws Exception {
        if (phase == JoinPhase.JOIN) {
            log.snapshotInFlight(engine.snapshot());
        }
        unmatched.snapshot();
    }

    /**
     * Emits all results.
     *
     * @param check throws where the task does not go on
     */
    void drain(ThrowingRunnable<Exception> check) throws Exception {
        resumeSpilled();
        while (hasWork()) {
            work(MAX_WAIT_MS);
            check.run();
        }
        flush();
    }

    // ------------------------------------------------------------------ work

    /** Has what waits worked off in mails. */
    void postMail() {
        if (!mailPosted && hasWork()) {
            mailPosted = true;
            mailbox.execute(this::onMail, "join facts that wait");
        }
    }

    private void onMail() throws Exception {
        mailPosted = false;
        work(MAIL_MS);
        postMail();
    }

    /** Chunks of one line are answered in the order in which they came. */
    private int line(Chunk chunk) {
        return spilled == null ? 0 : chunk.partition();
    }

    private void completed(Chunk chunk) throws Exception {
        watermarks.completed(line(chunk));
    }

    /** Submits behind what waits in state, never past it. */
    private boolean trySubmit(PendingProbe probe) {
        return log.isEmpty() && engine.submitProbe(probe.chunk(), probe.firstRow());
    }

    private boolean hasWork() {
        return phase == JoinPhase.JOIN && (hasFacts() || unmatched.isDue());
    }

    private boolean hasFacts() {
        return engine.inFlight() > 0 || !log.isEmpty() || engine.state() == EngineState.BUILDING;
    }

    /** Feeds the engine from state and emits results, for about that long at most. */
    private void work(long forMs) throws Exception {
        long startNs = System.nanoTime();
        long deadlineNs = startNs + TimeUnit.MILLISECONDS.toNanos(forMs);
        boolean goesOn = true;
        while (goesOn && hasWork()) {
            submitWaiting();
            goesOn = hasFacts() ? pump.turn() : emitUnmatched();
            goesOn &= System.nanoTime() - deadlineNs < 0;
        }
        if (phase == JoinPhase.JOIN && engine.inFlight() == 0) {
            engine.poll(); // lets go of what the last batch needed
        }
        // A barrier may come next, and it must not find results that nobody has.
        pump.handOutKept();
        times.addSince(StageTimes.Stage.JOIN, startNs);
    }

    /** Emits some; whether there were any. Facts that are put off come first. */
    private boolean emitUnmatched() throws Exception {
        if (!unmatched.isDue()) {
            return false;
        }
        unmatched.turn();
        if (!unmatched.isDue()) {
            watermarks.completed(UNMATCHED);
        }
        return true;
    }

    private void submitWaiting() throws Exception {
        while (hasWaiting()) {
            PendingProbe probe = log.peek();
            if (!engine.submitProbe(probe.chunk(), probe.firstRow())) {
                return;
            }
            log.remove();
        }
    }

    /** Whether there are facts to submit now; those that had better be put off are. */
    private boolean hasWaiting() throws Exception {
        if (spilled != null) {
            spilled.putOffNext();
        }
        return !log.isEmpty();
    }
}
