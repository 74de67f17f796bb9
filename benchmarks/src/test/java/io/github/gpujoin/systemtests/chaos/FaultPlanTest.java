// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultPlanTest {

    private static final String FIRST_PLAN =
            "partitioned=true unaligned=true faults=[CUT_CONNECTIONS after 382 ms of LOAD at"
                    + " BARRIER durationMs=5039, KILL after 1031 ms of JOIN at SNAPSHOT subtask=0,"
                    + " KILL after 778 ms of JOIN subtask=1]";

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

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldBringEveryActionAtEveryMoment(boolean allFaults) {
        Set<List<Object>> drawn = new HashSet<>();
        for (int run = 0; run < 500; run++) {
            FaultPlan.draw(1, run, allFaults)
                    .faults()
                    .forEach(f -> drawn.add(List.of(f.phase(), f.point(), f.action())));
        }
        int actions = allFaults ? Fault.Action.values().length : Fault.COMMON.size();
        assertThat(drawn)
                .hasSize(Fault.Phase.values().length * Fault.Point.values().length * actions);
    }

    /** What is found with a seed is found with it again, whatever kinds of faults come after. */
    @Test
    void shouldKeepThePlansOfASeed() {
        assertThat(FaultPlan.draw(20261121, 0)).hasToString(FIRST_PLAN);
    }

    @Test
    void shouldPartitionADimensionInEachRunOverRings() {
        for (int run = 0; run < 20; run++) {
            FaultPlan plan = FaultPlan.draw(3, run);
            assertThat(plan.over("shm").partitioned()).isTrue();
            assertThat(plan.over("shm").faults()).isEqualTo(plan.faults());
            assertThat(plan.over("flink")).isEqualTo(plan);
        }
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
