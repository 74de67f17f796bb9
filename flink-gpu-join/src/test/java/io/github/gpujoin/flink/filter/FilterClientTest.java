// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.filter.FilterRequest.Fetch;
import io.github.gpujoin.flink.filter.FilterResponse.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.rpc.exceptions.RecipientUnreachableException;
import org.apache.flink.util.clock.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client whose coordinator cannot be reached for some time. */
class FilterClientTest {

    private static final FilterResponse ANSWER = FilterResponse.ofDimensions("generation", 5);

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger received = new AtomicInteger();
    private volatile Exception failure = new RecipientUnreachableException("task", "job", "test");
    private volatile FilterResponse response = ANSWER;

    private final FakeGateway gateway = new FakeGateway(new OperatorID(), this::answer);

    private final FilterClient client =
            new FilterClient(
                    new FilterTask("a", ExecutionAttemptID.randomId(), gateway, clock),
                    gateway.operator(),
                    1);

    private CompletableFuture<FilterResponse> answer(FilterRequest request) {
        received.incrementAndGet();
        return failures.getAndDecrement() > 0
                ? CompletableFuture.failedFuture(failure)
                : CompletableFuture.completedFuture(response);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private CompletableFuture<FilterResponse> send() {
        return client.send(new Fetch("generation", 0, 0));
    }

    private static FilterResponse soon(CompletableFuture<FilterResponse> answer) {
        return answer.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private void awaitRequests(int count) throws InterruptedException {
        int before = received.get();
        while (received.get() < before + count) {
            Thread.sleep(1);
        }
    }

    @Test
    void shouldRepeatARequestUntilTheCoordinatorIsReachable() {
        failures.set(30);
        assertThat(soon(send()).dimensions()).isEqualTo(5);

        failure = new TimeoutException("test");
        failures.set(30);
        assertThat(soon(send()).dimensions()).isEqualTo(5);
        assertThat(received).hasValue(62);
    }

    @Test
    void shouldRepeatARequestUntilItIsClosed() throws Exception {
        failures.set(Integer.MAX_VALUE);
        CompletableFuture<FilterResponse> answer = send();
        clock.advanceTime(Duration.ofHours(5));
        awaitRequests(10);
        assertThat(answer).isNotDone();

        client.close();

        assertThat(soon(answer).status()).isEqualTo(Status.OVER);
    }

    @Test
    void shouldEndTheRequestOfAFinishedTaskAfterALongSilence() throws Exception {
        failures.set(Integer.MAX_VALUE);
        CompletableFuture<FilterResponse> answer = send();
        client.closeOnSilence();
        clock.advanceTime(FilterClient.SILENCE_MS - 1, TimeUnit.MILLISECONDS);
        awaitRequests(10);
        assertThat(answer).isNotDone();

        clock.advanceTime(1, TimeUnit.MILLISECONDS);

        assertThat(soon(answer).status()).isEqualTo(Status.OVER);
    }

    @Test
    void shouldNotBeSilentWhileTheCoordinatorAnswersThatItWaits() throws Exception {
        response = FilterResponse.AGAIN;
        CompletableFuture<FilterResponse> answer = send();
        client.closeOnSilence();
        for (int i = 0; i < 3; i++) {
            clock.advanceTime(FilterClient.SILENCE_MS - 1, TimeUnit.MILLISECONDS);
            awaitRequests(2);
            assertThat(client.isSilent()).isFalse();
        }
        failures.set(Integer.MAX_VALUE);
        awaitRequests(2);
        assertThat(client.isSilent()).isFalse();
        assertThat(answer).isNotDone();

        clock.advanceTime(FilterClient.SILENCE_MS, TimeUnit.MILLISECONDS);

        assertThat(client.isSilent()).isTrue();
        assertThat(soon(answer).status()).isEqualTo(Status.OVER);
    }
}
