// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.jspecify.annotations.Nullable;

/**
 * Coordinator of a join that exchanges filters of facts between processes. Everything else goes to
 * another coordinator, whose snapshots are also those of this one: filters are built again after a
 * restore.
 */
public final class FilterCoordinator implements OperatorCoordinator, CoordinationRequestHandler {

    private final Context context;
    private final OperatorCoordinator other;
    private final FilterExchange exchange;

    private FilterCoordinator(Context context, OperatorCoordinator other, FilterPlan plan) {
        this.context = context;
        this.other = other;
        this.exchange = new FilterExchange(plan, ForkJoinPool.commonPool());
    }

    /**
     * Creates the coordinator.
     *
     * @param other provider of the coordinator for all other messages
     */
    public record Provider(OperatorCoordinator.Provider other, FilterPlan plan)
            implements OperatorCoordinator.Provider {

        @Override
        public OperatorID getOperatorId() {
            return other.getOperatorId();
        }

        @Override
        public OperatorCoordinator create(Context context) throws Exception {
            return new FilterCoordinator(context, other.create(context), plan);
        }
    }

    @Override
    public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
            CoordinationRequest request) {
        return request instanceof FilterRequest asked
                ? exchange.handle(asked, context.currentParallelism())
                        .thenApply(FilterResponse::toResponse)
                : ((CoordinationRequestHandler) other).handleCoordinationRequest(request);
    }

    @Override
    public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {
        exchange.started(subtask, gateway.getExecution());
        other.executionAttemptReady(subtask, attempt, gateway);
    }

    @Override
    public void executionAttemptFailed(int subtask, int attempt, @Nullable Throwable reason) {
        exchange.ended(subtask, attempt);
        other.executionAttemptFailed(subtask, attempt, reason);
    }

    @Override
    public void subtaskReset(int subtask, long checkpointId) {
        exchange.reset(subtask);
        other.subtaskReset(subtask, checkpointId);
    }

    @Override
    public void resetToCheckpoint(long checkpointId, byte @Nullable [] state) throws Exception {
        exchange.resetAll();
        other.resetToCheckpoint(checkpointId, state);
    }

    @Override
    public void start() throws Exception {
        other.start();
    }

    @Override
    public void close() throws Exception {
        exchange.resetAll();
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
