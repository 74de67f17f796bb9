// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlacementPlannerTest {

    private static final PlacementPlanner.Budgets TWO_AND_TWO =
            new PlacementPlanner.Budgets(20, 20, 10);

    static LongStream seeds() {
        return LongStream.range(0, 300);
    }

    @Test
    void shouldPlaceMostProbedGroupsForEachByteOnDevice() {
        List<PartitionGroupLoad> groups =
                List.of(
                        new PartitionGroupLoad(10, 10, 0.1, MemoryTier.SPILLED),
                        new PartitionGroupLoad(10, 10, 0.4, MemoryTier.SPILLED),
                        new PartitionGroupLoad(10, 10, 0.2, MemoryTier.SPILLED),
                        new PartitionGroupLoad(10, 10, 0.3, MemoryTier.SPILLED));
        assertThat(PlacementPlanner.plan(groups, TWO_AND_TWO))
                .containsExactly(
                        MemoryTier.HOST, MemoryTier.DEVICE, MemoryTier.HOST, MemoryTier.DEVICE);
    }

    @Test
    void shouldReserveSpillMemoryOnlyIfGroupIsSpilled() {
        List<PartitionGroupLoad> five =
                IntStream.range(0, 5)
                        .mapToObj(i -> new PartitionGroupLoad(10, 10, 0.2, MemoryTier.SPILLED))
                        .toList();
        assertThat(PlacementPlanner.plan(five.subList(0, 4), TWO_AND_TWO))
                .containsExactly(
                        MemoryTier.DEVICE, MemoryTier.DEVICE, MemoryTier.HOST, MemoryTier.HOST);
        assertThat(PlacementPlanner.plan(five, TWO_AND_TWO))
                .containsExactly(
                        MemoryTier.DEVICE,
                        MemoryTier.DEVICE,
                        MemoryTier.HOST,
                        MemoryTier.SPILLED,
                        MemoryTier.SPILLED);
    }

    @Test
    void shouldSwapGroupsOnlyIfLoadDiffersClearly() {
        for (double share : new double[] {0.5, 0.55, 0.59}) {
            List<PartitionGroupLoad> groups =
                    List.of(
                            new PartitionGroupLoad(20, 20, 1 - share, MemoryTier.DEVICE),
                            new PartitionGroupLoad(20, 20, share, MemoryTier.HOST));
            assertThat(PlacementPlanner.plan(groups, TWO_AND_TWO))
                    .as("share=%s", share)
                    .containsExactly(MemoryTier.DEVICE, MemoryTier.HOST);
        }
        assertThat(
                        PlacementPlanner.plan(
                                List.of(
                                        new PartitionGroupLoad(20, 20, 0.39, MemoryTier.DEVICE),
                                        new PartitionGroupLoad(20, 20, 0.61, MemoryTier.HOST)),
                                TWO_AND_TWO))
                .containsExactly(MemoryTier.HOST, MemoryTier.DEVICE);
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldRespectBudgetsAndKeepItsOwnPlan(long seed) {
        Random random = new Random(seed);
        List<PartitionGroupLoad> groups = new ArrayList<>();
        for (int i = random.nextInt(40); i >= 0; i--) {
            groups.add(
                    new PartitionGroupLoad(
                            random.nextInt(50),
                            random.nextInt(50),
                            random.nextInt(4) == 0 ? 0 : random.nextDouble(),
                            MemoryTier.values()[random.nextInt(3)]));
        }
        PlacementPlanner.Budgets budgets =
                new PlacementPlanner.Budgets(
                        random.nextInt(600) - 1, random.nextInt(600), random.nextInt(100));
        List<MemoryTier> plan = PlacementPlanner.plan(groups, budgets);
        assertThat(bytes(groups, plan, MemoryTier.DEVICE))
                .isLessThanOrEqualTo(Math.max(0, budgets.deviceBytes()));
        long spill = plan.contains(MemoryTier.SPILLED) ? budgets.spillBytes() : 0;
        assertThat(bytes(groups, plan, MemoryTier.HOST))
                .isLessThanOrEqualTo(Math.max(0, budgets.hostBytes() - spill));
        assertThat(PlacementPlanner.plan(placed(groups, plan), budgets)).isEqualTo(plan);
    }

    private static long bytes(
            List<PartitionGroupLoad> groups, List<MemoryTier> plan, MemoryTier tier) {
        return IntStream.range(0, groups.size())
                .filter(u -> plan.get(u) == tier)
                .mapToLong(u -> groups.get(u).bytes(tier))
                .sum();
    }

    private static List<PartitionGroupLoad> placed(
            List<PartitionGroupLoad> groups, List<MemoryTier> plan) {
        return IntStream.range(0, groups.size())
                .mapToObj(
                        u ->
                                new PartitionGroupLoad(
                                        groups.get(u).deviceBytes(),
                                        groups.get(u).hostBytes(),
                                        groups.get(u).probeShare(),
                                        plan.get(u)))
                .toList();
    }
}
