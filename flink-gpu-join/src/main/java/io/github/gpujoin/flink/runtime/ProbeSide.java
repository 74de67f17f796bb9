// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.ring.PayloadAccess;
import io.github.gpujoin.flink.exchange.ring.SlotFaults;
import io.github.gpujoin.flink.metrics.StageTimes;
import io.github.gpujoin.flink.runtime.expiry.FactExpiry;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Joins facts in the order of arrival. In {@link JoinPhase#LOAD} facts wait in state. In {@link
 * JoinPhase#JOIN} they go to the engine, and its results to the output ({@link ProbeLoop}). If the
 * engine is full, facts wait in state, within the limits of {@link ProbeBackpressure}. Waiting
 * facts are also joined in self-posted mails of a few milliseconds.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class ProbeSide implements ProbePath, AutoCloseable {

    /** Order of the unmatched build rows, apart from those of {@link ProbeDeferral#orderOf}. */
    private static final int UNMATCHED = Integer.MIN_VALUE;

    private final ProbeLog log;
    private final ProbeDeferral deferral;
    private final UnmatchedBuildRows unmatched;
    private final WatermarkGate watermarks;
    private final MailboxExecutor mailbox;
    private final FactExpiry expiry;
    private final ProbeBackpressure backpressure;
    private final ProbeLoop loop;
    private final ThrowingRunnable<Exception> checkNotCancelled;
    private final HeldChunks held = new HeldChunks();

    /**
     * Collects chunks of many partitions while the build side loads; otherwise empty between calls.
     */
    private final PartitionDivider divider;

    private boolean mailPosted;
    private boolean idle;

    /**
     * @param createPump creates the pump of the engine's results; its argument is called for each
     *     chunk whose results are all emitted
     * @param times receives the time of joining, emission included
     * @param divider of chunks of facts
     * @param checkNotCancelled throws if the task has been cancelled
     */
    ProbeSide(
            JoinEngine engine,
            ProbeLog log,
            ProbeDeferral deferral,
            UnmatchedBuildRows unmatched,
            Function<ThrowingConsumer<Chunk, Exception>, ResultPump> createPump,
            MailboxExecutor mailbox,
            FactExpiry expiry,
            StageTimes times,
            ProbeBackpressure backpressure,
            PartitionDivider divider,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.log = log;
        this.deferral = deferral;
        this.unmatched = unmatched;
        this.mailbox = mailbox;
        this.expiry = expiry;
        this.backpressure = backpressure;
        this.divider = divider;
        this.checkNotCancelled = checkNotCancelled;
        ResultPump pump = createPump.apply(this::completed);
        this.watermarks = new WatermarkGate(pump::pass);
        this.loop =
                new ProbeLoop(
                        engine,
                        log,
                        deferral,
                        unmatched,
                        () -> watermarks.completed(UNMATCHED),
                        pump,
                        times,
                        backpressure,
                        checkNotCancelled);
    }

    JoinPhase phase() {
        return loop.phase();
    }

    /** Reads the deferred chunks; watermarks wait for them. */
    @Override
    public void restore(boolean isLoading) throws Exception {
        if (!isLoading) {
            // Facts wait for the replay of complete dimensions only.
            expiry.stop();
        }
        unmatched.restore();
        log.restore(
                partition -> {
                    watermarks.accepted(deferral.orderOf(partition));
                    expiry.recordArrival();
                });
    }

    @Override
    public void startJoining() throws Exception {
        divideCollected();
        loop.startJoining();
        expiry.dropAll(this::completed);
        postMail();
    }

    // ------------------------------------------------------------------ input

    /** In place, unless the facts wait in state first. */
    @Override
    public PayloadAccess payloadAccess() {
        return loop.payloadAccess();
    }

    /** Accepts facts; joins while too many wait. */
    @Override
    public void accept(Chunk chunk) throws Exception {
        held.hold(chunk);
        SlotFaults.orFail(() -> acceptHeld(chunk));
        postMail();
    }

    private void acceptHeld(Chunk chunk) throws Exception {
        if (chunk.hasManyPartitions()) {
            acceptMany(chunk);
        } else if (submit(chunk, true)) {
            awaitRoom();
        }
    }

    private void acceptMany(Chunk chunk) throws Exception {
        boolean isJoining = loop.isJoining();
        if (isJoining && submitWhole(chunk)) {
            awaitRoom();
            return;
        }
        divider.add(chunk.onHeap(), 0);
        held.release(chunk);
        if (isJoining || divider.isFull() || expiry.isEnabled()) {
            divideCollected();
        }
        if (isJoining) {
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
            if (loop.trySubmit(probe)) {
                watermarks.accepted(orderOf(chunk));
                return true;
            }
            if (yieldsToBarrier()) {
                return false;
            }
            checkNotCancelled.run();
            loop.work(MAIL_MS);
        }
        return false;
    }

    /**
     * Submits facts, or appends them to the log. Emits no results unless facts are deferred, so
     * that a snapshot may call it.
     *
     * @return whether the engine is next to join them, after those that wait
     */
    boolean submit(Chunk chunk) throws Exception {
        return submit(chunk, false);
    }

    /** Submits facts as {@link #submit(Chunk)} does, but emits results to make room for them. */
    void submitAndEmit(Chunk chunk) throws Exception {
        submit(chunk, true);
    }

    /**
     * @param waits whether to emit results for a while, to make room in the engine
     */
    private boolean submit(Chunk chunk, boolean waits) throws Exception {
        InFlightProbe probe = new InFlightProbe(chunk, 0);
        watermarks.accepted(orderOf(chunk));
        if (!loop.isJoining()) {
            keep(probe);
            expiry.recordArrival();
            expiry.dropSome(this::completed);
            return false;
        }
        if (deferral.defer(probe)) {
            held.release(chunk);
            loop.work(MAIL_MS);
            return false;
        }
        if (!loop.trySubmit(probe) && !(waits && submitWithRoom(probe))) {
            keep(probe);
        }
        return true;
    }

    /**
     * Waits a while for room in the engine: to copy facts to the state would cost more than their
     * join.
     *
     * @return false if the facts must wait in state: behind others, before a barrier, or because
     *     the engine or the output is slow
     */
    private boolean submitWithRoom(InFlightProbe probe) throws Exception {
        long startNs = System.nanoTime();
        while (log.isEmpty()
                && !yieldsToBarrier()
                && System.nanoTime() - startNs < ProbeBackpressure.MAX_WAIT_NS) {
            checkNotCancelled.run();
            loop.work(MAIL_MS);
            if (loop.trySubmit(probe)) {
                return true;
            }
        }
        return false;
    }

    /** Appends facts to the log, which copies them. */
    private void keep(InFlightProbe probe) throws Exception {
        log.append(probe);
        held.release(probe.chunk());
    }

    /** Joins until few chunks wait, unless a barrier follows them. */
    void awaitRoom() throws Exception {
        backpressure.recordArrival();
        if (yieldsToBarrier()) {
            return;
        }
        loop.work(ProbeBackpressure.MAX_WAIT_MS);
        while (!hasRoom() && !yieldsToBarrier()) {
            checkNotCancelled.run();
            loop.work(MAIL_MS);
        }
    }

    /** Whether the results of all facts are emitted. */
    boolean hasEmittedAll() {
        return !loop.hasFacts();
    }

    /** Whether more facts may be read. */
    boolean hasRoom() {
        return backpressure.hasRoom();
    }

    /** Whether facts go to the state rather than to the engine, since a barrier follows them. */
    boolean yieldsToBarrier() {
        return backpressure.yieldsToBarrier();
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
        if (unmatched.endFacts()) {
            watermarks.accepted(UNMATCHED);
        }
        if (idle) {
            // Flink drops a watermark of an idle stream.
            accept(WatermarkStatus.ACTIVE);
        }
        watermarks.hold(Watermark.MAX_WATERMARK);
        postMail();
    }

    /** Chunks of one order are completed in the sequence of their arrival. */
    private int orderOf(Chunk chunk) {
        return deferral.orderOf(chunk.partition());
    }

    private void completed(Chunk chunk) throws Exception {
        held.release(chunk);
        watermarks.completed(orderOf(chunk));
    }

    // ------------------------------------------------------------------ barriers and end

    /** Emits results that should precede a barrier. */
    void flush() throws Exception {
        loop.flush();
    }

    /** Emits the results of all facts so far. */
    void awaitFacts() throws Exception {
        loop.awaitFacts();
    }

    /** Emits the results of all facts that the engine holds; facts in state continue to wait. */
    void awaitEngine() throws Exception {
        loop.awaitEngine();
    }

    /** Writes the engine's in-flight probes to the state. */
    @Override
    public void snapshot() throws Exception {
        divideCollected();
        if (loop.isJoining()) {
            SlotFaults.orFail(() -> log.snapshotInFlight(divided(loop.inFlight())));
        }
        unmatched.snapshot();
    }

    /** The same probes in chunks of one partition each, as state holds them. */
    private List<InFlightProbe> divided(List<InFlightProbe> probes) throws Exception {
        List<InFlightProbe> parts = new ArrayList<>();
        for (InFlightProbe probe : probes) {
            if (probe.chunk().hasManyPartitions()) {
                divider.add(probe.chunk().onHeap(), probe.firstRow());
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
        loop.finish();
    }

    @Override
    public long deferredRowCount() {
        return 0;
    }

    /** Releases the slots of facts without results. The engine must be closed. */
    @Override
    public void close() throws Exception {
        held.close();
    }

    // ------------------------------------------------------------------ mails

    /** Posts a mail that joins waiting facts, unless one is posted. */
    void postMail() {
        backpressure.updateSenders();
        if (!mailPosted && loop.hasWork()) {
            mailPosted = true;
            mailbox.execute(this::onMail, "join waiting facts");
        }
    }

    private void onMail() throws Exception {
        mailPosted = false;
        // When the inputs have ended, Flink runs mails until none is left, also of a cancelled
        // task.
        checkNotCancelled.run();
        if (!backpressure.pauseForBarrier()) {
            loop.work(MAIL_MS);
        }
        backpressure.endMail();
        postMail();
    }
}
