// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.flink.state.PendingLog.PendingRows;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/**
 * Joins the chunks of a subtask in the order of their arrival. Each call joins for about {@value
 * #TURN_MS} ms; a mail continues. If more than {@value #MAX_WAITING_BYTES} bytes of chunks wait,
 * the call that adds the next one joins until they are fewer, so that a slow output stops the
 * input.
 *
 * <p>A chunk goes to the log of its input when it is joined. Before that, snapshots contain it with
 * the number of rows whose results were emitted.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class SymmetricSubtask<OUT> {

    static final long TURN_MS = 10;

    /** Four chunks of the default size. */
    static final long MAX_WAITING_BYTES = 512 << 10;

    private static final int POLLS_A_CLOCK = 8;

    private final PartitionTables tables;
    private final SpilledRows spilled;
    private final SymmetricState state;
    private final SymmetricResultEmitter<OUT> emitter;
    private final Output<StreamRecord<OUT>> output;
    private final SymmetricJoinMetrics metrics;
    private final ProcessingTimeService time;
    private final MailboxExecutor mailbox;
    private final ThrowingRunnable<Exception> checkNotCancelled;
    private final ArrivalQueue queue = new ArrivalQueue();
    private final List<LogCompaction> compactions = new ArrayList<>();

    /** Time of the last submission, as the clock of the host may be set back. */
    private long nowMs;

    /** Time at which the first chunk of the queue was submitted. */
    private long submittedAtMs;

    private boolean isSubmitted;

    /** Rows of the first chunk whose results are emitted. */
    private int completedRows;

    /** Whether some results of the row behind {@link #completedRows} are emitted. */
    private boolean isAmidRow;

    private boolean isExpiryDue;
    private boolean hasSpillTimer;
    private boolean hasMail;

    /**
     * @param tables not loaded
     * @param spillDelayMs how long rows of spilled partitions wait
     * @param output behind which no element queues
     * @param checkNotCancelled throws if the task has been cancelled
     */
    SymmetricSubtask(
            PartitionTables tables,
            long spillDelayMs,
            SymmetricState state,
            SymmetricResultEmitter<OUT> emitter,
            Output<StreamRecord<OUT>> output,
            SymmetricJoinMetrics metrics,
            ProcessingTimeService time,
            MailboxExecutor mailbox,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.tables = tables;
        this.spilled = new SpilledRows(tables, state, spillDelayMs, this::emit, checkNotCancelled);
        this.state = state;
        this.emitter = emitter;
        this.output = output;
        this.metrics = metrics;
        this.time = time;
        this.mailbox = mailbox;
        this.checkNotCancelled = checkNotCancelled;
        for (int input = 0; input < state.logs().size(); input++) {
            compactions.add(new LogCompaction(tables, input, state.log(input), state.keys()));
        }
    }

    /** Loads the logs, and queues the chunks that were not joined before the snapshot. */
    void restore() throws Exception {
        state.restore(queue::add);
        tables.load(now());
        if (!spilled.isEmpty()) {
            startSpillTimer();
        }
        updateMetrics();
        continueInMail();
    }

    private long now() {
        nowMs = Math.max(nowMs, time.getCurrentProcessingTime());
        return nowMs;
    }

    // ------------------------------------------------------------------ arrivals

    /** Joins a chunk, or queues it. */
    void accept(int input, Chunk chunk) throws Exception {
        metrics.received(input, chunk);
        queue.add(new PendingRows(input, chunk, 0));
        work(MAX_WAITING_BYTES);
        continueInMail();
    }

    /** Emits an element that is not a record behind the results of all chunks before it. */
    void accept(Object kind, Runnable emit) {
        Runnable element =
                () -> {
                    emitter.flush(output);
                    emit.run();
                };
        if (queue.isEmpty()) {
            passOrHold(kind, element);
        } else {
            queue.add(kind, element);
        }
    }

    /** Emits an element, unless rows before it are deferred. */
    private void passOrHold(Object kind, Runnable element) {
        if (spilled.isEmpty()) {
            element.run();
        } else {
            spilled.hold(kind, element);
        }
    }

    /** Removes expired rows when the join is idle. */
    void expire() {
        isExpiryDue = true;
        continueInMail();
    }

    private void continueInMail() {
        if (!hasMail && hasWork()) {
            hasMail = true;
            mailbox.execute(
                    () -> {
                        hasMail = false;
                        work(Long.MAX_VALUE);
                        continueInMail();
                    },
                    "join chunks");
        }
    }

    private boolean hasWork() {
        return !queue.isEmpty() || isMaintenanceDue();
    }

    /** Continues in a mail when a round of spilled partitions is due. */
    private void startSpillTimer() {
        if (!hasSpillTimer) {
            hasSpillTimer = true;
            time.registerTimer(
                    spilled.dueAtMs(),
                    now -> {
                        hasSpillTimer = false;
                        continueInMail();
                        if (!spilled.isEmpty() && !spilled.isDue(now())) {
                            startSpillTimer();
                        }
                    });
        }
    }

    // ------------------------------------------------------------------ join

    /** Joins for the time of a turn, and longer while more bytes wait than permitted. */
    private void work(long maxWaitingBytes) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TURN_MS);
        int polls = 0;
        while (!queue.isEmpty()) {
            step();
            if (!isSubmitted && isMaintenanceDue()) {
                maintain();
            }
            if (++polls % POLLS_A_CLOCK == 0 && System.nanoTime() >= endNs) {
                if (queue.bytes() <= maxWaitingBytes) {
                    break;
                }
                checkNotCancelled.run();
            }
        }
        if (queue.isEmpty()) {
            maintain();
            emitter.flush(output);
        }
        updateMetrics();
    }

    /** Joins all chunks, and emits all elements. */
    void finish() throws Exception {
        while (!queue.isEmpty()) {
            checkNotCancelled.run();
            step();
        }
        while (!spilled.isEmpty()) {
            spilled.step(now());
        }
        emitter.flush(output);
        updateMetrics();
    }

    /** Emits the element that is first in the queue, or some results of the first chunk. */
    private void step() throws Exception {
        ArrivalQueue.Arrival first = queue.peek();
        if (first.rows() == null) {
            queue.remove();
            passOrHold(first.kind(), first.emit());
            return;
        }
        PendingRows rows = first.rows();
        if (!isSubmitted) {
            if (spilled.accepts(rows.chunk().partition())) {
                spilled.add(rows, now());
                queue.remove();
                startSpillTimer();
                return;
            }
            submittedAtMs = now();
            tables.join().submit(rows.input(), rows.chunk(), rows.firstRow(), submittedAtMs);
            isSubmitted = true;
            completedRows = rows.firstRow();
        }
        SymmetricBatch batch = poll(rows);
        if (batch == null) {
            Thread.onSpinWait();
            return;
        }
        emit(batch);
        isAmidRow = batch.endsAmidRow();
        completedRows = batch.completedRows();
        if (batch.isLast()) {
            state.log(rows.input()).append(rows.chunk(), submittedAtMs);
            queue.remove();
            isSubmitted = false;
        }
    }

    /**
     * Returns the next results, or null. If memory is refused or a device fails, the chunk is
     * submitted again.
     */
    private @Nullable SymmetricBatch poll(PendingRows rows) throws Exception {
        try {
            return tables.join().poll();
        } catch (MemoryRefusedException e) {
            isSubmitted = false;
            queue.replaceFirst(new PendingRows(rows.input(), rows.chunk(), completedRows));
            tables.spill(now(), e);
            return null;
        } catch (EngineUnavailableException e) {
            isSubmitted = false;
            queue.replaceFirst(new PendingRows(rows.input(), rows.chunk(), completedRows));
            tables.fallBack(now(), e);
            return null;
        }
    }

    private void emit(SymmetricBatch batch) {
        emitter.emit(batch, output);
        metrics.emitted(batch);
    }

    // ------------------------------------------------------------------ maintenance

    private boolean isMaintenanceDue() {
        return isExpiryDue
                || spilled.isDue(now())
                || compactions.stream().anyMatch(LogCompaction::isDue);
    }

    /** Does a part of the work that is due. Nothing may be in flight. */
    private void maintain() throws Exception {
        if (isExpiryDue) {
            isExpiryDue = false;
            removeExpired();
        }
        if (spilled.isDue(now())) {
            spilled.step(now());
            // Rows and elements that arrived amid a round wait for the next one.
            if (!spilled.isEmpty()) {
                startSpillTimer();
            }
        }
        for (LogCompaction compaction : compactions) {
            if (compaction.isDue()) {
                compaction.step();
            }
        }
    }

    /** Removes expired rows. Tables that are loaded again have none. */
    private void removeExpired() throws Exception {
        try {
            tables.join().expire(now());
        } catch (EngineUnavailableException e) {
            tables.fallBack(now(), e);
        }
    }

    private void updateMetrics() {
        if (tables.refusal() != null) {
            metrics.fellBack(tables.refusal());
        }
        metrics.update(tables.join().stats(), queue.chunkCount(), tables.spilledCount());
    }

    // ------------------------------------------------------------------ snapshots

    /** Completes the row of which some results are emitted, so that a restore repeats none. */
    void beforeBarrier() throws Exception {
        while (isAmidRow) {
            checkNotCancelled.run();
            step();
        }
        emitter.flush(output);
    }

    void snapshot() throws Exception {
        List<PendingRows> waiting = new ArrayList<>(queue.rows());
        if (isSubmitted) {
            PendingRows first = waiting.get(0);
            waiting.set(0, new PendingRows(first.input(), first.chunk(), completedRows));
        }
        state.snapshot(waiting);
    }
}
