// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.github.gpujoin.flink.api.explain.PartitionSummary;
import io.github.gpujoin.flink.runtime.histogram.GlobalHistogram.Sum;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.apache.flink.util.SerializedValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.event.Level;

@Timeout(60)
class HistogramClientTest {

    private static final HistogramReport REPORT =
            new HistogramReport(ExecutionAttemptID.randomId(), "a", 0, new long[] {1, 2}, 48);
    private static final GlobalHistogram ANSWER =
            new GlobalHistogram(new Sum(2, 5, 80), new Sum(1, 3, 48), PartitionSummary.NONE);

    @RegisterExtension
    private final LoggerAuditingExtension log =
            new LoggerAuditingExtension(HistogramClient.class, Level.WARN);

    private final Gateway gateway = new Gateway();
    private final HistogramClient client = client(60_000);
    private final List<GlobalHistogram> answers = new CopyOnWriteArrayList<>();

    /** Answers requests in order, and with the last answer from then on. */
    private static final class Gateway implements TaskOperatorEventGateway {

        private final Queue<CompletableFuture<CoordinationResponse>> responses = new ArrayDeque<>();
        private final CompletableFuture<Integer> exhausted = new CompletableFuture<>();
        private int requestCount;

        @Override
        public void sendOperatorEventToCoordinator(
                OperatorID operator, SerializedValue<OperatorEvent> event) {
            throw new UnsupportedOperationException();
        }

        @Override
        public synchronized CompletableFuture<CoordinationResponse> sendRequestToCoordinator(
                OperatorID operator, SerializedValue<CoordinationRequest> request) {
            requestCount++;
            if (responses.size() == 1) {
                exhausted.complete(requestCount);
                return responses.element();
            }
            return responses.remove();
        }

        Gateway then(CompletableFuture<CoordinationResponse> response) {
            responses.add(response);
            return this;
        }

        Gateway then(GlobalHistogram answer) {
            return then(CompletableFuture.completedFuture(GlobalHistogram.toResponse(answer)));
        }
    }

    private HistogramClient client(long warnMs) {
        return new HistogramClient("sales", gateway, new OperatorID(), 1, warnMs);
    }

    @Test
    void shouldRepeatAReportUntilItIsAnswered() throws Exception {
        CompletableFuture<GlobalHistogram> answered = new CompletableFuture<>();
        gateway.then(CompletableFuture.failedFuture(new TimeoutException("RPC")))
                .then((GlobalHistogram) null)
                .then(CompletableFuture.failedFuture(new IllegalStateException("failover")))
                .then(ANSWER);
        client.report(REPORT, answered::complete);
        assertThat(answered.get(30, TimeUnit.SECONDS)).isEqualTo(ANSWER);
        assertThat(gateway.requestCount).isEqualTo(4);
        assertThat(log.getMessages()).as("warnings within the time").isEmpty();
    }

    @ParameterizedTest(name = "the coordinator fails: {0}")
    @ValueSource(booleans = {false, true})
    void shouldWarnOnceIfNoHistogramArrivesInTime(boolean fails) throws Exception {
        CompletableFuture<GlobalHistogram> answered = new CompletableFuture<>();
        for (int i = 0; i < 5; i++) {
            if (fails) {
                gateway.then(CompletableFuture.failedFuture(new TimeoutException("RPC")));
            } else {
                gateway.then((GlobalHistogram) null);
            }
        }
        gateway.then(ANSWER);
        client(0).report(REPORT, answered::complete);

        assertThat(answered.get(30, TimeUnit.SECONDS)).isEqualTo(ANSWER);
        assertThat(log.getMessages())
                .singleElement(STRING)
                .startsWith("Star join sales: no global histogram after ")
                .contains(fails ? "does not answer" : "other subtasks still load");
    }

    @Test
    void shouldDropAnAnswerThatArrivesAfterTheClose() {
        CompletableFuture<CoordinationResponse> late = new CompletableFuture<>();
        gateway.then(late);
        client.report(REPORT, answers::add);
        client.close();
        late.complete(GlobalHistogram.toResponse(ANSWER));
        assertThat(answers).isEmpty();
    }

    @Test
    void shouldSendNothingAfterTheClose() throws Exception {
        gateway.then((GlobalHistogram) null)
                .then(CompletableFuture.failedFuture(new TimeoutException("RPC")));
        client.report(REPORT, answers::add);
        gateway.exhausted.get(30, TimeUnit.SECONDS);
        client.close();
        TimeUnit.MILLISECONDS.sleep(20); // a repetition that was in flight
        int sent = gateway.requestCount;
        TimeUnit.MILLISECONDS.sleep(100);
        assertThat(gateway.requestCount).isEqualTo(sent);
        assertThat(answers).isEmpty();
    }
}
