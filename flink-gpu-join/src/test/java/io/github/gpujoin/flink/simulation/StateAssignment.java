// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.RoundRobinOperatorStateRepartitioner;
import org.apache.flink.runtime.checkpoint.StateAssignmentOperation;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;

/** Gives the state of a checkpoint to the subtasks of another parallelism, by Flink's own rules. */
final class StateAssignment {

    private StateAssignment() {}

    /** State of each operator for a subtask of the vertex. */
    static Map<OperatorID, OperatorSubtaskState> of(
            Checkpoint checkpoint, Vertex vertex, int subtask, int parallelism) {
        Map<OperatorID, List<OperatorSubtaskState>> old = new LinkedHashMap<>();
        int oldParallelism = checkpoint.parallelism.get(vertex.number());
        for (int i = 0; i < oldParallelism; i++) {
            TaskState state = checkpoint.states.get(new TaskId(vertex.number(), i));
            if (state != null) {
                int index = i;
                state.operators()
                        .forEach(
                                (id, operator) ->
                                        old.computeIfAbsent(id, key -> empty(oldParallelism))
                                                .set(index, operator));
            }
        }
        Map<OperatorID, OperatorSubtaskState> assigned = new HashMap<>();
        old.forEach(
                (id, states) ->
                        assigned.put(
                                id, assign(states, subtask, parallelism, vertex.maxParallelism())));
        return assigned;
    }

    private static List<OperatorSubtaskState> empty(int size) {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            states.add(null);
        }
        return states;
    }

    private static OperatorSubtaskState assign(
            List<OperatorSubtaskState> old, int subtask, int parallelism, int keyGroups) {
        KeyGroupRange range =
                StateAssignmentOperation.createKeyGroupPartitions(keyGroups, parallelism)
                        .get(subtask);
        List<KeyedStateHandle> keyed = new ArrayList<>();
        old.stream()
                .filter(Objects::nonNull)
                .forEach(
                        state ->
                                StateAssignmentOperation.extractIntersectingState(
                                        state.getManagedKeyedState(), range, keyed));
        List<List<OperatorStateHandle>> lists =
                old.stream()
                        .map(
                                state ->
                                        state == null
                                                ? List.<OperatorStateHandle>of()
                                                : List.copyOf(state.getManagedOperatorState()))
                        .toList();
        List<OperatorStateHandle> own =
                RoundRobinOperatorStateRepartitioner.INSTANCE
                        .repartitionState(lists, old.size(), parallelism)
                        .get(subtask);
        return OperatorSubtaskState.builder()
                .setManagedKeyedState(new StateObjectCollection<>(keyed))
                .setManagedOperatorState(new StateObjectCollection<>(own))
                .build();
    }
}
