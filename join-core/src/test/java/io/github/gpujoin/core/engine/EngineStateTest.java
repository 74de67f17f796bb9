// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static io.github.gpujoin.core.engine.EngineState.BUILDING;
import static io.github.gpujoin.core.engine.EngineState.CLOSED;
import static io.github.gpujoin.core.engine.EngineState.FAILED;
import static io.github.gpujoin.core.engine.EngineState.JOINING;
import static io.github.gpujoin.core.engine.EngineState.LOADING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EngineStateTest {

    /** All legal changes of state. */
    private static final Map<EngineState, Set<EngineState>> STEPS =
            Map.of(
                    LOADING, EnumSet.of(BUILDING, JOINING, FAILED, CLOSED),
                    BUILDING, EnumSet.of(JOINING, FAILED, CLOSED),
                    JOINING, EnumSet.of(FAILED, CLOSED),
                    FAILED, EnumSet.of(CLOSED),
                    CLOSED, EnumSet.of(CLOSED));

    @ParameterizedTest
    @EnumSource(EngineState.class)
    void shouldAllowOnlyLegalStateChanges(EngineState state) {
        for (EngineState next : EngineState.values()) {
            if (STEPS.get(state).contains(next)) {
                assertThat(state.canBecome(next)).isTrue();
                assertThat(state.to(next)).isEqualTo(next);
            } else {
                assertThat(state.canBecome(next)).isFalse();
                assertThatIllegalStateException()
                        .isThrownBy(() -> state.to(next))
                        .withMessageContaining("state=" + state + ", next=" + next);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(EngineState.class)
    void shouldRequireItselfOnly(EngineState state) {
        for (EngineState expected : EngineState.values()) {
            if (state == expected) {
                assertThatCode(() -> state.require(expected)).doesNotThrowAnyException();
            } else {
                assertThatIllegalStateException()
                        .isThrownBy(() -> state.require(expected))
                        .withMessageContaining("expected=" + expected + ", state=" + state);
            }
        }
    }

    @Test
    void shouldCloseFromEveryState() {
        assertThat(STEPS.values()).allSatisfy(steps -> assertThat(steps).contains(CLOSED));
    }
}
