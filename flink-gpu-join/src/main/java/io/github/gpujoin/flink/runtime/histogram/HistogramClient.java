// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the report of a subtask to the {@link HistogramCoordinator} until it is answered or the
 * client is closed. Nobody waits for the answer, so it may be late or never arrive. Thread-safe.
 */
public final class HistogramClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HistogramClient.class);

    private static final long NOT_YET_MS = 100;
    private static final long RETRY_MS = 1_000;

    private final TaskOperatorEventGateway gateway;
    private final OperatorID operator;
    private final long retryMs;
    private volatile boolean isClosed;

    /**
     * @param gateway to the coordinators of the job
     * @param operator the join
     */
    public HistogramClient(TaskOperatorEventGateway gateway, OperatorID operator) {
        this(gateway, operator, RETRY_MS);
    }

    HistogramClient(TaskOperatorEventGateway gateway, OperatorID operator, long retryMs) {
        this.gateway = gateway;
        this.operator = operator;
        this.retryMs = retryMs;
    }

    /**
     * Sends a report.
     *
     * @param onAnswer receives the answer at most once, in any thread, and not after {@link #close}
     */
    public void report(HistogramReport report, Consumer<GlobalHistogram> onAnswer) {
        if (isClosed) {
            return;
        }
        CompletableFuture<CoordinationResponse> response;
        try {
            response = gateway.sendRequestToCoordinator(operator, new SerializedValue<>(report));
        } catch (IOException | RuntimeException e) {
            response = CompletableFuture.failedFuture(e);
        }
        response.thenApply(GlobalHistogram::of)
                .whenComplete((answer, failure) -> answered(report, onAnswer, answer, failure));
    }

    private void answered(
            HistogramReport report,
            Consumer<GlobalHistogram> onAnswer,
            @Nullable GlobalHistogram answer,
            @Nullable Throwable failure) {
        if (isClosed) {
            return;
        }
        if (answer != null) {
            onAnswer.accept(answer);
            return;
        }
        if (failure != null) {
            LOG.debug("The coordinator did not answer a histogram.", failure);
        }
        CompletableFuture.delayedExecutor(
                        failure == null ? NOT_YET_MS : retryMs, TimeUnit.MILLISECONDS)
                .execute(() -> report(report, onAnswer));
    }

    /** Sends no further report, and drops answers. */
    @Override
    public void close() {
        isClosed = true;
    }
}
