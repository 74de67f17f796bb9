// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator that forwards all calls to another one. An operator has one coordinator, and
 * subclasses add requests of their own to it, which refer to attempts of subtasks. Its snapshots
 * are those of the other coordinator.
 */
public abstract class ForwardingCoordinator
        implements OperatorCoordinator, CoordinationRequestHandler {

    private final OperatorCoordinator other;
    private final SubtaskAttempts attempts;

    /**
     * @param other also handles requests
     * @param attempts learns of starts and ends before the other coordinator
     */
    protected ForwardingCoordinator(OperatorCoordinator other, SubtaskAttempts attempts) {
        this.other = other;
        this.attempts = attempts;
    }

    @Override
    public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
            CoordinationRequest request) {
        return ((CoordinationRequestHandler) other).handleCoordinationRequest(request);
    }

    @Override
    public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {
        attempts.started(subtask, gateway.getExecution());
        other.executionAttemptReady(subtask, attempt, gateway);
    }

    @Override
    public void executionAttemptFailed(int subtask, int attempt, @Nullable Throwable reason) {
        attempts.ended(subtask, attempt);
        other.executionAttemptFailed(subtask, attempt, reason);
    }

    @Override
    public void subtaskReset(int subtask, long checkpointId) {
        attempts.reset(subtask);
        other.subtaskReset(subtask, checkpointId);
    }

    @Override
    public void resetToCheckpoint(long checkpointId, byte @Nullable [] state) throws Exception {
        attempts.resetAll();
        other.resetToCheckpoint(checkpointId, state);
    }

    @Override
    public void start() throws Exception {
        other.start();
    }

    @Override
    public void close() throws Exception {
        attempts.resetAll();
        other.close();
    }

    @Override
    public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event)
            throws Exception {
        other.handleEventFromOperator(subtask, attempt, event);
    }

    @Override
    public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result)
            throws Exception {
        other.checkpointCoordinator(checkpointId, result);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        other.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        other.notifyCheckpointAborted(checkpointId);
    }
}
