// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SessionStateTest {

    @ParameterizedTest
    @EnumSource
    void shouldRejectInvalidTransitionsOfAWriter(WriterState state) {
        for (WriterState next : WriterState.values()) {
            if (state.next().contains(next)) {
                assertThat(state.to(next)).isEqualTo(next);
            } else {
                assertThatIllegalStateException()
                        .isThrownBy(() -> state.to(next))
                        .withMessageContaining("state=" + state + ", next=" + next);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectInvalidTransitionsOfAReader(ReaderState state) {
        for (ReaderState next : ReaderState.values()) {
            if (state.next().contains(next)) {
                assertThat(state.to(next)).isEqualTo(next);
            } else {
                assertThatIllegalStateException().isThrownBy(() -> state.to(next));
            }
        }
    }

    @Test
    void shouldReachEveryStateAndEndInClosed() {
        assertThat(reachable(WriterState.DISCONNECTED, WriterState::next))
                .containsExactlyInAnyOrder(WriterState.values());
        assertThat(reachable(ReaderState.WAITING, ReaderState::next))
                .containsExactlyInAnyOrder(ReaderState.values());
        assertThat(WriterState.values()).filteredOn(s -> s.next().isEmpty()).hasSize(1);
        assertThat(ReaderState.values()).filteredOn(s -> s.next().isEmpty()).hasSize(1);
        assertThat(Arrays.stream(WriterState.values()).filter(s -> s != WriterState.CLOSED))
                .allMatch(s -> s.next().contains(WriterState.CLOSED));
        assertThat(Arrays.stream(ReaderState.values()).filter(s -> s != ReaderState.CLOSED))
                .allMatch(s -> s.next().contains(ReaderState.CLOSED));
    }

    private static <S extends Enum<S>> Set<S> reachable(S from, Function<S, Set<S>> next) {
        Set<S> seen = EnumSet.of(from);
        while (seen.addAll(seen.stream().flatMap(s -> next.apply(s).stream()).toList())) {
            // until no new state is found
        }
        return seen;
    }
}
