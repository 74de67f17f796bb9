// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.session.SessionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class SessionAgentTest {

    @Test
    void shouldContinueOtherDutiesAndReportAFailedOneToTheMailbox() throws Exception {
        AtomicInteger failed = new AtomicInteger();
        CountDownLatch others = new CountDownLatch(2);
        try (SessionAgent agent = new SessionAgent("test", RingHost.process(new Configuration()))) {
            agent.checkNotFailed();
            agent.add(
                    nowNs -> {
                        failed.incrementAndGet();
                        throw new OutOfMemoryError("unable to create native thread");
                    });
            agent.add(nowNs -> others.countDown());
            assertThat(others.await(RingFixture.TIMEOUT_NS, TimeUnit.NANOSECONDS)).isTrue();
            assertThat(failed).as("calls of the failing duty").hasValue(1);
            assertThatExceptionOfType(SessionException.class)
                    .isThrownBy(agent::checkNotFailed)
                    .withMessageContaining("Thread of the rings failed")
                    .withMessageContaining("unable to create native thread");
        }
    }
}
