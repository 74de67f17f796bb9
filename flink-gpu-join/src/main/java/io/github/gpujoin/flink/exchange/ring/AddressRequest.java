// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Request of a sending subtask to its coordinator for the addresses of the join's rings. The answer
 * is {@link WriterAddresses}.
 *
 * @param number secret of the attempt, from its {@link WriterReady}
 */
record AddressRequest(UUID number) implements CoordinationRequest {

    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
        return "AddressRequest"; // Omits the number, which is a secret.
    }
}
