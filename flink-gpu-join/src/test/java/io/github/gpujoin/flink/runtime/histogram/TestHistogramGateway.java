// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.SerializedValue;

/** Reaches the histogram exchange of a join at once; other requests are never answered. */
public final class TestHistogramGateway implements TaskOperatorEventGateway {

    private final HistogramExchange exchange = new HistogramExchange("join");
    private final int parallelism;
    private final AtomicInteger reportCount = new AtomicInteger();
    private volatile boolean isDown;

    public TestHistogramGateway(int parallelism) {
        this.parallelism = parallelism;
    }

    public void started(int subtask, ExecutionAttemptID attempt) {
        exchange.started(subtask, attempt);
    }

    /** Makes all requests fail from now on. */
    public void shutDown() {
        isDown = true;
    }

    public int reportCount() {
        return reportCount.get();
    }

    @Override
    public void sendOperatorEventToCoordinator(
            OperatorID operator, SerializedValue<OperatorEvent> event) {}

    @Override
    public CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
            OperatorID operator, SerializedValue<CoordinationRequest> request) {
        try {
            if (!(request.deserializeValue(getClass().getClassLoader())
                    instanceof HistogramReport report)) {
                return new CompletableFuture<>();
            }
            reportCount.incrementAndGet();
            if (isDown) {
                throw new IllegalStateException("The coordinator is down.");
            }
            return exchange.report(report, parallelism).thenApply(GlobalHistogram::toResponse);
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
