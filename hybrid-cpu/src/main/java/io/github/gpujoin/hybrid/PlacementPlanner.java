// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Chooses the location of each partition group, as a pure function.
 *
 * <p>The device gets the groups with the most probes for each byte of table, the host the next
 * ones; the rest is spilled. (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable
 * Networks", section 5, place by build bytes alone.) {@link DeviceRoom} chooses among the members
 * of a device group.
 *
 * <p>The probes of a group count {@value #HYSTERESIS} times for its current tier and for slower
 * ones. So groups of nearly equal load do not swap tiers repeatedly, and a plan of an unchanged
 * placement is the same plan.
 */
final class PlacementPlanner {

    static final double HYSTERESIS = 1.5;

    private PlacementPlanner() {}

    /**
     * Memory budgets for the tables of all partition groups.
     *
     * @param device of each member of the device group; negative if it is unusable
     * @param hostBytes of the host; negative if it is unusable
     * @param spillBytes part of the host budget that stays free for temporary tables if a group is
     *     spilled
     * @param firstMember that the plan prefers among members with equal probes. Subtasks do not
     *     know each other's plans, so each prefers another one.
     */
    record Budgets(TableMemory device, long hostBytes, long spillBytes, int firstMember) {}

    /** Returns the location of each group, in order. */
    static List<TableLocation> plan(List<PartitionGroupLoad> groups, Budgets budgets) {
        List<TableLocation> locations =
                new ArrayList<>(Collections.nCopies(groups.size(), TableLocation.SPILLED));
        fillDevice(locations, groups, budgets);
        List<TableLocation> roomy = new ArrayList<>(locations);
        fillHost(roomy, groups, budgets.hostBytes());
        if (!roomy.contains(TableLocation.SPILLED)) {
            return roomy;
        }
        fillHost(locations, groups, budgets.hostBytes() - budgets.spillBytes());
        return locations;
    }

    private static void fillDevice(
            List<TableLocation> locations, List<PartitionGroupLoad> groups, Budgets budgets) {
        DeviceRoom room = new DeviceRoom(budgets.device(), groups, budgets.firstMember());
        List<Integer> best = bestOf(locations, groups, MemoryTier.DEVICE);
        best.forEach(room::assign);
        best.forEach(room::spreadIfOverloading);
        best.forEach(room::assign); // a group that is sharded now has left room on its member
        for (int u : best) {
            if (room.location(u) != null) {
                locations.set(u, room.location(u));
            }
        }
    }

    private static void fillHost(
            List<TableLocation> locations, List<PartitionGroupLoad> groups, long budgetBytes) {
        long freeBytes = budgetBytes;
        for (int u : bestOf(locations, groups, MemoryTier.HOST)) {
            long bytes = groups.get(u).hostBytes();
            if (bytes <= freeBytes) {
                locations.set(u, TableLocation.HOST);
                freeBytes -= bytes;
            }
        }
    }

    /** Returns the groups that have no location yet, those with the most probes a byte first. */
    private static List<Integer> bestOf(
            List<TableLocation> locations, List<PartitionGroupLoad> groups, MemoryTier target) {
        return IntStream.range(0, groups.size())
                .boxed()
                .filter(u -> !locations.get(u).hasTables())
                .sorted(
                        Comparator.comparingDouble((Integer u) -> -worth(groups.get(u), target))
                                .thenComparing(u -> !groups.get(u).tier().isAtLeast(target)))
                .toList();
    }

    /** Returns the probes for each byte of table. */
    private static double worth(PartitionGroupLoad group, MemoryTier target) {
        double weight = group.tier().isAtLeast(target) ? HYSTERESIS : 1;
        return weight * group.probeShare() / Math.max(1, group.bytes(target));
    }
}
