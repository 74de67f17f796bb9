// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/**
 * Which subtasks of a join receive chunks through one ring. Small chunks of a shared ring travel
 * together in one slot, and its memory does not grow with the subtasks of a TaskManager.
 */
@PublicEvolving
public enum RingSharing {
    /** None: each sending subtask has a ring to each subtask of the join. */
    NONE,
    /** Those of a TaskManager: each sending subtask has one ring to each TaskManager. */
    TASK_MANAGER,
    /**
     * Those of a TaskManager, while chunks are small. A sending subtask opens a ring to a subtask
     * of the join when the chunks that it sends there fill more than a quarter of a slot on
     * average. Such rings exist only where they take at most an eighth of the receiving subtask's
     * managed memory.
     */
    AUTO
}
