// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;

/** Messages from a subtask of a sending operator to its coordinator. Thread-safe. */
interface Coordinator {

    /** Announces the number of this attempt's requests. */
    void announce(WriterReady ready) throws IOException;

    /**
     * Requests the addresses of the join's rings. The answer may fail with a timeout of Flink's
     * RPC.
     */
    CompletableFuture<CoordinationResponse> requestAddresses(AddressRequest request)
            throws IOException;

    /** Returns the coordinator of an operator, which runs in the JobMaster. */
    static Coordinator remote(OperatorID operator, TaskOperatorEventGateway gateway) {
        return new Coordinator() {
            @Override
            public void announce(WriterReady ready) throws IOException {
                gateway.sendOperatorEventToCoordinator(operator, new SerializedValue<>(ready));
            }

            @Override
            public CompletableFuture<CoordinationResponse> requestAddresses(AddressRequest request)
                    throws IOException {
                return gateway.sendRequestToCoordinator(operator, new SerializedValue<>(request));
            }
        };
    }
}
