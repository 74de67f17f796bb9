// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/** A checkpoint of a life: what each subtask that ran had in state. */
final class Checkpoint {

    record TaskId(int vertex, int subtask) {}

    record ChannelId(int gate, int sender) {}

    /**
     * What one subtask has in a checkpoint.
     *
     * @param positions of the splits of a source
     * @param inFlight data of an unaligned checkpoint
     * @param finished whether its operators had finished
     */
    record TaskState(
            Map<OperatorID, OperatorSubtaskState> operators,
            Map<Integer, Integer> positions,
            Map<ChannelId, List<StreamElement>> inFlight,
            boolean finished) {}

    final long id;

    /** Of each vertex. */
    final List<Integer> parallelism;

    /** Subtasks that had ended before; they have no state. */
    final Set<TaskId> ended;

    final Map<TaskId, TaskState> states = new HashMap<>();

    /** Of coordinators. */
    final Map<OperatorID, byte[]> coordinators = new HashMap<>();

    Checkpoint(long id, List<Integer> parallelism, Set<TaskId> ended) {
        this.id = id;
        this.parallelism = parallelism;
        this.ended = ended;
    }

    /** Whether no subtask of the vertex has anything left to do. */
    boolean isFinished(int vertex) {
        for (int subtask = 0; subtask < parallelism.get(vertex); subtask++) {
            TaskId task = new TaskId(vertex, subtask);
            if (!ended.contains(task) && !states.get(task).finished()) {
                return false;
            }
        }
        return true;
    }
}
