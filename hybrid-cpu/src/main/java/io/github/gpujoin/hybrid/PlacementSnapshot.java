// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import java.util.List;
import java.util.stream.Stream;

/**
 * A consistent view of a placement for other threads.
 *
 * @param tiers of the partition groups, in order; empty while LOADING
 * @param usage of each tier that holds partition groups, the fastest first
 * @param tableBytes memory of all tables, including the replicated ones
 */
record PlacementSnapshot(List<MemoryTier> tiers, List<TierUsage> usage, long tableBytes) {

    static final PlacementSnapshot NONE = new PlacementSnapshot(List.of(), List.of(), 0);

    static PlacementSnapshot of(Placement placement, TierEngines device, TierEngines host) {
        List<PartitionGroup> groups = placement.groups();
        return new PlacementSnapshot(
                groups.stream().map(PartitionGroup::tier).toList(),
                Stream.of(MemoryTier.values())
                        .map(tier -> usageOf(tier, groups))
                        .filter(usage -> usage.partitionGroupCount() > 0)
                        .toList(),
                groups.stream().mapToLong(PartitionGroup::tableBytes).sum()
                        + device.sharedBytes()
                        + host.sharedBytes());
    }

    private static TierUsage usageOf(MemoryTier tier, List<PartitionGroup> groups) {
        List<PartitionGroup> inTier =
                groups.stream().filter(group -> group.tier() == tier).toList();
        return new TierUsage(
                tier,
                inTier.size(),
                inTier.stream()
                        .mapToInt(group -> group.endPartition() - group.firstPartition())
                        .sum(),
                inTier.stream().mapToLong(PartitionGroup::buildBytes).sum());
    }
}
