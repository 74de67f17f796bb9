// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import io.github.gpujoin.flink.exchange.ForwardingCoordinator;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

/**
 * Coordinator of a join that adds up histograms. Everything else goes to another coordinator, whose
 * snapshots are also those of this one: subtasks report again after a restore.
 */
public final class HistogramCoordinator extends ForwardingCoordinator {

    private final Context context;
    private final HistogramExchange exchange;

    private HistogramCoordinator(
            Context context, OperatorCoordinator other, HistogramExchange exchange) {
        super(other, exchange);
        this.context = context;
        this.exchange = exchange;
    }

    /**
     * Creates the coordinator.
     *
     * @param other provider of the coordinator for all other messages
     * @param join name of the join, for the log
     */
    public record Provider(OperatorCoordinator.Provider other, String join)
            implements OperatorCoordinator.Provider {

        @Override
        public OperatorID getOperatorId() {
            return other.getOperatorId();
        }

        @Override
        public OperatorCoordinator create(Context context) throws Exception {
            return new HistogramCoordinator(
                    context, other.create(context), new HistogramExchange(join));
        }
    }

    @Override
    public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
            CoordinationRequest request) {
        return request instanceof HistogramReport report
                ? exchange.report(report, context.currentParallelism())
                        .thenApply(GlobalHistogram::toResponse)
                : super.handleCoordinationRequest(request);
    }
}
