// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinSpec;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * A subtask of a join as Flink runs it.
 *
 * @param name of the operator
 * @param coordinator of the operator
 */
record SubtaskContext(
        AbstractStreamOperator<?> operator,
        String name,
        MailboxExecutor mailbox,
        OperatorEventGateway coordinator,
        JoinSettings settings) {

    JoinSpec spec() {
        return settings.spec();
    }

    Environment environment() {
        return operator.getContainingTask().getEnvironment();
    }

    StreamingRuntimeContext runtime() {
        return operator.getRuntimeContext();
    }

    TaskInfo task() {
        return runtime().getTaskInfo();
    }

    StreamConfig config() {
        return operator.getOperatorConfig();
    }

    ClassLoader userCode() {
        return operator.getUserCodeClassloader();
    }

    ProcessingTimeService time() {
        return operator.getProcessingTimeService();
    }

    void setCurrentKey(int key) {
        operator.setCurrentKey(key);
    }

    boolean isCancelled() {
        return operator.getContainingTask().isCanceled();
    }

    /**
     * @throws CancelTaskException if the task has been cancelled
     */
    void checkNotCancelled() {
        if (isCancelled()) {
            throw new CancelTaskException(
                    "The task was cancelled while it waited for tables or results.");
        }
    }
}
