package io.github.gpujoin.benchmarks.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FaultPlanTest {

    private static List<FaultPlan> plans(long seed) {
        return IntStream.range(0, 500).mapToObj(run -> FaultPlan.draw(seed, run)).toList();
    }

    @Test
    void shouldDrawTheSameFaultsFromTheSameSeed() {
        assertThat(plans(7)).isEqualTo(plans(7)).isNotEqualTo(plans(8));
        Set<Fault> faults = new HashSet<>();
        plans(7).forEach(plan -> faults.addAll(plan.faults()));
        assertThat(faults).hasSizeGreaterThan(900);
    }

    @Test
    void shouldBringEveryActionAtEveryMoment() {
        Set<List<Object>> drawn = new HashSet<>();
        for (FaultPlan plan : plans(1)) {
            plan.faults().forEach(f -> drawn.add(List.of(f.phase(), f.point(), f.action())));
        }
        assertThat(drawn)
                .hasSize(
                        Fault.Phase.values().length
                                * Fault.Point.values().length
                                * Fault.Action.values().length);
    }

    @Test
    void shouldOrderFaultsByPhaseAndLetSomeOutlastTheHeartbeat() {
        for (FaultPlan plan : plans(2)) {
            assertThat(plan.faults()).isNotEmpty().isSortedAccordingTo(FaultPlanTest::byPhase);
        }
        assertThat(plans(2).stream().flatMap(plan -> plan.faults().stream()))
                .anyMatch(fault -> fault.durationMs() > ChaosCluster.HEARTBEAT_TIMEOUT_MS)
                .allMatch(
                        fault ->
                                (fault.durationMs() == 0) == (fault.action() == Fault.Action.KILL));
    }

    private static int byPhase(Fault a, Fault b) {
        return a.phase().compareTo(b.phase());
    }
}
