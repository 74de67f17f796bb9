// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;

/**
 * A task at one end of the filters.
 *
 * @param process TaskManager: several may share a JVM, but not the work on a job
 * @param gateway to the coordinators of the job
 */
record FilterTask(String process, ExecutionAttemptID attempt, TaskOperatorEventGateway gateway) {

    static FilterTask of(Environment task) {
        String process =
                task.getMetricGroup()
                        .getAllVariables()
                        .getOrDefault(ScopeFormat.SCOPE_TASKMANAGER_ID, "");
        return new FilterTask(
                process, task.getExecutionId(), task.getOperatorCoordinatorEventGateway());
    }
}
