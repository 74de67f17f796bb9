// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.ring.RingView;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Places targets in a GPU's memory, where a network adapter writes them (GPUDirect RDMA). Untested
 * on hardware.
 *
 * @param method how the adapter maps the memory
 * @param visibility how its writes become visible
 * @param rings allocates the memory
 */
public record GpuTargets(
        GpuMemory.RegistrationMethod method, GpuWriteVisibility visibility, Rings rings) {

    /** Allocates zeroed device memory that starts at a page and shares no page. */
    public interface Rings extends AutoCloseable {

        /**
         * Allocates a ring.
         *
         * @throws TransportException if the device has no memory left
         */
        DeviceRing allocate(long lengthBytes) throws TransportException;

        /** Releases the device. Close the rings before. */
        @Override
        void close();
    }

    /** Returns a view of a ring that follows the rules of {@link GpuWriteVisibility}. */
    RingView view(VerbsDevice device, DeviceRing ring) {
        if (visibility == GpuWriteVisibility.ORDERED) {
            return ring;
        }
        return (offsetBytes, lengthBytes) -> {
            try {
                device.flushGpuWrites(ring.address());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return ring.at(offsetBytes, lengthBytes);
        };
    }
}
