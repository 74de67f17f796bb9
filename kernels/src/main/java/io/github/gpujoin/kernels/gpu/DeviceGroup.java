// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices that join together for an engine. Each holder of the group holds a lease of every
 * device whose memory its tables use. Immutable and thread-safe.
 *
 * @param members ascending by the number of the device
 * @param hasPeerAccess whether the kernels of each member can access the memory of all others
 * @param held the members; of a {@linkplain #member} those of the whole group
 */
record DeviceGroup(List<DeviceLease> members, boolean hasPeerAccess, List<DeviceLease> held) {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceGroup.class);

    /** Devices without peer access that the log names already. */
    private static final Set<List<DevicePart>> UNCONNECTED = ConcurrentHashMap.newKeySet();

    /**
     * Returns the group of the devices of the options, and opens those that are not open. Each
     * caller releases it once.
     *
     * @throws GpuUnavailableException if a device cannot be used; then none is held
     */
    static DeviceGroup acquire(GpuOptions options) {
        List<Integer> devices =
                options.devices().equals(GpuOptions.ALL_DEVICES)
                        ? IntStream.range(0, CudaDrivers.deviceCount()).boxed().toList()
                        : options.devices();
        List<DeviceLease> leases = new ArrayList<>();
        try {
            for (int device : devices) {
                for (int part = 0; part < options.virtualDevices(); part++) {
                    leases.add(DeviceLease.acquire(new DevicePart(device, part), options));
                }
            }
            return of(leases, options);
        } catch (Throwable e) {
            leases.forEach(DeviceLease::release);
            throw e;
        }
    }

    /** Returns the group of a single device. */
    static DeviceGroup of(DeviceLease lease) {
        return of(List.of(lease), true);
    }

    /**
     * Returns a group, and opens the access between its members if the options allow it.
     *
     * @param leases ascending by the number of the device
     */
    static DeviceGroup of(List<DeviceLease> leases, GpuOptions options) {
        boolean hasPeerAccess = options.peerAccess() || leases.size() == 1;
        for (int i = 0; hasPeerAccess && i < leases.size(); i++) {
            for (int j = i + 1; j < leases.size(); j++) {
                hasPeerAccess &=
                        leases.get(i).openPeerAccess(leases.get(j), options.stallTimeoutNs());
            }
        }
        if (!hasPeerAccess && UNCONNECTED.add(leases.stream().map(DeviceLease::device).toList())) {
            LOG.info(
                    "GPUs do not access each other's memory, so that no table is sharded: devices={}, peerAccess={}",
                    leases.stream().map(DeviceLease::device).toList(),
                    options.peerAccess() ? "refused by the driver" : "off");
        }
        return of(List.copyOf(leases), hasPeerAccess);
    }

    private static DeviceGroup of(List<DeviceLease> members, boolean hasPeerAccess) {
        return new DeviceGroup(members, hasPeerAccess, members);
    }

    /** Returns a member alone, as a group that holds the tables of this one. */
    DeviceGroup member(int member) {
        return new DeviceGroup(List.of(members.get(member)), true, held);
    }

    int size() {
        return members.size();
    }

    /** Returns the member whose account and registrations stand for the group. */
    DeviceLease first() {
        return members.get(0);
    }

    /** Returns an owner of memory on each member, within the same limits. */
    List<Buffers> buffers(MemoryLimits limits) {
        return members.stream().map(lease -> lease.memory().buffers(limits)).toList();
    }

    /**
     * Stops the kernels of all members in ascending order, runs an action and starts them again,
     * see {@link DeviceLease#whileStopped(long, Runnable)}.
     */
    void whileStopped(long timeoutNs, Runnable action) {
        DeviceLinks.whileStopped(members, timeoutNs, action);
    }

    /** Does the same with all devices that are held, whose memory the action may free. */
    void whileHeldStopped(long timeoutNs, Runnable action) {
        DeviceLinks.whileStopped(held, timeoutNs, action);
    }

    /** Does the same with the held devices that are not lost, as far as there are some. */
    void whileHealthyStopped(long timeoutNs, Runnable action) {
        DeviceLinks.whileStopped(
                held.stream().filter(lease -> !lease.isLost()).toList(), timeoutNs, action);
    }

    /** Returns the device memory in bytes that is left on each member. */
    List<Long> availableDeviceBytes(MemoryBudget budget) {
        return members.stream().map(lease -> lease.memory().availableDeviceBytes(budget)).toList();
    }

    /** Returns the budget of device memory in bytes, summed over the members. */
    long capacityBytes(MemoryBudget budget) {
        return members.stream()
                .mapToLong(lease -> lease.memory().capacityBytes(budget))
                .reduce(0, (a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b);
    }

    /** Returns the budget of device memory in bytes of the member with the least. */
    long memberCapacityBytes(MemoryBudget budget) {
        return members.stream()
                .mapToLong(lease -> lease.memory().capacityBytes(budget))
                .min()
                .orElseThrow();
    }

    /** Adds a holder, which must call {@link #release}. */
    void retain() {
        held.forEach(DeviceLease::retain);
    }

    /** Removes a holder; a device without holders is closed. */
    void release() {
        IntStream.iterate(held.size() - 1, i -> i >= 0, i -> i - 1)
                .forEach(i -> held.get(i).release());
    }
}
