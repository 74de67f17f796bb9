package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Host memory, pinned and registered once. A target also accepts the queue pairs that write it. */
final class DisniMemory implements RegisteredMemory, DisniTransport.Given {

    private static final int PAGE_BYTES = 4096;

    private final Region region;
    private final Registration registration;
    private final DisniAcceptor acceptor;
    private final byte[] descriptor;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DisniMemory(
            Region region, Registration registration, DisniAcceptor acceptor, byte[] descriptor) {
        this.region = region;
        this.registration = registration;
        this.acceptor = acceptor;
        this.descriptor = descriptor;
    }

    static DisniMemory register(VerbsDevice device, long lengthBytes, Access access)
            throws IOException {
        Region region = Region.allocateZeroed(lengthBytes + PAGE_BYTES);
        Registration registration = null;
        try {
            long address = (region.address() + PAGE_BYTES - 1) & -PAGE_BYTES;
            if (access == Access.SOURCE) {
                registration = device.register(address, lengthBytes, RemoteRights.NONE);
                return new DisniMemory(region, registration, null, new byte[0]);
            }
            registration = device.register(address, lengthBytes, RemoteRights.WRITE);
            DisniAcceptor acceptor = new DisniAcceptor(device.listen(0, 1));
            byte[] descriptor =
                    new DisniDescriptor(
                                    acceptor.address(),
                                    registration.remoteKey(),
                                    address,
                                    lengthBytes)
                            .encode();
            return new DisniMemory(region, registration, acceptor, descriptor);
        } catch (IOException | RuntimeException e) {
            if (registration != null) {
                registration.close();
            }
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
    public byte[] descriptor() {
        return descriptor.clone();
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        boolean isRevoked = DisniTransport.closeQuietly(registration, "memory region");
        if (acceptor != null) {
            acceptor.close();
        }
        // Memory that a device may still write is not given back: a leak is better than a
        // corruption.
        if (isRevoked) {
            region.close();
        }
    }

    @Override
    public boolean isClosed() {
        return closed.get();
    }
}
