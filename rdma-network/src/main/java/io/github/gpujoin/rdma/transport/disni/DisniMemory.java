// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Memory that a device has registered: pinned host memory or GPU memory. */
final class DisniMemory implements RegisteredMemory, OwnedResources.Item {

    private final AutoCloseable backing;
    private final Registration registration;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DisniMemory(AutoCloseable backing, Registration registration) {
        this.backing = backing;
        this.registration = registration;
    }

    static DisniMemory register(VerbsDevice device, long lengthBytes, RemoteAccess access)
            throws IOException {
        Region region;
        try {
            region = Region.allocateZeroed(Math.max(lengthBytes, Region.PAGE_BYTES));
        } catch (OutOfMemoryError e) {
            throw new TransportException(
                    "Cannot allocate memory for a ring: transport=disni, lengthBytes="
                            + lengthBytes,
                    e);
        }
        try {
            return new DisniMemory(region, device.register(region.address(), lengthBytes, access));
        } catch (IOException | RuntimeException e) {
            region.close();
            throw e;
        }
    }

    /**
     * Registers GPU memory.
     *
     * @param ring closed with the result, or here if the registration fails
     */
    static DisniMemory register(
            VerbsDevice device,
            DeviceRing ring,
            GpuMemory.RegistrationMethod method,
            RemoteAccess access)
            throws IOException {
        try {
            GpuMemory memory = new GpuMemory(ring.address(), ring.lengthBytes(), method);
            return new DisniMemory(ring, device.register(memory, access));
        } catch (IOException | RuntimeException e) {
            ring.close();
            throw e;
        }
    }

    /** Returns the host memory, or null for device memory. */
    @Nullable Region region() {
        return backing instanceof Region region ? region : null;
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
        // If deregistration fails, the device may still write: leaking memory is better than
        // corrupting it.
        if (closed.compareAndSet(false, true)
                && OwnedResources.closeQuietly(registration, "memory region")) {
            OwnedResources.closeQuietly(backing, "region");
        }
    }
}
