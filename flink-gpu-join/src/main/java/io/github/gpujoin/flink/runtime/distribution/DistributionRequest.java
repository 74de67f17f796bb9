// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Asks how the measured dimension is distributed; from a subtask that packs facts.
 *
 * @param passedCheckpoint the last checkpoint whose barrier the attempt has emitted, negative for
 *     none
 */
record DistributionRequest(int subtask, int attempt, long passedCheckpoint)
        implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
