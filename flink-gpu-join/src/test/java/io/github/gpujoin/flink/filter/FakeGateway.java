// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.SerializedValue;

/**
 * Reaches the coordinator of a join at once.
 *
 * @param operator the join
 * @param coordinator answers requests
 */
record FakeGateway(
        OperatorID operator, Function<FilterRequest, CompletableFuture<FilterResponse>> coordinator)
        implements TaskOperatorEventGateway {

    @Override
    public void sendOperatorEventToCoordinator(
            OperatorID receiver, SerializedValue<OperatorEvent> event) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
            OperatorID receiver, SerializedValue<CoordinationRequest> request) {
        assertThat(receiver).isEqualTo(operator);
        try {
            ClassLoader classes = getClass().getClassLoader();
            return coordinator
                    .apply((FilterRequest) request.deserializeValue(classes))
                    .thenApply(FilterResponse::toResponse);
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
