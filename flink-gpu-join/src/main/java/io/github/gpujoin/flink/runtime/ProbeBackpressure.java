// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.exchange.backpressure.InputHold;
import io.github.gpujoin.flink.exchange.backpressure.OutputRoom;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Decides whether facts are read, joined, or written to the state for a barrier.
 *
 * <p>Up to {@value #MAX_WAITING_BYTES} bytes of facts wait in state. Beyond that, processing a
 * chunk lasts until one of them is joined, which is the backpressure of a slow output. It also
 * lasts until at most half of a ring is in use: a chunk that is copied behind one that is read in
 * place returns no credit to the writer.
 *
 * <p>A barrier must not wait for that. From {@value #MAX_WAIT_MS} ms after the announcement of a
 * checkpoint, facts before its barrier go to the state without a wait. The limit of these facts
 * covers the content of the channels. No results are emitted while facts arrive or the output has
 * no free buffer: Flink reads no input without one, so each buffer that a slow output frees must
 * serve reading. A fast output still receives all results before the barrier.
 *
 * <p>Used by the task's mailbox thread.
 */
final class ProbeBackpressure {

    /**
     * Time for which the results of a chunk are emitted at once, rather than in mails. Also the
     * time for which a chunk waits for room in the engine before it goes to the state, and the time
     * for which facts are joined after the announcement of a checkpoint.
     */
    static final long MAX_WAIT_MS = 100;

    static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MS);

    /** Facts in state beyond which no more are read: four chunks of the default size. */
    static final int MAX_WAITING_BYTES = 512 << 10;

    /** What one channel may hold in front of a barrier: buffers, exchange by reference, rings. */
    private static final int CHANNEL_BYTES = 2 << 20;

    private final ProbeLog log;
    private final BooleanSupplier ringsHaveRoom;
    private final BooleanSupplier barrierIsDue;
    private final OutputRoom output;
    private final InputHold senders;
    private final long maxBytesForBarrier;

    private boolean isJoining;

    /** Since the last call of {@link #endMail}. */
    private boolean factsArrived;

    /** Fewest bytes that have waited in {@link JoinPhase#JOIN}; at first, what LOAD left. */
    private long leastQueuedBytes = Long.MAX_VALUE;

    /**
     * @param log of the facts that wait
     * @param ringsHaveRoom whether at most half of each ring of facts is in use
     * @param barrierIsDue whether a checkpoint began {@value #MAX_WAIT_MS} ms ago or earlier whose
     *     barrier has not arrived
     * @param senders of facts, which pause while too many wait
     * @param channels of facts
     * @param receivers subtasks of the join, over which a sender spreads its rows
     */
    ProbeBackpressure(
            ProbeLog log,
            BooleanSupplier ringsHaveRoom,
            BooleanSupplier barrierIsDue,
            OutputRoom output,
            InputHold senders,
            int channels,
            int receivers) {
        this.log = log;
        this.ringsHaveRoom = ringsHaveRoom;
        this.barrierIsDue = barrierIsDue;
        this.output = output;
        this.senders = senders;
        long senderBytes = CHANNEL_BYTES + PackSpec.MAX_BUILDERS_BYTES / receivers;
        this.maxBytesForBarrier = MAX_WAITING_BYTES + senderBytes * Math.max(2, channels);
    }

    /** Starts {@link JoinPhase#JOIN}. */
    void startJoining() {
        isJoining = true;
    }

    /** Records that facts were read. */
    void recordArrival() {
        factsArrived = true;
    }

    /** Forgets facts that arrived before the end of a mail. */
    void endMail() {
        factsArrived = false;
    }

    /** Whether more facts may be read. */
    boolean hasRoom() {
        return log.queuedBytes() <= MAX_WAITING_BYTES && ringsHaveRoom.getAsBoolean();
    }

    /** Pauses the senders while too many facts wait, and resumes them afterwards. */
    void updateSenders() {
        senders.update(isJoining && !hasRoom());
    }

    /** Whether results may be emitted; if not, waits 1 ms, which counts as backpressure. */
    boolean awaitOutput() {
        boolean hasRoom = output.hasRoom();
        if (!hasRoom) {
            output.pause();
        }
        return hasRoom;
    }

    /** Whether the output has room for more results. */
    boolean outputHasRoom() {
        return output.hasRoom();
    }

    /** Whether the output has a free buffer, without which Flink reads no input. */
    boolean outputIsAvailable() {
        return output.isAvailable();
    }

    /**
     * Whether facts go to the state rather than to the engine, since a barrier follows them. The
     * limit does not count what LOAD left, as a slow sink may take hours for that.
     */
    boolean yieldsToBarrier() {
        long queuedBytes = log.queuedBytes();
        if (isJoining) {
            leastQueuedBytes = Math.min(leastQueuedBytes, queuedBytes);
        }
        return barrierIsDue.getAsBoolean()
                && queuedBytes - Math.min(leastQueuedBytes, queuedBytes) < maxBytesForBarrier;
    }

    /** Pauses instead of a mail's work if a barrier needs the output's buffers; whether it did. */
    boolean pauseForBarrier() {
        boolean pauses = yieldsToBarrier() && (factsArrived || !output.isAvailable());
        if (pauses) {
            output.pause();
        }
        return pauses;
    }
}
