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
 * client is closed. Nobody waits for the answer, so it may be late or never arrive; after a minute
 * the log contains a warning. Thread-safe.
 */
public final class HistogramClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HistogramClient.class);

    private static final long NOT_YET_MS = 100;
    private static final long RETRY_MS = 1_000;
    private static final long WARN_MS = 60_000;

    private final String subtask;
    private final TaskOperatorEventGateway gateway;
    private final OperatorID operator;
    private final long retryMs;
    private final long warnMs;
    private volatile boolean isClosed;

    /**
     * @param subtask name of the subtask, for the log
     * @param gateway to the coordinators of the job
     * @param operator the join
     */
    public HistogramClient(String subtask, TaskOperatorEventGateway gateway, OperatorID operator) {
        this(subtask, gateway, operator, RETRY_MS, WARN_MS);
    }

    HistogramClient(
            String subtask,
            TaskOperatorEventGateway gateway,
            OperatorID operator,
            long retryMs,
            long warnMs) {
        this.subtask = subtask;
        this.warnMs = warnMs;
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
        new Request(report, onAnswer).send();
    }

    /** A report that is not answered yet; one thread at a time uses it. */
    private final class Request {

        private final HistogramReport report;
        private final Consumer<GlobalHistogram> onAnswer;
        private final long startNs = System.nanoTime();
        private boolean hasWarned;

        Request(HistogramReport report, Consumer<GlobalHistogram> onAnswer) {
            this.report = report;
            this.onAnswer = onAnswer;
        }

        void send() {
            if (isClosed) {
                return;
            }
            CompletableFuture<CoordinationResponse> response;
            try {
                response =
                        gateway.sendRequestToCoordinator(operator, new SerializedValue<>(report));
            } catch (IOException | RuntimeException e) {
                response = CompletableFuture.failedFuture(e);
            }
            response.thenApply(GlobalHistogram::of).whenComplete(this::answered);
        }

        private void answered(@Nullable GlobalHistogram answer, @Nullable Throwable failure) {
            if (isClosed) {
                return;
            }
            if (answer != null) {
                onAnswer.accept(answer);
                return;
            }
            warnIfLate(failure);
            CompletableFuture.delayedExecutor(
                            failure == null ? NOT_YET_MS : retryMs, TimeUnit.MILLISECONDS)
                    .execute(this::send);
        }

        private void warnIfLate(@Nullable Throwable failure) {
            long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            if (hasWarned || waitedMs < warnMs) {
                LOG.debug("No global histogram yet.", failure);
                return;
            }
            hasWarned = true;
            if (failure == null) {
                LOG.warn(
                        "Star join {}: no global histogram after {} ms, as other subtasks still load. This subtask keeps an equal share of the devices. If it lasts, look for skew or slow sources of the dimension.",
                        subtask,
                        waitedMs);
            } else {
                LOG.warn(
                        "Star join {}: no global histogram after {} ms, as the coordinator does not answer. This subtask keeps an equal share of the devices and asks again. See the log of the JobManager.",
                        subtask,
                        waitedMs,
                        failure);
            }
        }
    }

    /** Sends no further report, and drops answers. */
    @Override
    public void close() {
        isClosed = true;
    }
}
