// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.groups.OperatorCoordinatorMetricGroup;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.messages.Acknowledge;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.CoordinatorStoreImpl;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator.SubtaskGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.SerializedValue;

/**
 * The coordinators of a job's operators in the JobMaster, and the messages of tasks to them, which
 * arrive in their order as time passes.
 */
final class SimulatedCoordinators implements AutoCloseable {

    private interface Message {
        void deliver() throws Exception;
    }

    private final JobID job;
    private final CoordinatorStore store = new CoordinatorStoreImpl();
    private final Map<OperatorID, OperatorCoordinator> coordinators = new LinkedHashMap<>();

    /** Numbers of the vertices that hold the operators. */
    private final Map<OperatorID, Integer> vertices = new LinkedHashMap<>();

    private final Map<OperatorID, JobVertexID> vertexIds = new LinkedHashMap<>();
    private final ArrayDeque<Message> messages = new ArrayDeque<>();
    private List<Integer> parallelism = List.of();
    private int attempt;

    SimulatedCoordinators(JobPlan plan, JobID job) {
        this.job = job;
        for (Vertex vertex : plan.vertices()) {
            for (OperatorCoordinator.Provider provider : vertex.coordinators()) {
                OperatorID operator = provider.getOperatorId();
                try {
                    OperatorCoordinator coordinator = provider.create(new Context(operator));
                    coordinator.start();
                    coordinators.put(operator, coordinator);
                    vertices.put(operator, vertex.number());
                    vertexIds.put(operator, vertex.id());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    /**
     * The tasks of an attempt are deployed next; those of earlier ones are not heard any more.
     *
     * @param parallelismOfVertices of each vertex
     * @param checkpoint to start from; null where the job starts from nothing
     */
    void restart(List<Integer> parallelismOfVertices, int number, Checkpoint checkpoint) {
        // Flink resets the subtasks of a region alone, unless it is rescaled.
        boolean ofRegion = parallelism.equals(parallelismOfVertices) && number % 2 == 0;
        parallelism = parallelismOfVertices;
        attempt = number;
        long id = checkpoint == null ? OperatorCoordinator.NO_CHECKPOINT : checkpoint.id;
        coordinators.forEach(
                (operator, coordinator) -> {
                    if (ofRegion) {
                        for (int i = 0; i < parallelism.get(vertices.get(operator)); i++) {
                            coordinator.subtaskReset(i, id);
                        }
                    } else if (number > 0) {
                        byte[] state =
                                checkpoint == null ? null : checkpoint.coordinators.get(operator);
                        attempt(() -> coordinator.resetToCheckpoint(id, state));
                    }
                    started(operator, coordinator);
                });
    }

    private void started(OperatorID operator, OperatorCoordinator coordinator) {
        int vertex = vertices.get(operator);
        for (int i = 0; i < parallelism.get(vertex); i++) {
            ExecutionAttemptID id =
                    SimulatedEnvironment.attemptOf(vertexIds.get(operator), i, attempt);
            coordinator.executionAttemptReady(i, attempt, new Gateway(id));
        }
    }

    /** Coordinators of the join send no events. */
    private record Gateway(ExecutionAttemptID execution) implements SubtaskGateway {

        @Override
        public CompletableFuture<Acknowledge> sendEvent(OperatorEvent event) {
            throw new UnsupportedOperationException("event: " + event);
        }

        @Override
        public ExecutionAttemptID getExecution() {
            return execution;
        }

        @Override
        public int getSubtask() {
            return execution.getSubtaskIndex();
        }
    }

    /** The coordinators as one task of an attempt reaches them. */
    TaskOperatorEventGateway gateway(int subtask, int number) {
        return new TaskOperatorEventGateway() {
            @Override
            public void sendOperatorEventToCoordinator(
                    OperatorID operator, SerializedValue<OperatorEvent> event) {
                messages.add(
                        () -> {
                            if (number == attempt) {
                                coordinators
                                        .get(operator)
                                        .handleEventFromOperator(subtask, number, copy(event));
                            }
                        });
            }

            @Override
            public CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
                    OperatorID operator, SerializedValue<CoordinationRequest> request) {
                CompletableFuture<CoordinationResponse> response = new CompletableFuture<>();
                messages.add(
                        () ->
                                ((CoordinationRequestHandler) coordinators.get(operator))
                                        .handleCoordinationRequest(copy(request))
                                        .thenAccept(response::complete));
                return response;
            }
        };
    }

    private static <T> T copy(SerializedValue<T> value) throws Exception {
        return value.deserializeValue(SimulatedCoordinators.class.getClassLoader());
    }

    /** Lets all messages arrive that were sent. */
    void deliver() {
        for (int left = messages.size(); left > 0; left--) {
            attempt(messages.remove());
        }
    }

    void checkpointBegins(Checkpoint checkpoint) {
        coordinators.forEach(
                (operator, coordinator) -> {
                    CompletableFuture<byte[]> state = new CompletableFuture<>();
                    attempt(() -> coordinator.checkpointCoordinator(checkpoint.id, state));
                    checkpoint.coordinators.put(operator, state.join());
                });
    }

    /** Flink drops the states of coordinators whose operators have finished. */
    void checkpointCompletes(Checkpoint checkpoint) {
        vertices.forEach(
                (operator, vertex) -> {
                    if (checkpoint.isFinished(vertex)) {
                        checkpoint.coordinators.remove(operator);
                    }
                });
        coordinators.values().forEach(c -> c.notifyCheckpointComplete(checkpoint.id));
    }

    void checkpointAborts(long checkpoint) {
        coordinators.values().forEach(c -> c.notifyCheckpointAborted(checkpoint));
    }

    private static void attempt(Message message) {
        try {
            message.deliver();
        } catch (Exception e) {
            throw new LifeFailure("a coordinator failed: " + e, e);
        }
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(new ArrayList<>(coordinators.values()));
    }

    private final class Context implements OperatorCoordinator.Context {

        private final OperatorID operator;

        Context(OperatorID operator) {
            this.operator = operator;
        }

        @Override
        public JobID getJobID() {
            return job;
        }

        @Override
        public OperatorID getOperatorId() {
            return operator;
        }

        @Override
        public OperatorCoordinatorMetricGroup metricGroup() {
            throw new UnsupportedOperationException("coordinators of the join have no metrics");
        }

        @Override
        public void failJob(Throwable cause) {
            throw new LifeFailure("a coordinator failed the job: " + cause, cause);
        }

        @Override
        public int currentParallelism() {
            return parallelism.get(vertices.get(operator));
        }

        @Override
        public ClassLoader getUserCodeClassloader() {
            return SimulatedCoordinators.class.getClassLoader();
        }

        @Override
        public CoordinatorStore getCoordinatorStore() {
            return store;
        }

        @Override
        public boolean isConcurrentExecutionAttemptsSupported() {
            return false;
        }

        @Override
        public CheckpointCoordinator getCheckpointCoordinator() {
            return null;
        }
    }
}
