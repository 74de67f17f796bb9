// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A consistent view of a placement for other threads.
 *
 * @param locations of the partition groups, in order; empty while LOADING
 * @param usage of each location that has partition groups, the fastest first
 * @param tableBytes memory of all tables, including the replicated ones
 */
record PlacementSnapshot(List<TableLocation> locations, List<TierUsage> usage, long tableBytes) {

    static final PlacementSnapshot NONE = new PlacementSnapshot(List.of(), List.of(), 0);

    /** Part of a usage that identifies it. */
    private record Place(TableLocation location, boolean isSharded) implements Comparable<Place> {

        private static final Comparator<Place> ORDER =
                Comparator.comparing((Place place) -> place.location.tier())
                        .thenComparing(place -> place.location.member())
                        .thenComparing(Place::isSharded);

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }
    }

    static PlacementSnapshot of(Placement placement, TierEngines device, TierEngines host) {
        List<PartitionGroup> groups = placement.groups();
        Map<Place, List<PartitionGroup>> places =
                groups.stream()
                        .collect(
                                Collectors.groupingBy(
                                        group ->
                                                new Place(
                                                        group.location(), group.size().isSharded()),
                                        TreeMap::new,
                                        Collectors.toList()));
        List<TierUsage> usage = new ArrayList<>();
        places.forEach((place, there) -> usage.add(usageOf(place, there)));
        return new PlacementSnapshot(
                groups.stream().map(PartitionGroup::location).toList(),
                List.copyOf(usage),
                groups.stream().mapToLong(group -> group.size().totalBytes()).sum()
                        + device.sharedBytes()
                        + host.sharedBytes());
    }

    private static TierUsage usageOf(Place place, List<PartitionGroup> groups) {
        return new TierUsage(
                place.location,
                place.isSharded,
                groups.size(),
                groups.stream()
                        .mapToInt(group -> group.endPartition() - group.firstPartition())
                        .sum(),
                groups.stream().mapToLong(PartitionGroup::buildBytes).sum());
    }
}
