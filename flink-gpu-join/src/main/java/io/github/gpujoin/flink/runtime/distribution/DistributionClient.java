// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import io.github.gpujoin.flink.api.explain.Distribution;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;
import org.jspecify.annotations.Nullable;

/**
 * Asks the coordinator of an operator for the distribution of the measured dimension, until it
 * answers. One thread asks; other threads deliver answers.
 */
public final class DistributionClient implements AutoCloseable {

    /** Approximate number of reports of all subtasks until a dimension reaches the limit. */
    private static final int REPORTS = 64;

    private static final long RETRY_MS = 1_000;

    /** For {@link #ask}. */
    public static final long NO_CHECKPOINT = -1;

    private final TaskOperatorEventGateway gateway;
    private final OperatorID operator;
    private final TaskInfo task;
    private final MeasuredDimension dimension;
    private final Runnable onAnswer;

    private @Nullable CoordinationRequest last;
    private @Nullable SizeReport reported;
    private volatile Distribution answer = Distribution.MEASURED;
    private volatile boolean closed;

    /**
     * @param operator whose coordinator is asked
     * @param onAnswer called by any thread once {@link #answer} is final
     */
    public DistributionClient(
            TaskOperatorEventGateway gateway,
            OperatorID operator,
            TaskInfo task,
            MeasuredDimension dimension,
            Runnable onAnswer) {
        this.gateway = gateway;
        this.operator = operator;
        this.task = task;
        this.dimension = dimension;
        this.onAnswer = onAnswer;
    }

    /** The distribution; {@link Distribution#MEASURED} while it is unknown. */
    public Distribution answer() {
        return answer;
    }

    /**
     * Asks for a subtask that packs facts.
     *
     * @param passedCheckpoint the last checkpoint whose barrier the subtask has emitted, {@link
     *     #NO_CHECKPOINT} for none
     */
    public void ask(long passedCheckpoint) {
        send(
                new DistributionRequest(
                        task.getIndexOfThisSubtask(), task.getAttemptNumber(), passedCheckpoint));
    }

    /** Reports the measured bytes, unless they differ little from the last report. */
    public void report(long bytes, boolean complete) {
        long stepBytes = dimension.maxBytes() / REPORTS / task.getNumberOfParallelSubtasks();
        if (reported == null
                || reported.complete() != complete
                || bytes - reported.bytes() > stepBytes) {
            reported =
                    new SizeReport(
                            task.getIndexOfThisSubtask(), task.getAttemptNumber(), bytes, complete);
            send(reported);
        }
    }

    private synchronized void send(CoordinationRequest request) {
        if (closed || answer != Distribution.MEASURED) {
            return;
        }
        last = request;
        CompletableFuture<CoordinationResponse> response;
        try {
            response = gateway.sendRequestToCoordinator(operator, new SerializedValue<>(request));
        } catch (IOException | RuntimeException e) {
            response = CompletableFuture.failedFuture(e);
        }
        response.whenComplete((answered, failure) -> answered(request, answered));
    }

    private void answered(CoordinationRequest request, @Nullable CoordinationResponse response) {
        Distribution distribution = DistributionDecision.of(response);
        if (distribution != Distribution.MEASURED) {
            answer = distribution;
            onAnswer.run();
        } else {
            // Flink's RPC waits for an answer for a limited time.
            CompletableFuture.delayedExecutor(RETRY_MS, TimeUnit.MILLISECONDS)
                    .execute(() -> sendAgain(request));
        }
    }

    private synchronized void sendAgain(CoordinationRequest request) {
        if (request == last) {
            send(request);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
