// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * Rings in device memory that network cards write to (GPUDirect). Untested on hardware: no card has
 * written to one yet.
 *
 * <p>The rings share device, kernel and memory budget with the engines of the process. Thread-safe.
 */
public final class GpuRings implements AutoCloseable {

    private final DeviceLease lease;
    private final GpuOptions options;
    private boolean closed;

    /**
     * @throws GpuUnavailableException if there is no device
     */
    public GpuRings(GpuOptions options) {
        this(DeviceLease.acquire(options), options);
    }

    /**
     * @param lease released when this object and all its rings are closed
     */
    GpuRings(DeviceLease lease, GpuOptions options) {
        this.lease = lease;
        this.options = options;
    }

    /**
     * Returns what the driver reports about access of network cards to the memory of this device.
     */
    public GpuDirectSupport support() {
        return lease.driver().gpuDirect();
    }

    /**
     * Allocates a ring filled with zeros, in pages of its own. Stops the serving kernel meanwhile.
     *
     * @param slotBytes maximum bytes of one read
     * @throws GpuUnavailableException if the ring does not fit, or the device is lost
     */
    public DeviceRing allocate(long lengthBytes, int slotBytes) {
        lease.retain();
        return new GpuRing(lease, options, lengthBytes, slotBytes);
    }

    /** Closes the lease of this object; closing twice, or before the rings, is allowed. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            lease.release();
        }
    }
}
