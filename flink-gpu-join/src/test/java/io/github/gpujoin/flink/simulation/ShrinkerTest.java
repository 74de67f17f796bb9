// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShrinkerTest {

    /** Without them the join waits, and a life that fails otherwise would be shrunk to one. */
    @ParameterizedTest
    @ValueSource(longs = {913_594, 0, 5, 6, 8, 13})
    void shouldKeepOnlyWhatCompletesDimensionsOfAnyLifeThatFails(long seed) {
        Scenario scenario = Scenario.of(seed);
        Scenario shortest = new Shrinker(any -> "fails").shrink(scenario, "fails");
        assertThat(shortest.faults()).isEmpty();
        for (int i = 0; i < scenario.splits().size(); i++) {
            Split split = scenario.splits().get(i);
            assertThat(shortest.splits().get(i).script())
                    .isEqualTo(
                            split.script().stream()
                                    .filter(element -> scenario.completes(split, element))
                                    .toList());
        }
    }
}
