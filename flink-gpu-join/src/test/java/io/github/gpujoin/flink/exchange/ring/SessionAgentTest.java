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
    void shouldGoOnWithItsOtherDutiesAndTellTheMailboxWhereOneBreaksDown() throws Exception {
        AtomicInteger broken = new AtomicInteger();
        CountDownLatch others = new CountDownLatch(2);
        try (SessionAgent agent = new SessionAgent("test", RingHost.process(new Configuration()))) {
            agent.checkNotFailed();
            agent.add(
                    nowNs -> {
                        broken.incrementAndGet();
                        throw new OutOfMemoryError("unable to create native thread");
                    });
            agent.add(nowNs -> others.countDown());
            assertThat(others.await(RingFixture.PATIENCE_NS, TimeUnit.NANOSECONDS)).isTrue();
            assertThat(broken).as("calls of what breaks down at each").hasValue(1);
            assertThatExceptionOfType(SessionException.class)
                    .isThrownBy(agent::checkNotFailed)
                    .withMessageContaining("must not break down")
                    .withMessageContaining("unable to create native thread");
        }
    }
}
