// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;

/**
 * Tracks in a subtask of the join which checkpoint has begun whose barrier has not arrived. The
 * coordinator announces it through {@link CheckpointAnnouncements}. RPC threads set a field, which
 * the mailbox thread reads even while it processes an element. If an announcement is lost, the
 * subtask only learns of the checkpoint by its barrier, which is late behind a slow output, but
 * correct.
 */
public final class AnnouncedCheckpoints implements AutoCloseable {

    private static final long RETRY_MS = 1_000;

    private final TaskOperatorEventGateway gateway;
    private final OperatorID operator;
    private final int subtask;
    private final UUID asker = UUID.randomUUID();

    private volatile long begun = -1;
    private volatile long begunNs;
    private volatile long ended = -1;
    private volatile boolean isClosed;

    public AnnouncedCheckpoints(
            TaskOperatorEventGateway gateway, OperatorID operator, int subtask) {
        this.gateway = gateway;
        this.operator = operator;
        this.subtask = subtask;
    }

    /** Requests announcements from the coordinator until {@link #close}. */
    public void start() {
        if (isClosed) {
            return;
        }
        CheckpointRequest request = new CheckpointRequest(asker, subtask, Math.max(begun, ended));
        CompletableFuture<CoordinationResponse> answer;
        try {
            answer = gateway.sendRequestToCoordinator(operator, new SerializedValue<>(request));
        } catch (IOException | RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        answer.whenComplete((response, failure) -> answered(response));
    }

    /** Requests the next announcement; after a timeout of Flink's RPC, with a delay. */
    private void answered(CoordinationResponse response) {
        long checkpoint = response == null ? -1 : CheckpointAnnouncements.checkpointOf(response);
        if (checkpoint > begun) {
            begun(checkpoint);
            start();
        } else {
            CompletableFuture.delayedExecutor(RETRY_MS, TimeUnit.MILLISECONDS).execute(this::start);
        }
    }

    /** Records that a checkpoint has begun. For any thread. */
    public void begun(long checkpoint) {
        if (begun <= ended) {
            begunNs = System.nanoTime();
        }
        begun = checkpoint;
    }

    /**
     * Whether a checkpoint began at least {@code agoMs} ago whose snapshot the subtask has not
     * written.
     */
    public boolean isAnnounced(long agoMs) {
        return announced(agoMs) >= 0;
    }

    /**
     * Returns the checkpoint that began at least {@code agoMs} ago and whose snapshot the subtask
     * has not written, or -1.
     */
    public long announced(long agoMs) {
        long checkpoint = begun;
        boolean isDue =
                checkpoint > ended
                        && System.nanoTime() - begunNs >= TimeUnit.MILLISECONDS.toNanos(agoMs);
        return isDue ? checkpoint : -1;
    }

    /**
     * Records that the subtask has written its snapshot, or that Flink has aborted the checkpoint.
     */
    public void ended(long checkpoint) {
        ended = Math.max(ended, checkpoint);
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
