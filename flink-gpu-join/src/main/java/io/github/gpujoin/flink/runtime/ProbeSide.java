// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.backpressure.InputHold;
import io.github.gpujoin.flink.exchange.backpressure.OutputRoom;
import io.github.gpujoin.flink.metrics.StageTimes;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.runtime.expiry.FactExpiry;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Joins facts in the order of arrival. In {@link JoinPhase#LOAD} facts wait in state. In {@link
 * JoinPhase#JOIN} they go to the engine, and its results to the output. If the engine is full, up
 * to {@value #MAX_WAITING_BYTES} bytes of facts wait in state. Beyond that, processing a chunk
 * lasts until one of them is joined, which is the backpressure of a slow output. Waiting facts are
 * also joined in self-posted mails of a few milliseconds.
 *
 * <p>A barrier must not wait for that. From {@value #MAX_WAIT_MS} ms after the announcement of a
 * checkpoint, facts before its barrier are written to the state without a wait, up to a limit that
 * covers the content of the channels. No results are emitted while facts arrive or the output has
 * no free buffer: Flink reads no input without one, so each buffer that a slow output frees must
 * serve reading. A fast output still receives all results before the barrier.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class ProbeSide implements ProbePath {

    /**
     * Time for which the results of a chunk are emitted at once, rather than in mails, and for
     * which facts are joined once a checkpoint is announced.
     */
    static final long MAX_WAIT_MS = 100;

    /** Facts in state beyond which no more are read: four chunks of the default size. */
    static final int MAX_WAITING_BYTES = 512 << 10;

    /** What one channel may hold in front of a barrier: buffers, exchange by reference, rings. */
    static final int BYTES_OF_CHANNEL = 2 << 20;

    /** Time between two polls for results of the engine. */
    private static final long POLL_INTERVAL_NS = TimeUnit.MICROSECONDS.toNanos(20);

    /** Time for which one mail works. */
    static final long MAIL_MS = 10;

    /** Order of the unmatched build rows, apart from those of {@link ProbeDeferral#orderOf}. */
    private static final int UNMATCHED = Integer.MIN_VALUE;

    private final JoinEngine engine;
    private final ProbeLog log;

    private final ProbeDeferral deferral;

    private final UnmatchedBuildRows<?> unmatched;
    private final WatermarkGate watermarks;
    private final ResultPump pump;
    private final MailboxExecutor mailbox;
    private final FactExpiry expiry;
    private final StageTimes times;
    private final ThrowingRunnable<Exception> check;
    private final BooleanSupplier barrierIsDue;
    private final OutputRoom output;
    private final InputHold senders;
    private final long maxBytesForBarrier;

    /**
     * Collects chunks of many partitions while the build side loads; otherwise empty between calls.
     */
    private final PartitionDivider divider;

    private JoinPhase phase = JoinPhase.LOAD;
    private boolean mailPosted;
    private boolean idle;

    /** False after a restore of complete dimensions, as facts wait for their replay only. */
    private boolean factsExpire = true;

    /** Since the last mail. */
    private boolean factsArrived;

    /** Fewest bytes that have waited in JOIN; at first, what LOAD left. */
    private long leastQueuedBytes = Long.MAX_VALUE;

    /**
     * @param pumpOf makes the pump of the engine's results; its argument is called for each chunk
     *     whose results are all emitted
     * @param times receives the time of joining, emission included
     * @param check throws if the task has been cancelled
     * @param barrierIsDue whether a checkpoint began {@value #MAX_WAIT_MS} ms ago or earlier whose
     *     barrier has not arrived
     * @param senders of facts, which pause while too many wait
     * @param channels of facts
     * @param receivers subtasks of the join, over which a sender spreads its rows
     * @param divider of chunks of facts
     */
    ProbeSide(
            JoinEngine engine,
            ProbeLog log,
            ProbeDeferral deferral,
            UnmatchedBuildRows<?> unmatched,
            Function<ThrowingConsumer<Chunk, Exception>, ResultPump> pumpOf,
            MailboxExecutor mailbox,
            FactExpiry expiry,
            StageTimes times,
            ThrowingRunnable<Exception> check,
            BooleanSupplier barrierIsDue,
            OutputRoom output,
            InputHold senders,
            int channels,
            int receivers,
            PartitionDivider divider) {
        this.engine = engine;
        this.log = log;
        this.deferral = deferral;
        this.unmatched = unmatched;
        this.mailbox = mailbox;
        this.expiry = expiry;
        this.times = times;
        this.check = check;
        this.barrierIsDue = barrierIsDue;
        this.output = output;
        this.senders = senders;
        long bytesOfSender = BYTES_OF_CHANNEL + PackSpec.MAX_BUILDERS_BYTES / receivers;
        this.maxBytesForBarrier = MAX_WAITING_BYTES + bytesOfSender * Math.max(2, channels);
        this.divider = divider;
        this.pump = pumpOf.apply(this::completed);
        this.watermarks = new WatermarkGate(pump::pass);
    }

    JoinPhase phase() {
        return phase;
    }

    /** Reads the deferred chunks; watermarks wait for them. */
    @Override
    public void restore(boolean loads) throws Exception {
        factsExpire = loads;
        unmatched.restore();
        log.restore(
                partition -> {
                    watermarks.accepted(deferral.orderOf(partition));
                    if (loads) {
                        expiry.waits();
                    }
                });
    }

    @Override
    public void startJoining() throws Exception {
        divideCollected();
        phase = phase.to(JoinPhase.JOIN);
        expiry.dropAll(this::completed);
        postMail();
    }

    // ------------------------------------------------------------------ input

    /** Accepts facts; joins while too many wait. */
    @Override
    public void accept(Chunk chunk) throws Exception {
        if (chunk.hasManyPartitions()) {
            acceptMany(chunk);
        } else if (submit(chunk)) {
            awaitRoom();
        }
        postMail();
    }

    private void acceptMany(Chunk chunk) throws Exception {
        boolean loads = phase == JoinPhase.LOAD;
        if (!loads && submitWhole(chunk)) {
            awaitRoom();
            return;
        }
        divider.add(chunk, 0);
        if (!loads || divider.isFull() || expiry.isOn()) {
            divideCollected();
        }
        if (!loads) {
            awaitRoom();
        }
    }

    /** Submits collected rows, partition by partition. */
    private void divideCollected() throws Exception {
        divider.divide(this::submit);
    }

    /**
     * Submits facts of many partitions in one piece, and waits for room to do so.
     *
     * @return false if they must be divided, to wait in state
     */
    private boolean submitWhole(Chunk chunk) throws Exception {
        InFlightProbe probe = new InFlightProbe(chunk, 0);
        while (deferral.acceptsMixedPartitions()) {
            if (trySubmit(probe)) {
                watermarks.accepted(line(chunk));
                return true;
            }
            if (makesWayForBarrier()) {
                return false;
            }
            check.run();
            work(MAIL_MS);
        }
        return false;
    }

    /**
     * Submits facts, or lets them wait.
     *
     * @return whether the engine is next to join them, after those that wait
     */
    boolean submit(Chunk chunk) throws Exception {
        InFlightProbe probe = new InFlightProbe(chunk, 0);
        watermarks.accepted(line(chunk));
        if (phase == JoinPhase.LOAD) {
            log.append(probe);
            if (factsExpire) {
                expiry.waits();
                expiry.dropSome(this::completed);
            }
            return false;
        }
        if (deferral.defer(probe)) {
            work(MAIL_MS);
            return false;
        }
        if (!trySubmit(probe)) {
            log.append(probe);
        }
        return true;
    }

    /** Joins until few chunks wait, unless a barrier follows them. */
    void awaitRoom() throws Exception {
        factsArrived = true;
        if (makesWayForBarrier()) {
            return;
        }
        work(MAX_WAIT_MS);
        while (!hasRoom() && !makesWayForBarrier()) {
            check.run();
            work(MAIL_MS);
        }
    }

    /** Whether the results of all facts are emitted. */
    boolean isAnswered() {
        return !hasFacts();
    }

    /** Whether more facts may be read. */
    boolean hasRoom() {
        return log.queuedBytes() <= MAX_WAITING_BYTES;
    }

    /**
     * Whether facts go to the state rather than to the engine, since a barrier follows them. The
     * limit does not count what LOAD left, as a slow sink may take hours for that.
     */
    boolean makesWayForBarrier() {
        long queuedBytes = log.queuedBytes();
        if (phase == JoinPhase.JOIN) {
            leastQueuedBytes = Math.min(leastQueuedBytes, queuedBytes);
        }
        return barrierIsDue.getAsBoolean()
                && queuedBytes - Math.min(leastQueuedBytes, queuedBytes) < maxBytesForBarrier;
    }

    /**
     * {@link #endInput} alone emits the largest watermark. Flink also sends it when one channel has
     * ended and the others are idle, and does not send it when the facts end while idle.
     */
    @Override
    public void accept(Watermark mark) throws Exception {
        divideCollected();
        if (mark.getTimestamp() != Long.MAX_VALUE) {
            watermarks.hold(mark);
        }
    }

    @Override
    public void accept(WatermarkStatus status) throws Exception {
        divideCollected();
        idle = status.isIdle();
        watermarks.hold(status);
    }

    @Override
    public void acceptOther(StreamElement element) throws Exception {
        divideCollected();
        watermarks.hold(element);
    }

    /** Emits build rows without a match behind all facts, and then the largest watermark. */
    @Override
    public void endInput() throws Exception {
        divideCollected();
        deferral.endInput();
        if (unmatched.factsEnded()) {
            watermarks.accepted(UNMATCHED);
        }
        if (idle) {
            // Flink drops a watermark of an idle stream.
            accept(WatermarkStatus.ACTIVE);
        }
        watermarks.hold(Watermark.MAX_WATERMARK);
        postMail();
    }

    // ------------------------------------------------------------------ barriers and end

    /** Emits results that should precede a barrier. */
    void flush() throws Exception {
        if (phase == JoinPhase.JOIN) {
            long startNs = System.nanoTime();
            emitAnswers(startNs + TimeUnit.MILLISECONDS.toNanos(MAIL_MS));
            pump.beforeBarrier();
            times.addSince(StageTimes.Stage.JOIN, startNs);
        }
    }

    /**
     * Emits the engine's results until the deadline. A device needs about a millisecond where a CPU
     * needs none. Behind the barrier of a stop, results would reach a sink without transactions,
     * and again after the restore.
     */
    private void emitAnswers(long deadlineNs) throws Exception {
        while (engine.inFlightCount() > 0
                && engine.state() == EngineState.JOINING
                && output.isAvailable()
                && System.nanoTime() - deadlineNs < 0) {
            if (!pump.turn()) {
                check.run();
                LockSupport.parkNanos(POLL_INTERVAL_NS);
            }
        }
    }

    /**
     * Emits the results of all facts so far.
     *
     * @param check throws if the task has been cancelled
     */
    void awaitAll(ThrowingRunnable<Exception> check) throws Exception {
        while (hasFacts()) {
            work(MAX_WAIT_MS);
            check.run();
        }
    }

    /**
     * Emits the results of all facts that the engine holds; those in state continue to wait.
     *
     * @param check throws if the task has been cancelled
     */
    void awaitEngine(ThrowingRunnable<Exception> check) throws Exception {
        if (phase == JoinPhase.LOAD) {
            return;
        }
        while (isAnswering()) {
            pump.turn();
            check.run();
        }
        pump.flushEmitter();
    }

    /** Writes the engine's in-flight probes to the state. */
    @Override
    public void snapshot() throws Exception {
        divideCollected();
        if (phase == JoinPhase.JOIN) {
            log.snapshotInFlight(divided(pump.emitted(engine.snapshot())));
        }
        unmatched.snapshot();
    }

    /** The same probes in chunks of one partition each, as state holds them. */
    private List<InFlightProbe> divided(List<InFlightProbe> probes) throws Exception {
        List<InFlightProbe> parts = new ArrayList<>();
        for (InFlightProbe probe : probes) {
            if (probe.chunk().hasManyPartitions()) {
                divider.add(probe.chunk(), probe.firstRow());
            } else {
                parts.add(probe);
            }
        }
        divider.divide(part -> parts.add(new InFlightProbe(part, 0)));
        return parts;
    }

    @Override
    public void finish() throws Exception {
        deferral.endInput();
        while (hasWork()) {
            work(MAX_WAIT_MS);
            check.run();
        }
        flush();
    }

    @Override
    public long deferredRowCount() {
        return 0;
    }

    // ------------------------------------------------------------------ work

    /** Posts a mail that joins waiting facts, unless one is posted. */
    void postMail() {
        senders.update(phase == JoinPhase.JOIN && !hasRoom());
        if (!mailPosted && hasWork()) {
            mailPosted = true;
            mailbox.execute(this::onMail, "join waiting facts");
        }
    }

    private void onMail() throws Exception {
        mailPosted = false;
        // When the inputs have ended, Flink runs mails until none is left, also of a cancelled
        // task.
        check.run();
        if (pausesForBarrier()) {
            output.pause();
        } else {
            work(MAIL_MS);
        }
        factsArrived = false;
        postMail();
    }

    private boolean pausesForBarrier() {
        return makesWayForBarrier() && (factsArrived || !output.isAvailable());
    }

    /** Chunks of one order are completed in the sequence of their arrival. */
    private int line(Chunk chunk) {
        return deferral.orderOf(chunk.partition());
    }

    private void completed(Chunk chunk) throws Exception {
        watermarks.completed(line(chunk));
    }

    /** Submits, unless other probes wait in state. */
    private boolean trySubmit(InFlightProbe probe) {
        return log.isEmpty() && engine.submitProbe(probe.chunk(), probe.firstRow());
    }

    private boolean hasWork() {
        return phase == JoinPhase.JOIN && (hasFacts() || unmatched.isDue());
    }

    private boolean hasFacts() {
        return isAnswering() || !log.isEmpty();
    }

    /** Whether the engine holds probes, or rebuilds its tables for some. */
    private boolean isAnswering() {
        return engine.inFlightCount() > 0
                || pump.holdsBatch()
                || engine.state() == EngineState.BUILDING;
    }

    /**
     * Submits waiting probes and emits results, for about that time at most and while the output
     * has room.
     */
    private void work(long forMs) throws Exception {
        if (!output.hasRoom()) {
            output.pause();
            return;
        }
        long startNs = System.nanoTime();
        long deadlineNs = startNs + TimeUnit.MILLISECONDS.toNanos(forMs);
        boolean goesOn = true;
        while (goesOn && hasWork()) {
            submitWaiting();
            goesOn = hasFacts() ? pump.turn() : emitUnmatched();
            goesOn &= System.nanoTime() - deadlineNs < 0 && !makesWayForBarrier();
            goesOn &= output.hasRoom();
        }
        if (phase == JoinPhase.JOIN && engine.inFlightCount() == 0 && !pump.holdsBatch()) {
            engine.poll(); // releases the buffers of the last batch
        }
        // A barrier may follow, and no result may be counted as emitted that is still buffered.
        pump.flushEmitter();
        times.addSince(StageTimes.Stage.JOIN, startNs);
    }

    /** Emits some; whether there were any. Deferred facts come first. */
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
            InFlightProbe probe = log.peek();
            if (!engine.submitProbe(probe.chunk(), probe.firstRow())) {
                return;
            }
            log.remove();
        }
    }

    /** Whether there are facts to submit now; those of spilled partitions are deferred. */
    private boolean hasWaiting() throws Exception {
        deferral.deferNext();
        return !log.isEmpty();
    }
}
