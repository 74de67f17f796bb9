package io.github.gpujoin.flink.exchange.ring;

import static java.util.Locale.ROOT;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.GpuJoinOptions.GpuDirect;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GpuRings;
import io.github.gpujoin.rdma.transport.GpuTargets;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.VerbsException;
import java.io.Serializable;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;

/**
 * Rings of the join in GPU memory, where a network card writes them (GPUDirect RDMA). Untested on
 * hardware.
 *
 * @param way not {@link GpuDirect#OFF}
 * @param gpu the device, and limits on its memory, which rings and engines keep together
 */
record GpuDirectOptions(GpuDirect way, GpuOptions gpu) implements Serializable {

    private static final String TRANSPORT = "disni";

    /**
     * Null where rings lie in host memory.
     *
     * @throws IllegalConfigurationException where the transport is none of a network card's
     */
    static GpuDirectOptions of(ReadableConfig config, String transport) {
        GpuDirect way = config.get(GpuJoinOptions.RDMA_GPU_DIRECT);
        if (way == GpuDirect.OFF) {
            return null;
        }
        if (!transport.equals(TRANSPORT)) {
            throw new IllegalConfigurationException(
                    "a network card writes GPU memory by RDMA verbs alone: %s, %s=%s (%s, or off)",
                    setting(way), GpuJoinOptions.TRANSPORT.key(), transport, TRANSPORT);
        }
        return new GpuDirectOptions(way, JoinConfig.gpuOptions(config));
    }

    private static String setting(GpuDirect way) {
        return GpuJoinOptions.RDMA_GPU_DIRECT.key() + "=" + way.name().toLowerCase(ROOT);
    }

    GpuDirectOptions onDevice(int device) {
        return new GpuDirectOptions(way, gpu.withDevice(device));
    }

    /** For logs and explanations. */
    @Override
    public String toString() {
        return "rings in GPU memory by GPUDirect, untested on hardware, " + setting(way);
    }

    /**
     * Takes the device.
     *
     * @param slotBytes of the rings
     * @throws TransportException where there is none, or it cannot do that
     */
    GpuTargets open(int slotBytes) throws TransportException {
        GpuRings rings;
        try {
            rings = new GpuRings(gpu);
        } catch (GpuUnavailableException e) {
            throw new TransportException(
                    "rings in GPU memory need a GPU in each process that joins: "
                            + setting(way)
                            + ", device="
                            + gpu.device()
                            + ", cause="
                            + e.getMessage(),
                    e);
        }
        try {
            GpuDirectSupport support = rings.support();
            requireSupported(support);
            return new GpuTargets(
                    way == GpuDirect.DMABUF
                            ? GpuMemory.RegistrationMethod.DMA_BUF
                            : GpuMemory.RegistrationMethod.PEER_MEM,
                    GpuWriteVisibility.of(support.writesOrdering(), support.flushWritesOptions()),
                    new Rings(rings, slotBytes));
        } catch (VerbsException | GpuUnavailableException e) {
            rings.close();
            throw new TransportException(e.getMessage(), e);
        } catch (TransportException e) {
            rings.close();
            throw e;
        }
    }

    /**
     * @throws TransportException where the GPU's driver does not let a card at its memory this way
     */
    void requireSupported(GpuDirectSupport support) throws TransportException {
        if (way == GpuDirect.DMABUF && !support.dmaBuf()) {
            throw new TransportException(
                    "the GPU's driver must export memory as a dma-buf, as the open GPU kernel"
                            + " modules do: "
                            + setting(way)
                            + ", device="
                            + gpu.device()
                            + " (peermem, or off)");
        }
        if (way == GpuDirect.PEERMEM && !support.peerMemory()) {
            throw new TransportException(
                    "the GPU must let its memory be pinned for a network card, as those for data"
                            + " centres do: "
                            + setting(way)
                            + ", device="
                            + gpu.device()
                            + " (dmabuf, or off)");
        }
    }

    /** Rings of one slot size. */
    private record Rings(GpuRings rings, int slotBytes) implements GpuTargets.Rings {

        @Override
        public DeviceRing allocate(long lengthBytes) throws TransportException {
            try {
                return rings.allocate(lengthBytes, slotBytes);
            } catch (GpuUnavailableException e) {
                throw new TransportException(
                        "a ring needs device memory: lengthBytes="
                                + lengthBytes
                                + ", cause="
                                + e.getMessage(),
                        e);
            }
        }

        @Override
        public void close() {
            rings.close();
        }
    }
}
