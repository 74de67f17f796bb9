// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.emit.ChunkRows;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeOrder;
import io.github.gpujoin.flink.state.EventTimeLog;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.function.BiConsumerWithException;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Joins facts with the versions of a dimension in the order of event time. {@link EventTimeOrder}
 * sorts them, in mails of a few milliseconds. Late rows go to side outputs, unless they are joined.
 * Facts and versions arrive on one input, so they share its watermarks and idleness, which take
 * effect once the other dimensions are complete. Watermarks and idleness of the result follow the
 * facts before them.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class VersionedProbes implements ProbePath, EventTimeOrder.Target {

    private static final long MAIL_NS = TimeUnit.MILLISECONDS.toNanos(ProbePath.MAIL_MS);

    private final EventTimeJoin join;
    private final ProbeSide probeSide;
    private final BuildSide buildSide;
    private final ThrowingRunnable<Exception> checkNotCancelled;
    private final MailboxExecutor mailbox;
    private final Output<?> output;
    private final EventTimeOrder order;
    private final ChunkRows factRows;
    private final ChunkRows versionRows;
    private final Counter lateFacts;
    private final Counter lateVersions;
    private boolean mailPosted;

    /** Of facts and versions, in ms. */
    private long watermark = Long.MIN_VALUE;

    private boolean idle;

    /** Whether the last emitted status is idle. */
    private boolean resultIsIdle;

    /**
     * A latency marker or a generalised watermark, and the largest event time of facts before it.
     */
    private record HeldElement(long factTime, StreamElement element) {}

    private final ArrayDeque<HeldElement> held = new ArrayDeque<>();

    private long joinedUpTo = Long.MIN_VALUE;

    /**
     * @param buildSide receives changes, and holds their log
     * @param checkNotCancelled throws if the task has been cancelled
     */
    VersionedProbes(
            JoinSpec spec,
            EventTimeJoin join,
            EventTimeLog log,
            ProbeSide probeSide,
            BuildSide buildSide,
            ThrowingRunnable<Exception> checkNotCancelled,
            MailboxExecutor mailbox,
            Output<?> output,
            JoinMetrics metrics) {
        this.join = join;
        this.probeSide = probeSide;
        this.buildSide = buildSide;
        this.checkNotCancelled = checkNotCancelled;
        this.mailbox = mailbox;
        this.output = output;
        this.order = new EventTimeOrder(spec, join, log, this, this::late);
        this.factRows = new ChunkRows(spec, ChunkDescriptor.FACTS);
        this.versionRows = new ChunkRows(spec, join.dimension());
        this.lateFacts = metrics.lateFacts();
        this.lateVersions = metrics.lateVersions();
        metrics.waitingForEventTime(order::waitingRows);
    }

    /** Accepts a chunk of facts, or of versions. */
    @Override
    public void accept(Chunk chunk) throws Exception {
        order.accept(chunk);
        awaitOrder();
    }

    /** Joins the due rows before more rows are read: the backpressure of a slow output. */
    private void awaitOrder() throws Exception {
        while (order.hasWork() && !probeSide.yieldsToBarrier()) {
            checkNotCancelled.run();
            probeSide.awaitRoom();
            work();
        }
    }

    /** Emits the element behind the facts that arrived before it, whatever their event time. */
    @Override
    public void acceptOther(StreamElement element) throws Exception {
        if (element.isLatencyMarker() && held.size() >= WatermarkGate.MAX_MARKERS) {
            return;
        }
        held.add(new HeldElement(order.largestFactTime(), element));
        emitHeld();
    }

    private void emitHeld() throws Exception {
        while (!held.isEmpty()
                && (held.peek().factTime() <= joinedUpTo || order.waitingRows() == 0)) {
            probeSide.acceptOther(held.remove().element());
        }
    }

    private void late(Chunk chunk, int row) {
        if (chunk.dimension() == ChunkDescriptor.FACTS) {
            lateFacts.inc();
            emit(join.lateFacts(), factRows.of(chunk, row));
        } else {
            lateVersions.inc();
            emit(join.lateVersions(), versionRows.of(chunk, row));
        }
    }

    private void emit(OutputTag<Row> tag, Row row) {
        output.collect(tag, new StreamRecord<>(row));
    }

    @Override
    public void accept(Watermark mark) throws Exception {
        watermark = mark.getTimestamp();
        advance();
    }

    @Override
    public void accept(WatermarkStatus status) throws Exception {
        idle = status.isIdle();
        advance();
    }

    @Override
    public void startJoining() throws Exception {
        probeSide.startJoining();
        advance();
    }

    /** Joins rows up to the watermark, once all dimensions are complete. */
    private void advance() throws Exception {
        if (probeSide.phase() == JoinPhase.LOAD) {
            return;
        }
        if (!idle) {
            emitStatus(WatermarkStatus.ACTIVE);
        }
        order.advanceTo(watermark);
        work();
    }

    private void work() throws Exception {
        order.work(MAIL_NS);
        if (!order.hasWork()) {
            // The status follows the due rows, since Flink drops a watermark of an idle stream.
            if (idle) {
                emitStatus(WatermarkStatus.IDLE);
            }
        } else if (!mailPosted) {
            mailPosted = true;
            mailbox.execute(
                    () -> {
                        mailPosted = false;
                        work();
                    },
                    "join facts up to the watermark");
        }
    }

    private void emitStatus(WatermarkStatus status) throws Exception {
        if (resultIsIdle != status.isIdle()) {
            resultIsIdle = status.isIdle();
            probeSide.accept(status);
        }
    }

    @Override
    public void change(Chunk versions) throws Exception {
        probeSide.awaitFacts();
        buildSide.append(versions);
        // The change may fail the device; due rows then wait for the tables of the CPU.
        probeSide.postMail();
    }

    @Override
    public void forEachChange(
            int partition, BiConsumerWithException<Chunk, Integer, Exception> consumer)
            throws Exception {
        buildSide.forEachLogged(
                partition,
                chunk -> {
                    for (int row = 0; row < chunk.rowCount(); row++) {
                        consumer.accept(chunk, row);
                    }
                });
    }

    @Override
    public void facts(Chunk facts) throws Exception {
        probeSide.submitAndEmit(facts);
        probeSide.postMail();
    }

    @Override
    public boolean hasRoom() {
        return probeSide.hasRoom();
    }

    @Override
    public boolean hasEmittedAll() {
        return probeSide.hasEmittedAll();
    }

    @Override
    public void joinedUpTo(long time) throws Exception {
        joinedUpTo = time;
        probeSide.accept(new Watermark(time));
        emitHeld();
    }

    /** Does nothing: facts that wait for event time follow in {@link #finish}. */
    @Override
    public void endInput() {}

    /** Joins all rows that wait, regardless of the watermark. */
    @Override
    public void finish() throws Exception {
        emitStatus(WatermarkStatus.ACTIVE);
        order.advanceTo(Long.MAX_VALUE);
        while (order.hasWork()) {
            probeSide.awaitFacts();
            order.work(MAIL_NS);
            checkNotCancelled.run();
        }
        probeSide.endInput();
        probeSide.finish();
    }

    /** Facts and versions that wait for the watermark. */
    @Override
    public long deferredRowCount() {
        return order.waitingRows();
    }

    @Override
    public void snapshot() throws Exception {
        probeSide.snapshot();
        order.snapshot();
    }

    @Override
    public void restore(boolean isLoading) throws Exception {
        probeSide.restore(isLoading);
        order.restore();
    }
}
