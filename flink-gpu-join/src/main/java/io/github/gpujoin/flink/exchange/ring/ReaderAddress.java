// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.jspecify.annotations.Nullable;

/**
 * Event by which a subtask of the join announces the addresses of its rings and their secrets to
 * its coordinator. The secrets are of one attempt of the subtask, and never leave the coordinator.
 *
 * @param own of the rings to this subtask alone, or null if it has none
 * @param shared of the rings that it shares with others of its TaskManager, or null if it shares
 *     none
 */
record ReaderAddress(@Nullable Endpoint own, @Nullable Endpoint shared) implements OperatorEvent {

    private static final long serialVersionUID = 1L;
}
