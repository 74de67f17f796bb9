package io.github.gpujoin.flink.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

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

    @Test
    void shouldLiveAlikeEachTimeItRunsASeed() {
        for (long seed = 0; seed < 20; seed++) {
            assertThat(Simulate.trace(seed)).as("seed %d", seed).isEqualTo(Simulate.trace(seed));
        }
    }
}
