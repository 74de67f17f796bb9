// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.flink.state.PendingLog.PendingRows;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Rows of spilled partitions. They are deferred in state, and joined partition by partition in
 * rounds: after a delay, or when many wait. Watermarks and other elements that arrived behind
 * deferred rows wait for the end of the round that joins them. Rows that a snapshot contains wait
 * for the first round, also if their partition is not spilled since the restart.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class SpilledRows {

    /** Deferred bytes at which a round starts. */
    static final long MAX_DEFERRED_BYTES = 64 << 20;

    private final PartitionTables tables;
    private final SymmetricState state;
    private final long delayMs;
    private final Consumer<SymmetricBatch> emit;
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
     * @param emit emits results
     * @param checkNotCancelled throws if the task has been cancelled
     */
    SpilledRows(
            PartitionTables tables,
            SymmetricState state,
            long delayMs,
            Consumer<SymmetricBatch> emit,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.tables = tables;
        this.state = state;
        this.delayMs = delayMs;
        this.emit = emit;
        this.checkNotCancelled = checkNotCancelled;
    }

    /** Whether rows of a partition are deferred. */
    boolean accepts(int partition) {
        return tables.isSpilled(partition) || state.deferred().hasChunks(partition);
    }

    /** Defers rows of a partition. */
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
                && state.deferred().isEmpty();
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
        Deque<PendingRows> waiting = new ArrayDeque<>(state.deferred().take(partition));
        while (!waiting.isEmpty()) {
            boolean isSpilled = tables.isSpilled(partition);
            try {
                if (isSpilled) {
                    joinSpilled(partition, waiting, nowMs);
                } else {
                    joinAll(tables.join(), waiting, nowMs);
                }
            } catch (MemoryRefusedException e) {
                if (isSpilled) {
                    tables.makeRoom(nowMs, e);
                } else {
                    tables.spill(nowMs, e);
                }
            } catch (EngineUnavailableException e) {
                tables.fallBack(nowMs, e);
            }
        }
    }

    private void joinSpilled(int partition, Deque<PendingRows> waiting, long nowMs)
            throws Exception {
        try (SymmetricJoin join = tables.open(partition, nowMs)) {
            joinAll(join, waiting, nowMs);
            for (int input = 0; input < join.inputs().size(); input++) {
                LogCompaction.rewriteIfDead(join, input, state.log(input), partition);
            }
        }
    }

    /** Removes the rows that it joins. If memory is refused, the others remain. */
    private void joinAll(SymmetricJoin join, Deque<PendingRows> waiting, long nowMs)
            throws Exception {
        while (!waiting.isEmpty()) {
            checkNotCancelled.run();
            PendingRows rows = waiting.peek();
            join.submit(rows.input(), rows.chunk(), rows.firstRow(), nowMs);
            joinFirst(join, waiting);
            state.log(rows.input()).append(rows.chunk(), nowMs);
        }
    }

    private void joinFirst(SymmetricJoin join, Deque<PendingRows> waiting) {
        while (true) {
            SymmetricBatch batch = join.poll();
            if (batch == null) {
                Thread.onSpinWait();
                continue;
            }
            emit.accept(batch);
            PendingRows rows = waiting.remove();
            if (batch.isLast()) {
                return;
            }
            waiting.addFirst(new PendingRows(rows.input(), rows.chunk(), batch.completedRows()));
        }
    }
}
