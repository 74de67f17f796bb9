// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Coordinator of one of the operators that a {@link DistributionDecision} concerns.
 *
 * <p>Both hold the decision in checkpoints, since Flink drops that of packers which have finished.
 * The packers get it only while no checkpoint without it is in progress. So a checkpoint that holds
 * facts for a replicated dimension holds that decision too.
 */
abstract class DistributionCoordinator implements OperatorCoordinator {

    final Context context;

    /** Null if no dimension is measured. */
    final DistributionDecision decision;

    DistributionCoordinator(Context context, MeasuredDimension dimension) {
        this.context = context;
        this.decision =
                dimension == null
                        ? null
                        : DistributionDecision.of(context.getCoordinatorStore(), dimension);
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

    /** Of the operator that logs the dimension and measures it. */
    static final class OfLog extends DistributionCoordinator implements CoordinationRequestHandler {

        OfLog(Context context, MeasuredDimension dimension) {
            super(context, dimension);
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (decision == null || !(request instanceof SizeReport report)) {
                throw new IllegalArgumentException("Unknown request: " + request);
            }
            return decision.ask(report, context.currentParallelism());
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
            result.complete(decision == null ? new byte[0] : decision.snapshot(checkpointId));
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            notifyCheckpointAborted(checkpointId);
        }

        @Override
        public void notifyCheckpointAborted(long checkpointId) {
            if (decision != null) {
                decision.checkpointEnded(checkpointId);
            }
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
            if (decision != null) {
                decision.reset(subtask);
            }
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            if (decision != null) {
                decision.reset(subtask);
                decision.regionReset(checkpointId);
            }
        }

        @Override
        public void resetToCheckpoint(long checkpointId, byte[] state) {
            if (decision != null) {
                decision.resetReports();
                decision.restore(checkpointId, state);
            }
        }
    }

    /** Of the packers of facts. */
    static final class OfPackers extends DistributionCoordinator
            implements CoordinationRequestHandler {

        OfPackers(Context context, MeasuredDimension dimension) {
            super(context, dimension);
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (!(request instanceof DistributionRequest question)) {
                throw new IllegalArgumentException("Unknown request: " + request);
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
        public void resetToCheckpoint(long checkpointId, byte[] state) {
            decision.restore(checkpointId, state);
        }
    }
}
