// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.session.SessionException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RingEndTest {

    private int steps;

    static Stream<Throwable> failures() {
        return Stream.of(
                new IllegalStateException("out of step"), new OutOfMemoryError("out of step"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldReportAFailedStepToTheMailbox(Throwable failure) throws Exception {
        RingEnd end = failingAtEachStep(failure);
        end.checkNotFailed();
        end.step(1);
        end.step(2);
        assertThat(steps).as("steps until the failure").isEqualTo(1);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(end::checkNotFailed)
                .withMessageContaining("Session of a ring failed")
                .withMessageContaining("out of step");
    }

    private RingEnd failingAtEachStep(Throwable failure) {
        return new RingEnd() {
            @Override
            void stepSession(long nowNs) {
                steps++;
                if (failure instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) failure;
            }

            @Override
            void closeSession() {}
        };
    }
}
