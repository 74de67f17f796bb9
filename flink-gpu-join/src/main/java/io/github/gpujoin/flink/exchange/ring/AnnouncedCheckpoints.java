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
 * Knows in a subtask of the join that a checkpoint has begun whose barrier has not arrived, by
 * {@link CheckpointAnnouncements}. Network threads only set a field; the mailbox thread reads it,
 * even while it processes an element. Without an answer the barrier alone tells, which is late
 * behind a slow output, but right.
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
    private volatile boolean closed;

    public AnnouncedCheckpoints(
            TaskOperatorEventGateway gateway, OperatorID operator, int subtask) {
        this.gateway = gateway;
        this.operator = operator;
        this.subtask = subtask;
    }

    /** Asks the coordinator, again and again. */
    public void start() {
        if (closed) {
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

    /** Flink's RPC waits for an answer for a time only; who waits longer asks again. */
    private void answered(CoordinationResponse response) {
        long checkpoint = response == null ? -1 : CheckpointAnnouncements.checkpointOf(response);
        if (checkpoint > begun) {
            begun(checkpoint);
            start();
        } else {
            CompletableFuture.delayedExecutor(RETRY_MS, TimeUnit.MILLISECONDS).execute(this::start);
        }
    }

    /** A checkpoint has begun; any thread. */
    public void begun(long checkpoint) {
        if (begun <= ended) {
            begunNs = System.nanoTime();
        }
        begun = checkpoint;
    }

    /** Whether a checkpoint began so long ago or earlier that the subtask has not taken. */
    public boolean isAnnounced(long agoMs) {
        return announced(agoMs) >= 0;
    }

    /** The checkpoint that began so long ago or earlier and was not taken; -1 if there is none. */
    public long announced(long agoMs) {
        long checkpoint = begun;
        boolean isDue =
                checkpoint > ended
                        && System.nanoTime() - begunNs >= TimeUnit.MILLISECONDS.toNanos(agoMs);
        return isDue ? checkpoint : -1;
    }

    /** The subtask took the checkpoint, or it was aborted. */
    public void ended(long checkpoint) {
        ended = Math.max(ended, checkpoint);
    }

    @Override
    public void close() {
        closed = true;
    }
}
