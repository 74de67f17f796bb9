// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.exchange.ForwardingCoordinator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

/**
 * Coordinator of a join that exchanges filters of facts between processes. Everything else goes to
 * another coordinator, whose snapshots are also those of this one: filters are built again after a
 * restore.
 */
public final class FilterCoordinator extends ForwardingCoordinator {

    private final Context context;
    private final FilterExchange exchange;

    private FilterCoordinator(Context context, OperatorCoordinator other, FilterExchange exchange) {
        super(other, exchange);
        this.context = context;
        this.exchange = exchange;
    }

    /**
     * Creates the coordinator.
     *
     * @param other provider of the coordinator for all other messages
     */
    public record Provider(OperatorCoordinator.Provider other, FilterPlan plan)
            implements OperatorCoordinator.Provider {

        @Override
        public OperatorID getOperatorId() {
            return other.getOperatorId();
        }

        @Override
        public OperatorCoordinator create(Context context) throws Exception {
            return new FilterCoordinator(
                    context,
                    other.create(context),
                    new FilterExchange(plan, ForkJoinPool.commonPool()));
        }
    }

    @Override
    public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
            CoordinationRequest request) {
        return request instanceof FilterRequest asked
                ? exchange.handle(asked, context.currentParallelism())
                        .thenApply(FilterResponse::toResponse)
                : super.handleCoordinationRequest(request);
    }
}
