package io.github.gpujoin.flink.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.session.SessionException;
import org.junit.jupiter.api.Test;

class RingEndTest {

    private int steps;

    /** Breaks down at each step. */
    private final RingEnd end =
            new RingEnd() {
                @Override
                void stepSession(long nowNs) {
                    steps++;
                    throw new IllegalStateException("out of step");
                }

                @Override
                void closeSession() {}
            };

    @Test
    void shouldTellTheMailboxWhatBrokeTheAgentsStep() throws Exception {
        end.checkNotFailed();
        end.step(1);
        end.step(2);
        assertThat(steps).as("steps until it broke").isEqualTo(1);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(end::checkNotFailed)
                .withMessageContaining("must not break down")
                .withMessageContaining("out of step");
    }
}
