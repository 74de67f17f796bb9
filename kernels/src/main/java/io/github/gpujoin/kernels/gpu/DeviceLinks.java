// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices with access to the memory of one, whose kernels stop together with its kernel: an
 * allocation of one changes the address space of all.
 *
 * <p>Lock order: first that of the leases of the process, where it is needed, then the devices in
 * ascending order. Links are changed while all devices concerned are stopped. Thread-safe.
 */
final class DeviceLinks {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceLinks.class);

    private final DeviceLease lease;

    /** The device itself and those that access its memory, ascending. */
    private volatile List<DeviceLease> together;

    DeviceLinks(DeviceLease lease) {
        this.lease = lease;
        this.together = List.of(lease);
    }

    /** Returns the device itself and those that access its memory. */
    List<DeviceLease> together() {
        return together;
    }

    /**
     * Lets the kernels of this device and of another one access each other's memory. The caller
     * holds the lock of the leases of the process.
     *
     * @return false if the hardware does not connect them
     * @throws GpuUnavailableException if a kernel does not stop, or a device is lost
     */
    boolean open(DeviceLease peer, long timeoutNs) {
        boolean[] isOpen = new boolean[1];
        List<DeviceLease> linked = linked(List.of(lease, peer));
        whileStopped(
                linked,
                linked,
                timeoutNs,
                () -> {
                    isOpen[0] = opensAccess(lease, peer) && opensAccess(peer, lease);
                    if (isOpen[0]) {
                        linked.forEach(other -> other.links().together = linked);
                    }
                });
        return isOpen[0];
    }

    private static boolean opensAccess(DeviceLease from, DeviceLease to) {
        return from.driver().openPeerAccess(to.device().device());
    }

    /**
     * Returns some devices and those with access to them, ascending: the devices whose kernels stop
     * together. Lost devices are left out unless they are asked for.
     */
    private static List<DeviceLease> linked(List<DeviceLease> leases) {
        return leases.stream()
                .flatMap(lease -> lease.links().together.stream())
                .filter(lease -> leases.contains(lease) || !lease.isLost())
                .distinct()
                .sorted(Comparator.comparing(DeviceLease::device))
                .toList();
    }

    /**
     * Stops the kernels of some devices, and those of devices with access to them, runs an action
     * and starts them again, see {@link DeviceLease#whileStopped}.
     */
    static void whileStopped(List<DeviceLease> leases, long timeoutNs, Runnable action) {
        boolean[] isDone = new boolean[1];
        while (!isDone[0]) {
            List<DeviceLease> linked = linked(leases);
            whileStopped(
                    linked,
                    leases,
                    timeoutNs,
                    () -> {
                        // Devices may have been linked, or lost, before all were locked.
                        if (linked.containsAll(linked(leases))) {
                            isDone[0] = true;
                            action.run();
                        }
                    });
        }
    }

    /**
     * Stops the kernels of exactly these devices.
     *
     * @param leases ascending, the order in which all threads lock them
     * @param required those that must not be lost; the others are only locked if they are
     */
    private static void whileStopped(
            List<DeviceLease> leases, List<DeviceLease> required, long timeoutNs, Runnable action) {
        Runnable nested = action;
        for (int i = leases.size() - 1; i >= 0; i--) {
            DeviceLease lease = leases.get(i);
            Runnable inner = nested;
            nested =
                    () ->
                            lease.whileThisStopped(
                                    leases.size() == 1, required.contains(lease), timeoutNs, inner);
        }
        nested.run();
    }

    /**
     * Ends the access of other devices to the memory of this one, and closes it while their kernels
     * are stopped. The caller holds the lock of the leases of the process.
     *
     * <p>Another device may fail meanwhile, which does not keep this one from being closed. Each
     * failed attempt finds one more device lost, so the last one has none to stop.
     *
     * @param close called once
     */
    void close(long timeoutNs, Runnable close) {
        List<DeviceLease> linked = linked(List.of(lease));
        boolean[] isClosed = new boolean[1];
        while (!isClosed[0]) {
            try {
                whileStopped(
                        linked,
                        List.of(),
                        timeoutNs,
                        () -> {
                            isClosed[0] = true;
                            linked.forEach(other -> other.links().unlink(lease));
                            close.run();
                        });
            } catch (GpuUnavailableException e) {
                LOG.warn("A device failed while device {} was closed.", lease.device(), e);
            }
        }
    }

    private void unlink(DeviceLease closing) {
        forget(closing);
        if (closing == lease || lease.isLost()) {
            return;
        }
        try {
            lease.driver().closePeerAccess(closing.device().device());
        } catch (GpuUnavailableException e) {
            LOG.warn(
                    "Device {} cannot close its access to device {}.",
                    lease.device(),
                    closing.device(),
                    e);
            lease.loseUnlessItResponds();
            closing.loseUnlessItResponds();
        }
    }

    private void forget(DeviceLease closing) {
        together = together.stream().filter(other -> other == lease || other != closing).toList();
    }
}
