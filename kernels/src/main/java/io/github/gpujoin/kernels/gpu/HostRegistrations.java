// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Host memory of others that a device reads in place: rings in shared memory, and slots of a
 * process. A region is registered when the first chunk in it arrives, and unregistered before its
 * memory is freed. Thread-safe.
 */
final class HostRegistrations {

    private static final Logger LOG = LoggerFactory.getLogger(HostRegistrations.class);

    /** A device that does not stop keeps its memory. */
    private static final long DETACH_TIMEOUT_NS = 30_000_000_000L;

    private static final String STAY_PINNED = "Slots stay pinned, because the GPU failed.";

    private final DeviceLease lease;

    /** By identity. */
    private final Map<Region, Registration> registrations = new IdentityHashMap<>();

    private boolean isClosed;

    /** A registered region, or one that cannot be registered. */
    private final class Registration implements Region.Attachment {

        private final Region region;
        private final long address;

        /** 0 if the device cannot read the region. */
        private final long deviceAddress;

        /** Whether the device kept the region when it was closed, so that it is never freed. */
        private boolean isStuck;

        Registration(Region region, long address, long deviceAddress) {
            this.region = region;
            this.address = address;
            this.deviceAddress = deviceAddress;
        }

        @Override
        public boolean detach() {
            return unregister(this);
        }
    }

    HostRegistrations(DeviceLease lease) {
        this.lease = lease;
    }

    /**
     * Returns the address of a slot for kernels, and registers its region if that has not been
     * tried; then the kernel of the device stops for a moment.
     *
     * @param region which somebody retains
     * @param address in the region
     * @return 0 if the device cannot read the region
     * @throws GpuUnavailableException if the device is lost
     */
    long deviceAddress(Region region, long address, long timeoutNs) {
        Registration registration = find(region);
        if (registration == null) {
            lease.whileStopped(timeoutNs, () -> register(region));
            registration = find(region);
        }
        return registration == null || registration.deviceAddress == 0
                ? 0
                : registration.deviceAddress + (address - registration.address);
    }

    private synchronized @Nullable Registration find(Region region) {
        return registrations.get(region);
    }

    private synchronized void register(Region region) {
        if (isClosed || registrations.containsKey(region)) {
            return;
        }
        long address = region.address();
        long deviceAddress = 0;
        try {
            deviceAddress = lease.driver().registerHost(address, region.lengthBytes());
        } catch (GpuUnavailableException e) {
            LOG.warn(
                    "The GPU cannot read slots in place, so that facts are copied: lengthBytes={}",
                    region.lengthBytes(),
                    e);
        }
        Registration registration = new Registration(region, address, deviceAddress);
        try {
            region.attach(registration);
        } catch (RuntimeException e) {
            if (deviceAddress != 0) {
                lease.driver().unregisterHost(address);
            }
            throw e;
        }
        registrations.put(region, registration);
    }

    /** Returns whether the device no longer uses the memory. */
    private boolean unregister(Registration registration) {
        if (registration.deviceAddress == 0) {
            return remove(registration);
        }
        if (lease.isLost()) {
            return false;
        }
        try {
            // Within the lease's lock, so that the device is not closed meanwhile.
            boolean[] isRemoved = new boolean[1];
            lease.whileStopped(DETACH_TIMEOUT_NS, () -> isRemoved[0] = remove(registration));
            return isRemoved[0];
        } catch (GpuUnavailableException e) {
            LOG.warn(STAY_PINNED, e);
            return false;
        }
    }

    private synchronized boolean remove(Registration registration) {
        if (registrations.remove(registration.region) != null) {
            unregisterHost(registration);
        }
        return !registration.isStuck;
    }

    private void unregisterHost(Registration registration) {
        if (registration.deviceAddress != 0) {
            lease.driver().unregisterHost(registration.address);
        }
    }

    /**
     * Unregisters everything. The kernel has ended. A region that the device keeps stays pinned.
     */
    synchronized void close() {
        isClosed = true;
        for (Registration registration : registrations.values()) {
            try {
                unregisterHost(registration);
                registration.region.detach(registration);
            } catch (GpuUnavailableException e) {
                registration.isStuck = true;
                LOG.warn(STAY_PINNED, e);
            }
        }
        registrations.clear();
    }

    /** Drops everything of a lost device; its regions are never freed. */
    synchronized void abandon() {
        isClosed = true;
    }
}
