// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlacementPlannerTest {

    private static final PlacementPlanner.Budgets TWO_AND_TWO =
            new PlacementPlanner.Budgets(TableMemory.ofOne(20), 20, 10, 0);

    /** Plans until the placement stays as it is. */
    private static final int MAX_ROUNDS = 4;

    static LongStream seeds() {
        return LongStream.range(0, 1000);
    }

    private static PartitionGroupLoad load(
            long bytes, double probeShare, TableLocation location, int shards) {
        return new PartitionGroupLoad(bytes, bytes / shards, bytes, probeShare, location);
    }

    /** Groups of ten bytes with shares of the probes. */
    private static List<PartitionGroupLoad> spilled(double... probeShares) {
        return DoubleStream.of(probeShares)
                .mapToObj(share -> load(10, share, TableLocation.SPILLED, 1))
                .toList();
    }

    /** Members without access to each other, and a host without memory. */
    private static PlacementPlanner.Budgets members(Long... bytes) {
        return new PlacementPlanner.Budgets(new TableMemory(List.of(bytes), true, false), 0, 10, 0);
    }

    /** Subtasks do not know each other's groups, of which each has one more than fits evenly. */
    @Test
    void shouldPreferAnotherMemberInEachSubtask() {
        int[] groupsOf = new int[2];
        for (int subtask = 0; subtask < 4; subtask++) {
            PlacementPlanner.Budgets budgets =
                    new PlacementPlanner.Budgets(
                            new TableMemory(List.of(100L, 100L), true, false), 0, 10, subtask);
            PlacementPlanner.plan(spilled(0.3, 0.3, 0.3), budgets)
                    .forEach(location -> groupsOf[location.member()]++);
        }
        assertThat(groupsOf).containsExactly(6, 6);
    }

    @Test
    void shouldPlaceMostProbedGroupsForEachByteOnDevice() {
        assertThat(PlacementPlanner.plan(spilled(0.1, 0.4, 0.2, 0.3), TWO_AND_TWO))
                .containsExactly(
                        TableLocation.HOST,
                        TableLocation.DEVICE,
                        TableLocation.HOST,
                        TableLocation.DEVICE);
    }

    @Test
    void shouldReserveSpillMemoryOnlyIfGroupIsSpilled() {
        List<PartitionGroupLoad> five = spilled(0.2, 0.2, 0.2, 0.2, 0.2);
        assertThat(PlacementPlanner.plan(five.subList(0, 4), TWO_AND_TWO))
                .containsExactly(
                        TableLocation.DEVICE,
                        TableLocation.DEVICE,
                        TableLocation.HOST,
                        TableLocation.HOST);
        assertThat(PlacementPlanner.plan(five, TWO_AND_TWO))
                .containsExactly(
                        TableLocation.DEVICE,
                        TableLocation.DEVICE,
                        TableLocation.HOST,
                        TableLocation.SPILLED,
                        TableLocation.SPILLED);
    }

    @Test
    void shouldSwapGroupsOnlyIfLoadDiffersClearly() {
        for (double share : new double[] {0.5, 0.55, 0.59}) {
            List<PartitionGroupLoad> groups =
                    List.of(
                            load(20, 1 - share, TableLocation.DEVICE, 1),
                            load(20, share, TableLocation.HOST, 1));
            assertThat(PlacementPlanner.plan(groups, TWO_AND_TWO))
                    .as("share=%s", share)
                    .containsExactly(TableLocation.DEVICE, TableLocation.HOST);
        }
        assertThat(
                        PlacementPlanner.plan(
                                List.of(
                                        load(20, 0.39, TableLocation.DEVICE, 1),
                                        load(20, 0.61, TableLocation.HOST, 1)),
                                TWO_AND_TWO))
                .containsExactly(TableLocation.HOST, TableLocation.DEVICE);
    }

    @Test
    void shouldPlaceGroupsOnTheMemberWithTheFewestProbes() {
        assertThat(PlacementPlanner.plan(spilled(0.1, 0.2, 0.3, 0.4), members(20L, 20L)))
                .extracting(TableLocation::member)
                .containsExactly(0, 1, 1, 0);
        assertThat(PlacementPlanner.plan(spilled(0.25, 0.25, 0.25, 0.25), members(10L, 30L)))
                .extracting(TableLocation::member)
                .containsExactly(0, 1, 1, 1);
    }

    @Test
    void shouldPlaceGroupOnFreeMemoryBeforeItDisplacesAnother() {
        List<PartitionGroupLoad> groups =
                List.of(
                        load(10, 0.1, TableLocation.placedOn(0), 1),
                        load(20, 0.4, TableLocation.placedOn(1), 1),
                        load(10, 0.5, TableLocation.SPILLED, 1));
        assertThat(PlacementPlanner.plan(groups, members(10L, 30L)))
                .extracting(TableLocation::member)
                .containsExactly(0, 1, 1);
    }

    @Test
    void shouldShardGroupThatNoMemberHasRoomFor() {
        List<PartitionGroupLoad> groups = List.of(load(30, 0.1, TableLocation.SPILLED, 2));
        TableMemory pair = new TableMemory(List.of(20L, 20L), true, true);
        assertThat(PlacementPlanner.plan(groups, new PlacementPlanner.Budgets(pair, 30, 0, 0)))
                .containsExactly(TableLocation.DEVICE);
        List<PartitionGroupLoad> whole = List.of(load(30, 0.1, TableLocation.SPILLED, 1));
        TableMemory apart = new TableMemory(List.of(20L, 20L), true, false);
        assertThat(PlacementPlanner.plan(whole, new PlacementPlanner.Budgets(apart, 30, 0, 0)))
                .containsExactly(TableLocation.HOST);
    }

    @Test
    void shouldReplicateGroupWithMoreThanAMembersShareIfMemoryIsLeft() {
        assertThat(PlacementPlanner.plan(spilled(0.1, 0.7, 0.1, 0.1), members(40L, 40L)))
                .containsExactly(
                        TableLocation.placedOn(1),
                        TableLocation.DEVICE,
                        TableLocation.placedOn(1),
                        TableLocation.placedOn(1));
        assertThat(PlacementPlanner.plan(spilled(0.1, 0.7, 0.1, 0.1), members(10L, 30L)))
                .containsExactly(
                        TableLocation.placedOn(1),
                        TableLocation.placedOn(0),
                        TableLocation.placedOn(1),
                        TableLocation.placedOn(1));
    }

    /** Members that had no room raise the expected size on each. */
    @Test
    void shouldNotReplicateGroupAgainThatMembersHadNoRoomFor() {
        TableLocation first = TableLocation.placedOn(0);
        for (long eachBytes : new long[] {10, 31}) {
            List<PartitionGroupLoad> groups =
                    List.of(new PartitionGroupLoad(10, eachBytes, 10, 1, first));
            assertThat(PlacementPlanner.plan(groups, members(40L, 40L)))
                    .containsExactly(eachBytes == 10 ? TableLocation.DEVICE : first);
        }
    }

    @ParameterizedTest(name = "share {0}")
    @ValueSource(doubles = {0.34, 0.4, 0.9})
    void shouldKeepReplicasOfGroupUntilItsLoadFallsClearly(double share) {
        List<PartitionGroupLoad> groups =
                List.of(
                        load(10, share, TableLocation.DEVICE, 1),
                        load(10, 1 - share, TableLocation.placedOn(0), 1));
        assertThat(PlacementPlanner.plan(groups, members(20L, 20L)))
                .first()
                .isEqualTo(TableLocation.DEVICE);
        List<PartitionGroupLoad> fallen =
                List.of(
                        load(10, 0.3, TableLocation.DEVICE, 1),
                        load(10, 0.7, TableLocation.placedOn(0), 1));
        assertThat(PlacementPlanner.plan(fallen, members(20L, 20L)))
                .first()
                .isEqualTo(TableLocation.placedOn(1));
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldRespectBudgetsAndUseThem(long seed) {
        Random random = new Random(seed);
        PlacementPlanner.Budgets budgets = randomBudgets(random);
        List<PartitionGroupLoad> groups = randomGroups(random, budgets.device());
        List<TableLocation> plan = PlacementPlanner.plan(groups, budgets);
        List<Long> free = freeBytes(groups, plan, budgets);
        assertThat(free).allMatch(bytes -> bytes >= 0);
        long spill = plan.contains(TableLocation.SPILLED) ? budgets.spillBytes() : 0;
        long freeOfHost =
                Math.max(0, budgets.hostBytes() - spill)
                        - IntStream.range(0, groups.size())
                                .filter(u -> plan.get(u).tier() == MemoryTier.HOST)
                                .mapToLong(u -> groups.get(u).hostBytes())
                                .sum();
        assertThat(freeOfHost).isNotNegative();
        TableMemory device = budgets.device();
        for (int u = 0; u < groups.size(); u++) {
            PartitionGroupLoad group = groups.get(u);
            if (plan.get(u).tier() != MemoryTier.DEVICE && device.availableBytes().get(0) >= 0) {
                boolean fitsOne =
                        device.canPlace()
                                && free.stream().anyMatch(bytes -> group.deviceBytes() <= bytes);
                boolean fitsAll =
                        (device.canShard() || !device.canPlace())
                                && free.stream().allMatch(bytes -> group.eachBytes() <= bytes);
                assertThat(fitsOne || fitsAll).as("room on the device for group %s", u).isFalse();
            }
            if (plan.get(u).tier() == MemoryTier.SPILLED && budgets.hostBytes() >= spill) {
                assertThat(group.hostBytes()).as("group %s", u).isGreaterThan(freeOfHost);
            }
        }
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldReachAPlacementThatItKeeps(long seed) {
        Random random = new Random(seed);
        PlacementPlanner.Budgets budgets = randomBudgets(random);
        List<PartitionGroupLoad> groups = randomGroups(random, budgets.device());
        List<TableLocation> plan = PlacementPlanner.plan(groups, budgets);
        // A group that is sharded or replicated later leaves room for others.
        boolean isSpread = false;
        int rounds = 0;
        for (List<TableLocation> last = null; !plan.equals(last); rounds++) {
            isSpread |= budgets.device().canPlace() && plan.contains(TableLocation.DEVICE);
            assertThat(rounds).isLessThanOrEqualTo(isSpread ? MAX_ROUNDS : 1);
            groups = placed(groups, plan);
            last = plan;
            plan = PlacementPlanner.plan(groups, budgets);
        }
    }

    private static PlacementPlanner.Budgets randomBudgets(Random random) {
        int members = 1 + random.nextInt(4);
        boolean canPlace = members > 1 && random.nextInt(4) > 0;
        boolean canShard = members > 1 && random.nextBoolean();
        List<Long> bytes =
                random.nextInt(10) == 0
                        ? List.of(-1L)
                        : LongStream.range(0, members)
                                .mapToObj(m -> (long) random.nextInt(600))
                                .toList();
        return new PlacementPlanner.Budgets(
                new TableMemory(bytes, canPlace && bytes.size() > 1, canShard && bytes.size() > 1),
                random.nextInt(600) - 1,
                random.nextInt(100),
                random.nextInt(4));
    }

    private static List<PartitionGroupLoad> randomGroups(Random random, TableMemory device) {
        int count = 1 + random.nextInt(40);
        int shards = device.canShard() ? device.memberCount() : 1;
        double[] probes =
                random.doubles(count).map(d -> random.nextInt(4) == 0 ? 0 : d * d * d).toArray();
        double all = Math.max(1e-9, DoubleStream.of(probes).sum());
        List<PartitionGroupLoad> groups = new ArrayList<>();
        for (int u = 0; u < count; u++) {
            long bytes = random.nextInt(50);
            TableLocation location =
                    switch (random.nextInt(3)) {
                        case 0 -> TableLocation.SPILLED;
                        case 1 -> TableLocation.HOST;
                        default ->
                                device.canPlace()
                                        ? TableLocation.placedOn(
                                                random.nextInt(device.memberCount()))
                                        : TableLocation.DEVICE;
                    };
            groups.add(
                    new PartitionGroupLoad(
                            device.canPlace() ? bytes : (bytes + shards - 1) / shards,
                            (bytes + shards - 1) / shards,
                            random.nextInt(50),
                            probes[u] / all,
                            location));
        }
        return groups;
    }

    private static List<Long> freeBytes(
            List<PartitionGroupLoad> groups,
            List<TableLocation> plan,
            PlacementPlanner.Budgets budgets) {
        List<Long> free =
                new ArrayList<>(
                        budgets.device().availableBytes().stream()
                                .map(bytes -> Math.max(0, bytes))
                                .toList());
        for (int u = 0; u < groups.size(); u++) {
            for (int member = 0; member < free.size(); member++) {
                if (plan.get(u).equals(TableLocation.DEVICE)) {
                    free.set(member, free.get(member) - groups.get(u).eachBytes());
                } else if (plan.get(u).equals(TableLocation.placedOn(member))) {
                    free.set(member, free.get(member) - groups.get(u).deviceBytes());
                }
            }
        }
        return free;
    }

    private static List<PartitionGroupLoad> placed(
            List<PartitionGroupLoad> groups, List<TableLocation> plan) {
        return IntStream.range(0, groups.size())
                .mapToObj(
                        u ->
                                new PartitionGroupLoad(
                                        groups.get(u).deviceBytes(),
                                        groups.get(u).eachBytes(),
                                        groups.get(u).hostBytes(),
                                        groups.get(u).probeShare(),
                                        plan.get(u)))
                .toList();
    }
}
