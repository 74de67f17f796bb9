// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.flink.state.PendingLog.PendingRows;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Rows of spilled partitions. They are deferred in state, and joined partition by partition in
 * rounds: after a delay, or when many wait. Watermarks and other elements that arrived behind
 * deferred rows wait for the end of the round that joins them.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class SpilledRows {

    /** Deferred bytes at which a round starts. */
    static final long MAX_DEFERRED_BYTES = 64 << 20;

    private final PartitionTables tables;
    private final SymmetricState state;
    private final long delayMs;
    private final Predicate<SymmetricBatch> emit;
    private final ThrowingRunnable<Exception> checkNotCancelled;

    /** Partitions that the current round has yet to join. */
    private final Deque<Integer> round = new ArrayDeque<>();

    /** Elements that wait for the current round, and for the next one. */
    private ArrivalQueue heldByRound = new ArrivalQueue();

    private ArrivalQueue held = new ArrivalQueue();
    private long deferredBytes;
    private long deferredSinceMs;

    /**
     * @param delayMs for which rows wait for a round
     * @param emit emits results; returns whether these end amid a row
     * @param checkNotCancelled throws if the task has been cancelled
     */
    SpilledRows(
            PartitionTables tables,
            SymmetricState state,
            long delayMs,
            Predicate<SymmetricBatch> emit,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.tables = tables;
        this.state = state;
        this.delayMs = delayMs;
        this.emit = emit;
        this.checkNotCancelled = checkNotCancelled;
    }

    /** Defers rows of a spilled partition. */
    void add(PendingRows rows, long nowMs) throws Exception {
        if (deferredBytes == 0) {
            deferredSinceMs = nowMs;
        }
        deferredBytes += rows.chunk().lengthBytes();
        state.deferred().add(rows);
    }

    /** Whether no row is deferred, and no element waits. */
    boolean isEmpty() {
        return round.isEmpty()
                && held.isEmpty()
                && heldByRound.isEmpty()
                && state.deferred().partitions().isEmpty();
    }

    /**
     * Holds an element back. To be called unless empty.
     *
     * @param kind of the element: a later one of the same kind replaces it
     */
    void hold(Object kind, Runnable element) {
        held.add(kind, element);
    }

    /** Whether {@link #step} is to be called. */
    boolean isDue(long nowMs) {
        return !round.isEmpty()
                || !isEmpty()
                        && (deferredBytes >= MAX_DEFERRED_BYTES
                                || nowMs - deferredSinceMs >= delayMs);
    }

    /** Returns when a round starts, unless more rows arrive. */
    long dueAtMs() {
        return deferredSinceMs + delayMs;
    }

    /** Joins the deferred rows of one partition. Emits held elements at the end of a round. */
    void step(long nowMs) throws Exception {
        if (round.isEmpty()) {
            round.addAll(state.deferred().partitions());
            heldByRound = held;
            held = new ArrivalQueue();
            deferredBytes = 0;
            deferredSinceMs = nowMs;
        }
        if (!round.isEmpty()) {
            join(round.remove(), nowMs);
        }
        while (round.isEmpty() && !heldByRound.isEmpty()) {
            Runnable element = heldByRound.peek().emit();
            heldByRound.remove();
            element.run();
        }
    }

    private void join(int partition, long nowMs) throws Exception {
        List<PendingRows> waiting = state.deferred().take(partition);
        int next = 0;
        while (next < waiting.size()) {
            try (SymmetricJoin join = tables.open(partition, nowMs)) {
                for (; next < waiting.size(); next++) {
                    checkNotCancelled.run();
                    join(join, waiting, next, nowMs);
                }
                for (int input = 0; input < join.inputs().size(); input++) {
                    LogCompaction.rewriteIfDead(join, input, state.log(input), partition);
                }
            } catch (MemoryRefusedException e) {
                tables.spill(nowMs, e);
            }
        }
    }

    /** Joins a chunk. If memory is refused, the list has the rows that are not completed. */
    private void join(SymmetricJoin join, List<PendingRows> waiting, int index, long nowMs)
            throws Exception {
        PendingRows rows = waiting.get(index);
        join.submit(rows.input(), rows.chunk(), rows.firstRow(), nowMs);
        boolean isAmidRow = false;
        while (true) {
            SymmetricBatch batch;
            try {
                batch = join.poll();
            } catch (MemoryRefusedException e) {
                if (isAmidRow) {
                    throw tables.refusal(e);
                }
                throw e;
            }
            if (batch == null) {
                Thread.onSpinWait();
                continue;
            }
            isAmidRow = emit.test(batch);
            waiting.set(index, new PendingRows(rows.input(), rows.chunk(), batch.completedRows()));
            if (batch.isLast()) {
                state.log(rows.input()).append(rows.chunk(), nowMs);
                return;
            }
        }
    }
}
