// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Simulated lives of jobs; {@code bin/simulate} runs others. */
class SimulationTest {

    /** Lives in each build; the same each time, so that a change is to blame for what they find. */
    private static final long SEEDS = Long.getLong("gpu-join.simulation.seeds", 10_000);

    @Test
    void shouldJoinExactlyOnceInEachLife() {
        Map<Long, String> failures =
                Simulate.run(0, SEEDS, Runtime.getRuntime().availableProcessors(), Simulate.SHRUNK);
        assertThat(failures).as("%d lives", SEEDS).isEmpty();
    }

    /**
     * The device is lost with a change of a version, and no fact follows: 11703. A task goes on
     * between the first and the last of the barriers of an unaligned checkpoint: 913594.
     */
    @ParameterizedTest
    @ValueSource(longs = {11_703, 913_594})
    void shouldJoinExactlyOnceInLivesThatFoundADefect(long seed) {
        assertThat(Simulate.run(seed, 1, 1, Simulate.SHRUNK)).isEmpty();
    }

    @Test
    void shouldLiveAlikeEachTimeItRunsASeed() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(Simulate.trace(seed)).as("seed %d", seed).isEqualTo(Simulate.trace(seed));
        }
    }
}
