package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Host memory, pinned and registered once. */
final class DisniMemory implements RegisteredMemory, GivenOut.Item {

    private static final int PAGE_BYTES = 4096;

    private final Region region;
    private final Registration registration;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DisniMemory(Region region, Registration registration) {
        this.region = region;
        this.registration = registration;
    }

    static DisniMemory register(VerbsDevice device, long lengthBytes, RemoteRights rights)
            throws IOException {
        Region region = Region.allocateZeroed(lengthBytes + PAGE_BYTES);
        try {
            long address = (region.address() + PAGE_BYTES - 1) & -PAGE_BYTES;
            return new DisniMemory(region, device.register(address, lengthBytes, rights));
        } catch (IOException | RuntimeException e) {
            region.close();
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
            region.close();
        }
    }
}
