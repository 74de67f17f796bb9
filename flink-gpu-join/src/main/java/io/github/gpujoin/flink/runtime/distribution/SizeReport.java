// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * What one subtask has measured, and the question how the dimension is distributed.
 *
 * @param attempt of the subtask
 * @param bytes of the dimension's rows in the subtask's partitions
 * @param complete whether these are all
 */
record SizeReport(int subtask, int attempt, long bytes, boolean complete)
        implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
