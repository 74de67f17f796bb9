// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.JobType;

/**
 * Refuses batch mode: it may run the subtasks of an operator one after another, while those of a
 * join wait for each other.
 */
public final class StreamingMode {

    private StreamingMode() {}

    /**
     * Checks a job that is being made.
     *
     * @throws IllegalStateException if it may run in batch mode
     */
    public static void require(ReadableConfig job) {
        RuntimeExecutionMode mode = job.get(ExecutionOptions.RUNTIME_MODE);
        if (mode != RuntimeExecutionMode.STREAMING) {
            throw refusal(mode);
        }
    }

    /**
     * Checks a task that starts: the mode may have been set after the join was made.
     *
     * @throws SuppressRestartsException in batch mode, since a restart would meet it too
     */
    static void requireAtStart(Environment task) {
        if (task.getJobType() == JobType.BATCH) {
            throw new SuppressRestartsException(refusal(RuntimeExecutionMode.BATCH));
        }
    }

    private static IllegalStateException refusal(RuntimeExecutionMode mode) {
        return new IllegalStateException(
                "%s=%s may run subtasks one after another, and a join cannot. Set it to STREAMING, for bounded inputs too."
                        .formatted(ExecutionOptions.RUNTIME_MODE.key(), mode));
    }
}
