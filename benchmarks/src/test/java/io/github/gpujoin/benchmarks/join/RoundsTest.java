// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundsTest {

    private final List<String> calls = new ArrayList<>();

    /** Takes 1 ns in its first run, 2 in its second, and so on. */
    private final class Recorded implements Contender {
        private final String name;
        private int runs;

        Recorded(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void prepare() {
            calls.add("prepare " + name);
        }

        @Override
        public Measurement run() {
            calls.add("run " + name);
            return new Measurement(1, ++runs, JoinAnswer.NOTHING, JoinAnswer.NOTHING, Map.of());
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldInterleaveRoundsAndNotCountTheWarmUp() throws Exception {
        List<Contender> contenders = List.of(new Recorded("a"), new Recorded("b"));
        List<ContenderResult> results = new Rounds(contenders, message -> {}).run(2);
        assertThat(calls)
                .containsExactly(
                        "prepare a",
                        "prepare b",
                        "run a",
                        "run b",
                        "run a",
                        "run b",
                        "run a",
                        "run b");
        assertThat(results).extracting(ContenderResult::name).containsExactly("a", "b");
        assertThat(results.get(0).rounds())
                .extracting(Measurement::elapsedNs)
                .containsExactly(2L, 3L);
    }

    @Test
    void shouldRejectNoRounds() {
        assertThatThrownBy(() -> new Rounds(List.of(), message -> {}).run(0))
                .hasMessage("No rounds: rounds=0");
    }
}
