// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.jspecify.annotations.Nullable;

/**
 * Coordinator of an operator that logs dimensions, or of one that packs facts.
 *
 * <p>Both coordinators write the {@link DistributionDecision} to checkpoints, since Flink drops the
 * state of packers that have finished. Packers receive the decision only while no checkpoint
 * without it is in progress. So a checkpoint that holds facts for a replicated dimension holds that
 * decision too.
 */
abstract class DistributionCoordinator implements OperatorCoordinator {

    final Context context;

    DistributionCoordinator(Context context) {
        this.context = context;
    }

    @Override
    public void start() {}

    @Override
    public void close() {}

    @Override
    public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
        throw new IllegalArgumentException(
                "Unknown event from subtask %d: %s".formatted(subtask, event));
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {}

    /** Flink fails a task that an event cannot reach, also one that has just finished. */
    @Override
    public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {}

    /** Of a join without a measured dimension: it receives no requests, and its state is empty. */
    static final class Idle extends DistributionCoordinator {

        Idle(Context context) {
            super(context);
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
            result.complete(new byte[0]);
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {}

        @Override
        public void subtaskReset(int subtask, long checkpointId) {}

        @Override
        public void resetToCheckpoint(long checkpointId, byte @Nullable [] state) {}
    }

    /** Of the operator that logs the dimension and measures it. */
    static final class OfLog extends DistributionCoordinator implements CoordinationRequestHandler {

        private final DistributionDecision decision;

        OfLog(Context context, MeasuredDimension dimension) {
            super(context);
            this.decision = DistributionDecision.of(context.getCoordinatorStore(), dimension);
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (!(request instanceof SizeReport report)) {
                throw new IllegalArgumentException(
                        "Unknown request to the coordinator of a join's distribution: " + request);
            }
            return decision.ask(report, context.currentParallelism());
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
            result.complete(decision.snapshot(checkpointId));
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            notifyCheckpointAborted(checkpointId);
        }

        @Override
        public void notifyCheckpointAborted(long checkpointId) {
            decision.checkpointEnded(checkpointId);
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
            decision.reset(subtask);
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            decision.reset(subtask);
            decision.regionReset(checkpointId);
        }

        @Override
        public void resetToCheckpoint(long checkpointId, byte @Nullable [] state) {
            decision.resetReports();
            decision.restore(checkpointId, state);
        }
    }

    /** Of the packers of facts. */
    static final class OfPackers extends DistributionCoordinator
            implements CoordinationRequestHandler {

        private final DistributionDecision decision;

        OfPackers(Context context, MeasuredDimension dimension) {
            super(context);
            this.decision = DistributionDecision.of(context.getCoordinatorStore(), dimension);
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (!(request instanceof DistributionRequest question)) {
                throw new IllegalArgumentException(
                        "Unknown request to the coordinator of a join's distribution: " + request);
            }
            return decision.ask(question);
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
            result.complete(decision.snapshot(checkpointId));
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            decision.checkpointEnded(checkpointId);
        }

        @Override
        public void notifyCheckpointAborted(long checkpointId) {
            decision.checkpointEnded(checkpointId);
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
            decision.packerFailed(subtask);
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            decision.packerFailed(subtask);
        }

        @Override
        public void resetToCheckpoint(long checkpointId, byte @Nullable [] state) {
            decision.restore(checkpointId, state);
        }
    }
}
