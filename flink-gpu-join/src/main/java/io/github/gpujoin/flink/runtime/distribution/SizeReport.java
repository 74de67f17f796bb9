// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Reports what one subtask has measured, and asks how the dimension is distributed.
 *
 * @param attempt of the subtask
 * @param bytes of the dimension's rows in the subtask's partitions
 * @param complete whether the subtask has received all rows
 */
record SizeReport(int subtask, int attempt, long bytes, boolean complete)
        implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
