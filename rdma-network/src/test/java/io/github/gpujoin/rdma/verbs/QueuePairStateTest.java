// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueuePairStateTest {

    @ParameterizedTest
    @CsvSource({"CONNECTED, FAILED", "CONNECTED, CLOSED", "FAILED, CLOSED"})
    void shouldAllowForwardTransitions(QueuePairState from, QueuePairState to) {
        assertThat(from.to(to)).isEqualTo(to);
    }

    @ParameterizedTest
    @CsvSource({
        "CONNECTED, CONNECTED",
        "FAILED, CONNECTED",
        "FAILED, FAILED",
        "CLOSED, CONNECTED",
        "CLOSED, FAILED",
        "CLOSED, CLOSED"
    })
    void shouldRejectOtherTransitions(QueuePairState from, QueuePairState to) {
        assertThatThrownBy(() -> from.to(to))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("state=" + from + ", next=" + to);
    }

    @Test
    void shouldAllowNoTransitionAfterClosed() {
        assertThat(QueuePairState.values()).noneMatch(QueuePairState.CLOSED::allows);
    }
}
