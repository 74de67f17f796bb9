// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import java.util.HashMap;
import java.util.Map;

/**
 * Checks that the facts that wait in a joining subtask stay bounded: only those of LOAD may be
 * many, and their number falls.
 */
final class WaitingFacts {

    /** Limit by which a subtask in JOIN may fall behind, as payload of the chunks of facts. */
    private static final int MAX_WAITING_BYTES = 1 << 20;

    private final int maxGrowth;
    private final Map<TaskId, Integer> fewestChunks = new HashMap<>();

    /**
     * @param chunkBytes payload of a full chunk
     */
    WaitingFacts(int chunkBytes) {
        this.maxGrowth = Math.max(8, MAX_WAITING_BYTES / chunkBytes);
    }

    /** Forgets the tasks of the attempt before. */
    void reset() {
        fewestChunks.clear();
    }

    /**
     * @throws LifeFailure if more facts wait than did before
     */
    void check(SimulatedTask task, SinkResults.Attempt sink) {
        if (!sink.hasRows(task.id.subtask())) {
            return;
        }
        int waiting = task.waitingChunks();
        int fewest = Math.min(waiting, fewestChunks.getOrDefault(task.id, Integer.MAX_VALUE));
        fewestChunks.put(task.id, fewest);
        if (waiting - fewest > maxGrowth) {
            throw new LifeFailure(
                    "buffered facts in JOIN grow: chunks=" + waiting + ", before=" + fewest);
        }
    }
}
