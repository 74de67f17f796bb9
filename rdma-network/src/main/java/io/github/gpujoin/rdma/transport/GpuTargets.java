package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.ring.RingView;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Has targets lie in a GPU's memory, where a network card writes them (GPUDirect RDMA). Untested on
 * hardware.
 *
 * @param way how the card is given the memory
 * @param visibility when what it wrote is visible
 * @param rings gives the memory
 */
public record GpuTargets(GpuMemory.Way way, GpuWriteVisibility visibility, Rings rings) {

    /** Gives device memory of zero bytes that starts on a page and has its pages to itself. */
    public interface Rings extends AutoCloseable {

        /**
         * @throws TransportException where the device has none; the message says what to do
         */
        DeviceRing allocate(long lengthBytes) throws TransportException;

        /** Lets go of the device, once its rings are closed. */
        @Override
        void close();
    }

    /** Sees a ring by the rules of {@link GpuWriteVisibility}. */
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
