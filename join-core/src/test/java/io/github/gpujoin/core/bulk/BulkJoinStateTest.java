// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import static io.github.gpujoin.core.bulk.BulkJoinState.CLOSED;
import static io.github.gpujoin.core.bulk.BulkJoinState.DONE;
import static io.github.gpujoin.core.bulk.BulkJoinState.FAILED;
import static io.github.gpujoin.core.bulk.BulkJoinState.JOINING;
import static io.github.gpujoin.core.bulk.BulkJoinState.LOADING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BulkJoinStateTest {

    /** All legal changes of state. */
    private static final Map<BulkJoinState, Set<BulkJoinState>> STEPS =
            Map.of(
                    LOADING, EnumSet.of(JOINING, FAILED, CLOSED),
                    JOINING, EnumSet.of(DONE, FAILED, CLOSED),
                    DONE, EnumSet.of(CLOSED),
                    FAILED, EnumSet.of(CLOSED),
                    CLOSED, EnumSet.of(CLOSED));

    @ParameterizedTest
    @EnumSource(BulkJoinState.class)
    void shouldAllowOnlyLegalStateChanges(BulkJoinState state) {
        for (BulkJoinState next : BulkJoinState.values()) {
            if (STEPS.get(state).contains(next)) {
                assertThat(state.to(next)).isEqualTo(next);
            } else {
                assertThatIllegalStateException()
                        .isThrownBy(() -> state.to(next))
                        .withMessageContaining("state=" + state + ", next=" + next);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(BulkJoinState.class)
    void shouldRequireItselfOnly(BulkJoinState state) {
        for (BulkJoinState expected : BulkJoinState.values()) {
            if (state == expected) {
                assertThatCode(() -> state.require(expected)).doesNotThrowAnyException();
            } else {
                assertThatIllegalStateException()
                        .isThrownBy(() -> state.require(expected))
                        .withMessageContaining("expected=" + expected + ", state=" + state);
            }
        }
    }
}
