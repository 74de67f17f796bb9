// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Coordinator of an operator at one end of a join's rings. It forwards announcements and requests
 * to the {@link Rendezvous}. Its snapshots are empty, since addresses are valid for one attempt of
 * a subtask only.
 */
abstract class RendezvousCoordinator implements OperatorCoordinator {

    final Context context;
    final Rendezvous rendezvous;

    RendezvousCoordinator(Context context, String join) {
        this.context = context;
        this.rendezvous = Rendezvous.of(context.getCoordinatorStore(), context.getJobID(), join);
    }

    @Override
    public void start() {}

    @Override
    public void close() {}

    @Override
    public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
        result.complete(new byte[0]);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {}

    /** Does nothing, since coordinators only answer requests. */
    @Override
    public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {}

    /** Coordinator of the join: receives addresses, and announces checkpoints. */
    static final class OfReader extends RendezvousCoordinator
            implements CoordinationRequestHandler {

        private final CheckpointAnnouncements checkpoints = new CheckpointAnnouncements();

        OfReader(Context context, String join) {
            super(context, join);
        }

        @Override
        public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
            if (!(event instanceof ReaderAddress address)) {
                throw unknown(event);
            }
            rendezvous.announce(subtask, attempt, address, context.currentParallelism());
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (!(request instanceof CheckpointRequest asked)) {
                throw unknown(request);
            }
            return checkpoints.request(asked);
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
            checkpoints.begun(checkpointId);
            super.checkpointCoordinator(checkpointId, result);
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            checkpoints.ended(checkpointId);
        }

        @Override
        public void notifyCheckpointAborted(long checkpointId) {
            checkpoints.ended(checkpointId);
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
            rendezvous.readerFailed(subtask, attempt);
            checkpoints.reset(subtask);
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            rendezvous.readerReset(subtask);
            checkpoints.reset(subtask);
        }

        @Override
        public void resetToCheckpoint(long checkpointId, byte[] state) {
            rendezvous.allReadersReset();
            checkpoints.resetAll();
        }
    }

    /** Coordinator of a sending operator: answers requests for addresses. */
    static final class OfWriter extends RendezvousCoordinator
            implements CoordinationRequestHandler {

        OfWriter(Context context, String join) {
            super(context, join);
        }

        @Override
        public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
            if (!(event instanceof WriterReady ready)) {
                throw unknown(event);
            }
            rendezvous.writerReady(context.getOperatorId(), subtask, attempt, ready.number());
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            if (!(request instanceof AddressRequest asked)) {
                throw unknown(request);
            }
            return rendezvous.request(asked.number());
        }

        @Override
        public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
            rendezvous.writerFailed(context.getOperatorId(), subtask, attempt);
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            rendezvous.writerReset(context.getOperatorId(), subtask);
        }

        @Override
        public void resetToCheckpoint(long checkpointId, byte[] state) {
            rendezvous.allWritersReset(context.getOperatorId());
        }
    }

    private static IllegalArgumentException unknown(Object message) {
        return new IllegalArgumentException(
                "Unknown message to the coordinator of a join's rings: message=" + message);
    }
}
