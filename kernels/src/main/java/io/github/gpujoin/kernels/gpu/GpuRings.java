package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * Rings in a device's memory, for network cards to write (GPUDirect). Untested on hardware: no card
 * has written one.
 *
 * <p>They share device, kernel and memory budget with the engines of the process. Thread-safe.
 */
public final class GpuRings implements AutoCloseable {

    private final DeviceLease lease;
    private final GpuOptions options;
    private boolean closed;

    /**
     * @throws GpuUnavailableException where there is no device
     */
    public GpuRings(GpuOptions options) {
        this(DeviceLease.acquire(options), options);
    }

    /**
     * @param lease released with this and its rings
     */
    GpuRings(DeviceLease lease, GpuOptions options) {
        this.lease = lease;
        this.options = options;
    }

    /** What a network card can do with the device's memory. */
    public GpuDirectSupport support() {
        return lease.driver().gpuDirect();
    }

    /**
     * A ring of zero bytes, alone in its pages. The serving kernel stands still meanwhile.
     *
     * @param slotBytes most that is looked at at once
     * @throws GpuUnavailableException where it does not fit, or the device is lost
     */
    public DeviceRing allocate(long lengthBytes, int slotBytes) {
        lease.retain();
        return new GpuRing(lease, options, lengthBytes, slotBytes);
    }

    /** Legal twice, and before the rings are closed. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            lease.release();
        }
    }
}
