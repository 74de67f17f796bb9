// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Chooses a memory tier for each partition group, as a pure function.
 *
 * <p>The device gets the groups with the most probes for each byte of table, the host the next
 * ones; the rest is spilled. (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable
 * Networks", section 5, place by build bytes alone.)
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
     * @param deviceBytes of the device; negative if it is unusable
     * @param hostBytes of the host; negative if it is unusable
     * @param spillBytes part of the host budget that stays free for temporary tables if a group is
     *     spilled
     */
    record Budgets(long deviceBytes, long hostBytes, long spillBytes) {}

    /** Returns the tier of each group, in order. */
    static List<MemoryTier> plan(List<PartitionGroupLoad> groups, Budgets budgets) {
        List<MemoryTier> tiers =
                new ArrayList<>(Collections.nCopies(groups.size(), MemoryTier.SPILLED));
        fill(tiers, groups, MemoryTier.DEVICE, budgets.deviceBytes());
        List<MemoryTier> roomy = new ArrayList<>(tiers);
        fill(roomy, groups, MemoryTier.HOST, budgets.hostBytes());
        if (!roomy.contains(MemoryTier.SPILLED)) {
            return roomy;
        }
        fill(tiers, groups, MemoryTier.HOST, budgets.hostBytes() - budgets.spillBytes());
        return tiers;
    }

    /** Assigns the tier to the best groups that are still unplaced, while memory is left. */
    private static void fill(
            List<MemoryTier> tiers,
            List<PartitionGroupLoad> groups,
            MemoryTier target,
            long budgetBytes) {
        long freeBytes = budgetBytes;
        List<Integer> best =
                IntStream.range(0, groups.size())
                        .boxed()
                        .filter(u -> tiers.get(u) == MemoryTier.SPILLED)
                        .sorted(
                                Comparator.comparingDouble(
                                                (Integer u) -> -worth(groups.get(u), target))
                                        .thenComparing(
                                                u -> !groups.get(u).tier().isAtLeast(target)))
                        .toList();
        for (int u : best) {
            long bytes = groups.get(u).bytes(target);
            if (bytes <= freeBytes) {
                tiers.set(u, target);
                freeBytes -= bytes;
            }
        }
    }

    /** Returns the probes for each byte of table. */
    private static double worth(PartitionGroupLoad group, MemoryTier target) {
        double weight = group.tier().isAtLeast(target) ? HYSTERESIS : 1;
        return weight * group.probeShare() / Math.max(1, group.bytes(target));
    }
}
