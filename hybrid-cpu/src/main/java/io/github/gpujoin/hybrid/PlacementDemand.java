// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.histogram.RunningHistogram;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What {@link PlacementPlanner} plans with: the loads of the partition groups, and the budgets of
 * all tiers. Not thread-safe.
 */
final class PlacementDemand {

    private final PartitionBuildBytes rows;
    private final TierEngines device;
    private final TierEngines host;
    private final int subtask;
    private DeviceShare deviceShare = DeviceShare.WHOLE;

    /**
     * @param subtask number of the subtask
     */
    PlacementDemand(PartitionBuildBytes rows, TierEngines device, TierEngines host, int subtask) {
        this.subtask = subtask;
        this.rows = rows;
        this.device = device;
        this.host = host;
    }

    /** Returns the loads before the first probe, which are expected to follow the build bytes. */
    List<PartitionGroupLoad> ofBuildBytes(List<PartitionGroup> groups) {
        double allBytes = Math.max(1, rows.total());
        return of(groups, group -> groups.size() == 1 ? 1 : group.buildBytes() / allBytes);
    }

    /** Returns the loads by recent probes. */
    List<PartitionGroupLoad> ofProbes(List<PartitionGroup> groups, RunningHistogram probes) {
        return of(groups, group -> probes.share(group.number()));
    }

    private List<PartitionGroupLoad> of(
            List<PartitionGroup> groups, ToDoubleFunction<PartitionGroup> probeShare) {
        boolean canPlace = device.memory().canPlace();
        List<PartitionGroupLoad> loads = new ArrayList<>();
        for (PartitionGroup group : groups) {
            long eachBytes = group.eachBytesIn(device);
            loads.add(
                    new PartitionGroupLoad(
                            canPlace ? group.wholeBytesIn(device) : eachBytes,
                            eachBytes,
                            group.wholeBytesIn(host),
                            probeShare.applyAsDouble(group),
                            group.location()));
        }
        return loads;
    }

    /** Returns the host memory in bytes for the temporary tables of any partition. */
    long spillBytes() {
        return TierEngines.peakBytes(rows.largest());
    }

    /**
     * Limits the device memory of later plans.
     *
     * @return whether the limit is a new one
     */
    boolean setDeviceShare(DeviceShare share) {
        boolean isNew = !share.equals(deviceShare);
        deviceShare = share;
        return isNew;
    }

    /** Returns the free memory of the fastest tier that is open. */
    TableMemory freeOfFastestTier() {
        return device.isOpen() ? device.memory() : TableMemory.ofOne(hostBudget(List.of()));
    }

    /** Returns what the share of this subtask leaves of some memory of the device. */
    TableMemory withinShare(TableMemory memory) {
        if (!device.isOpen()) {
            return memory;
        }
        List<Long> budgets = new ArrayList<>(memory.availableBytes());
        long limitBytes = deviceShare.limitBytes(device.capacityBytes()) / budgets.size();
        budgets.replaceAll(bytes -> Math.min(bytes, limitBytes));
        return new TableMemory(budgets, memory.canPlace(), memory.canShard());
    }

    /** Returns whether a group fits the share of the device, beside the other groups there. */
    boolean isWithinShare(
            List<PartitionGroup> groups, PartitionGroup group, TableLocation location) {
        int members = location.isPlaced() ? 1 : device.memory().memberCount();
        long eachBytes =
                location.isPlaced() ? group.wholeBytesIn(device) : group.eachBytesIn(device);
        long usedBytes =
                groups.stream()
                        .filter(other -> other.tier() == MemoryTier.DEVICE)
                        .mapToLong(other -> other.size().totalBytes())
                        .sum();
        return usedBytes + members * eachBytes <= deviceShare.limitBytes(device.capacityBytes());
    }

    /**
     * Returns the free memory of all tiers plus that of the groups there, that of each device
     * within the share of this subtask.
     */
    PlacementPlanner.Budgets budgets(List<PartitionGroup> groups) {
        return new PlacementPlanner.Budgets(
                deviceBudget(groups), hostBudget(groups), spillBytes(), subtask);
    }

    private TableMemory deviceBudget(List<PartitionGroup> groups) {
        if (!device.isOpen()) {
            return TableMemory.ofOne(-1);
        }
        TableMemory free = device.memory();
        List<Long> budgets = new ArrayList<>(free.availableBytes());
        for (PartitionGroup group : groups) {
            for (int member = 0; member < budgets.size(); member++) {
                TableLocation location = group.location();
                boolean isHere = location.equals(TableLocation.placedOn(member));
                if (isHere || location.equals(TableLocation.DEVICE)) {
                    budgets.set(member, sum(budgets.get(member), group.size().eachBytes()));
                }
            }
        }
        return withinShare(new TableMemory(budgets, free.canPlace(), free.canShard()));
    }

    private long hostBudget(List<PartitionGroup> groups) {
        if (!host.isOpen()) {
            return -1;
        }
        long freed =
                groups.stream()
                        .filter(group -> group.tier() == MemoryTier.HOST)
                        .mapToLong(group -> group.size().totalBytes())
                        .sum();
        return sum(host.availableBytes(TableLocation.HOST), freed);
    }

    private static long sum(long free, long freed) {
        return free > Long.MAX_VALUE - freed ? Long.MAX_VALUE : free + freed;
    }
}
