// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class UninterruptibleWaitTest {

    /** Ends the threads of the tests, once a wait was interrupted. */
    private final CountDownLatch isInterrupted = new CountDownLatch(1);

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    private void awaitInterrupt() {
        try {
            isInterrupted.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldRepeatAWaitThatWasInterrupted() {
        int[] calls = new int[1];
        Thread.currentThread().interrupt();
        UninterruptibleWait.until(
                () -> {
                    calls[0]++;
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    return calls[0] == 3;
                });
        assertThat(calls[0]).isEqualTo(3);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldNotInterruptTheCallerWithoutACause() {
        UninterruptibleWait.until(() -> true);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void shouldJoinAThreadThoughTheCallerIsInterrupted() {
        Thread thread = new Thread(this::awaitInterrupt);
        thread.start();
        Thread.currentThread().interrupt();
        new Thread(isInterrupted::countDown).start();
        UninterruptibleWait.join(thread);
        assertThat(thread.isAlive()).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldNotWaitForAThreadThatWasNotStarted() {
        UninterruptibleWait.join(new Thread(this::awaitInterrupt));
    }

    @Test
    void shouldAwaitAnExecutorThoughTheCallerIsInterrupted() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        executor.execute(this::awaitInterrupt);
        executor.shutdown();
        Thread.currentThread().interrupt();
        new Thread(isInterrupted::countDown).start();
        UninterruptibleWait.untilTerminated(executor);
        assertThat(executor.isTerminated()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }
}
