// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.filter.FilterResponse.Status;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.SerializedValue;
import org.apache.flink.util.clock.Clock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends requests of a task to the {@link FilterCoordinator} of a join, and repeats them until they
 * are answered or the client is closed. No number of failures ends a request: Flink cancels a task
 * whose JobManager is gone, and a request that ended earlier would leave tasks in other processes
 * waiting for its keys. Thread-safe.
 *
 * <p>The coordinator answers each request within seconds, if only that the asker should wait. So a
 * client without an answer for {@value #SILENCE_MS} ms is {@link #isSilent}: the coordinator cannot
 * be reached, and does not merely wait for a dimension. Then no source waits for it, while the
 * client still repeats its request.
 */
final class FilterClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FilterClient.class);

    static final long SILENCE_MS = 10 * 60_000;

    private static final long AGAIN_MS = 100;
    private static final long RETRY_MS = 1_000;

    private final FilterTask task;
    private final OperatorID operator;
    private final long retryMs;
    private final Clock clock;
    private final AtomicBoolean isSilenceReported = new AtomicBoolean();
    private volatile long lastAnswerMs;
    private volatile @Nullable Throwable lastFailure;
    private volatile boolean isTaskFinished;
    private volatile boolean isClosed;

    /**
     * @param operator the join
     */
    FilterClient(FilterTask task, OperatorID operator) {
        this(task, operator, RETRY_MS);
    }

    FilterClient(FilterTask task, OperatorID operator, long retryMs) {
        this.task = task;
        this.operator = operator;
        this.retryMs = retryMs;
        this.clock = task.clock();
        this.lastAnswerMs = clock.relativeTimeMillis();
    }

    /**
     * Sends a request.
     *
     * @return completes with an answer whose status is OK or OVER, by any thread; OVER also after
     *     {@link #close}
     */
    CompletableFuture<FilterResponse> send(FilterRequest request) {
        CompletableFuture<FilterResponse> answer = new CompletableFuture<>();
        send(request, answer);
        return answer;
    }

    private void send(FilterRequest request, CompletableFuture<FilterResponse> answer) {
        if (isClosed) {
            answer.complete(FilterResponse.OVER);
            return;
        }
        CompletableFuture<CoordinationResponse> response;
        try {
            response =
                    task.gateway()
                            .sendRequestToCoordinator(operator, new SerializedValue<>(request));
        } catch (IOException | RuntimeException e) {
            response = CompletableFuture.failedFuture(e);
        }
        response.thenApply(FilterResponse::of)
                .whenComplete(
                        (answered, failure) -> {
                            if (failure != null) {
                                failed(failure);
                                later(retryMs, () -> send(request, answer));
                                return;
                            }
                            lastAnswerMs = clock.relativeTimeMillis();
                            if (answered.status() == Status.AGAIN) {
                                later(AGAIN_MS, () -> send(request, answer));
                            } else {
                                answer.complete(answered);
                            }
                        });
    }

    private void failed(Throwable failure) {
        LOG.debug("The coordinator of the join did not answer.", failure);
        lastFailure = failure;
        if (isTaskFinished && isSilent()) {
            close();
        }
    }

    /** Executes an action in another thread after some time. */
    static void later(long ms, Runnable action) {
        CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS).execute(action);
    }

    /**
     * Whether the coordinator has not answered for {@value #SILENCE_MS} ms. Logs the first time.
     */
    boolean isSilent() {
        boolean isSilent = clock.relativeTimeMillis() - lastAnswerMs >= SILENCE_MS;
        if (isSilent && isSilenceReported.compareAndSet(false, true)) {
            LOG.warn(
                    "The coordinator of the join has not answered for {} minutes. Sources read facts without filters of other TaskManagers until it answers.",
                    SILENCE_MS / 60_000,
                    lastFailure);
        }
        return isSilent;
    }

    /** Closes itself once it is silent: Flink does not cancel a task that has finished. */
    void closeOnSilence() {
        isTaskFinished = true;
    }

    /** Sends no further request. */
    @Override
    public void close() {
        isClosed = true;
    }
}
