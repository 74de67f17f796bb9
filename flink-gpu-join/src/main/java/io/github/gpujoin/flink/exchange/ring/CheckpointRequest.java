// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Request of a subtask to the join's coordinator for the next checkpoint. The coordinator answers
 * when that begins.
 *
 * @param asker identifies one attempt of the subtask
 * @param after latest checkpoint that the subtask knows of, or -1
 */
record CheckpointRequest(UUID asker, int subtask, long after) implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
