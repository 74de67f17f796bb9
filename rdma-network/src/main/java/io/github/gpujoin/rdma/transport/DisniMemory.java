package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Memory that is registered once: of the host, pinned, or of a GPU. */
final class DisniMemory implements RegisteredMemory, GivenOut.Item {

    private static final int PAGE_BYTES = 4096;

    private final AutoCloseable backing;
    private final Registration registration;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DisniMemory(AutoCloseable backing, Registration registration) {
        this.backing = backing;
        this.registration = registration;
    }

    static DisniMemory register(VerbsDevice device, long lengthBytes, RemoteRights rights)
            throws IOException {
        Region region;
        try {
            region = Region.allocateZeroed(lengthBytes + PAGE_BYTES);
        } catch (OutOfMemoryError e) {
            throw new TransportException(
                    "disni needs memory for a ring: lengthBytes=" + lengthBytes, e);
        }
        try {
            long address = (region.address() + PAGE_BYTES - 1) & -PAGE_BYTES;
            return new DisniMemory(region, device.register(address, lengthBytes, rights));
        } catch (IOException | RuntimeException e) {
            region.close();
            throw e;
        }
    }

    /**
     * @param ring closed with this, or here where it is refused
     */
    static DisniMemory register(
            VerbsDevice device, DeviceRing ring, GpuMemory.Way way, RemoteRights rights)
            throws IOException {
        try {
            GpuMemory memory = new GpuMemory(ring.address(), ring.lengthBytes(), way);
            return new DisniMemory(ring, device.register(memory, rights));
        } catch (IOException | RuntimeException e) {
            ring.close();
            throw e;
        }
    }

    Registration registration() {
        return registration;
    }

    @Override
    public long address() {
        return registration.address();
    }

    @Override
    public long lengthBytes() {
        return registration.lengthBytes();
    }

    @Override
    public boolean isClosed() {
        return closed.get();
    }

    @Override
    public void close() {
        // Memory that a device may still write is not given back: a leak is better than a
        // corruption.
        if (closed.compareAndSet(false, true)
                && GivenOut.closeQuietly(registration, "memory region")) {
            GivenOut.closeQuietly(backing, "region");
        }
    }
}
