// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.JobType;

/**
 * Checks when a task starts that the job runs in the mode that the join was made for. The operators
 * of a streaming join wait for each other, and batch mode may run them one after another. A batch
 * join has no state, so a streaming job could not restore it.
 */
public final class ExecutionMode {

    private ExecutionMode() {}

    /**
     * Rejects a streaming job.
     *
     * @throws SuppressRestartsException since a restart would meet it too
     */
    public static void requireBatchAtStart(Environment task) {
        if (task.getJobType() != JobType.BATCH) {
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            ("Join of bounded inputs was made for batch mode, but the job runs in streaming mode:"
                                            + " %s changed afterwards, or another source of the job is unbounded."
                                            + " Set it to %s before the join is made.")
                                    .formatted(
                                            ExecutionOptions.RUNTIME_MODE.key(),
                                            RuntimeExecutionMode.STREAMING)));
        }
    }

    /**
     * Rejects a batch job.
     *
     * @throws SuppressRestartsException since a restart would meet it too
     */
    static void requireStreamingAtStart(Environment task) {
        if (task.getJobType() == JobType.BATCH) {
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            "Join was made for streaming mode, but the job runs in batch mode: %s=%s was set afterwards. Set it before the join is made."
                                    .formatted(
                                            ExecutionOptions.RUNTIME_MODE.key(),
                                            RuntimeExecutionMode.BATCH)));
        }
    }
}
