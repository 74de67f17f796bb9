// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;

/**
 * The task at one end of rings.
 *
 * @param name for logs
 * @param attempt of the subtask
 * @param process resource id of the TaskManager: several may share a JVM
 * @param taskManager configuration of the process
 */
public record RingTask(
        JobID job,
        String name,
        int subtask,
        int attempt,
        String process,
        Configuration taskManager) {

    /** Returns the task of an environment. */
    public static RingTask of(Environment task) {
        return new RingTask(
                task.getJobInfo().getJobId(),
                task.getTaskInfo().getTaskNameWithSubtasks(),
                task.getTaskInfo().getIndexOfThisSubtask(),
                task.getTaskInfo().getAttemptNumber(),
                task.getMetricGroup()
                        .getAllVariables()
                        .getOrDefault(ScopeFormat.SCOPE_TASKMANAGER_ID, ""),
                task.getTaskManagerInfo().getConfiguration());
    }
}
