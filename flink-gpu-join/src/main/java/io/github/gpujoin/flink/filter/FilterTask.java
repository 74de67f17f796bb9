// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.SystemClock;

/**
 * A task at one end of the filters.
 *
 * @param process TaskManager: several may share a JVM, but not the work on a job
 * @param gateway to the coordinators of the job
 * @param clock of timeouts
 */
record FilterTask(
        String process, ExecutionAttemptID attempt, TaskOperatorEventGateway gateway, Clock clock) {

    FilterTask(String process, ExecutionAttemptID attempt, TaskOperatorEventGateway gateway) {
        this(process, attempt, gateway, SystemClock.getInstance());
    }

    static FilterTask of(Environment task) {
        String process =
                task.getMetricGroup()
                        .getAllVariables()
                        .getOrDefault(ScopeFormat.SCOPE_TASKMANAGER_ID, "");
        return new FilterTask(
                process, task.getExecutionId(), task.getOperatorCoordinatorEventGateway());
    }
}
