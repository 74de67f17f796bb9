// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.filter.FilterResponse.Status;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedValue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends requests of a task to the {@link FilterCoordinator} of a join, and repeats them until they
 * are answered. Some answers arrive long after Flink's RPC has timed out. Thread-safe.
 */
final class FilterClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FilterClient.class);

    private static final long AGAIN_MS = 100;
    private static final long RETRY_MS = 1_000;

    /**
     * A request is given up when the costs of its failures in a row reach this: after about 3 hours
     * of timeouts, since an answer may be late, or after five other failures.
     */
    private static final int MAX_COST = 1_000;

    private static final int TIMEOUT_COST = 1;
    private static final int FAILURE_COST = MAX_COST / 5;

    private final TaskOperatorEventGateway gateway;
    private final OperatorID operator;
    private volatile boolean isClosed;

    /**
     * @param operator the join
     */
    FilterClient(TaskOperatorEventGateway gateway, OperatorID operator) {
        this.gateway = gateway;
        this.operator = operator;
    }

    /**
     * Sends a request.
     *
     * @return completes with an answer whose status is OK or OVER, by any thread; OVER also if the
     *     coordinator cannot be reached, and after {@link #close}
     */
    CompletableFuture<FilterResponse> send(FilterRequest request) {
        CompletableFuture<FilterResponse> answer = new CompletableFuture<>();
        send(request, 0, answer);
        return answer;
    }

    private void send(FilterRequest request, int cost, CompletableFuture<FilterResponse> answer) {
        if (isClosed) {
            answer.complete(FilterResponse.OVER);
            return;
        }
        CompletableFuture<CoordinationResponse> response;
        try {
            response = gateway.sendRequestToCoordinator(operator, new SerializedValue<>(request));
        } catch (IOException | RuntimeException e) {
            response = CompletableFuture.failedFuture(e);
        }
        response.thenApply(FilterResponse::of)
                .whenComplete(
                        (answered, failure) -> {
                            if (failure != null) {
                                failed(request, failure, cost, answer);
                            } else if (answered.status() == Status.AGAIN) {
                                later(AGAIN_MS, () -> send(request, 0, answer));
                            } else {
                                answer.complete(answered);
                            }
                        });
    }

    private void failed(
            FilterRequest request,
            Throwable failure,
            int before,
            CompletableFuture<FilterResponse> answer) {
        boolean isTimeout =
                ExceptionUtils.findThrowable(failure, TimeoutException.class).isPresent();
        int cost = before + (isTimeout ? TIMEOUT_COST : FAILURE_COST);
        if (cost >= MAX_COST) {
            LOG.info("Facts have no filters of other processes: {}", request, failure);
            answer.complete(FilterResponse.OVER);
        } else {
            later(RETRY_MS, () -> send(request, cost, answer));
        }
    }

    private static void later(long ms, Runnable action) {
        CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS).execute(action);
    }

    /** Sends no further request. */
    @Override
    public void close() {
        isClosed = true;
    }
}
