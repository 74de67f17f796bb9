// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Event by which an attempt of a sending subtask announces the number of its {@link AddressRequest}
 * to its coordinator.
 *
 * <p>Only tasks send events, while Flink's REST interface also accepts requests. So the coordinator
 * answers a request only if an event has announced its number.
 *
 * @param number random secret of this attempt
 */
record WriterReady(UUID number) implements OperatorEvent {

    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
        return "WriterReady"; // Omits the number, which is a secret.
    }
}
