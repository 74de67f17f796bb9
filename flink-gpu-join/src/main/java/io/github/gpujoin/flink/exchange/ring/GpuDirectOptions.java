// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.disni.GpuTargets;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.GpuWriteVisibility;
import io.github.gpujoin.rdma.verbs.VerbsException;
import java.io.Serializable;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.jspecify.annotations.Nullable;

/**
 * Options of rings in GPU memory, which a network card writes directly (GPUDirect RDMA). Untested
 * on hardware.
 *
 * @param way how the card reaches GPU memory, not {@link GpuDirect#OFF}
 * @param gpu device and limits on its memory, which rings and engines share
 */
record GpuDirectOptions(GpuDirect way, GpuOptions gpu) implements Serializable {

    private static final String TRANSPORT = "disni";

    /**
     * Reads the options of a job.
     *
     * @return null if rings lie in host memory
     * @throws IllegalConfigurationException if the transport is not RDMA
     */
    static @Nullable GpuDirectOptions of(ReadableConfig config, String transport) {
        GpuDirect way = config.get(GpuJoinOptions.RDMA_GPU_DIRECT);
        if (way == GpuDirect.OFF) {
            return null;
        }
        if (!transport.equals(TRANSPORT)) {
            throw new IllegalConfigurationException(
                    "Transport cannot write GPU memory: %s, %s=%s. Set the transport to %s, or %s: off.",
                    setting(way),
                    GpuJoinOptions.TRANSPORT.key(),
                    transport,
                    TRANSPORT,
                    GpuJoinOptions.RDMA_GPU_DIRECT.key());
        }
        return new GpuDirectOptions(way, JoinConfig.gpuOptions(config));
    }

    private static String setting(GpuDirect way) {
        return GpuJoinOptions.RDMA_GPU_DIRECT.key() + "=" + way.name().toLowerCase(ROOT);
    }

    GpuDirectOptions onDevice(int device) {
        return new GpuDirectOptions(way, gpu.withDevice(device));
    }

    /** Describes the rings for logs and the join's explanation. */
    @Override
    public String toString() {
        return "rings in GPU memory by GPUDirect, untested on hardware, " + setting(way);
    }

    /**
     * Opens the device.
     *
     * @param slotBytes slot size of the rings
     * @throws TransportException if there is no device, or it does not support GPUDirect this way
     */
    GpuTargets open(int slotBytes) throws TransportException {
        GpuRings rings;
        try {
            rings = new GpuRings(gpu);
        } catch (GpuUnavailableException e) {
            throw new TransportException(
                    "No GPU for rings in GPU memory: %s, device=%s, cause=%s\nRemove the cause, or set %s: off."
                            .formatted(
                                    setting(way),
                                    gpu.device(),
                                    e.getMessage(),
                                    GpuJoinOptions.RDMA_GPU_DIRECT.key()),
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
     * @throws TransportException if the GPU's driver does not offer its memory to a card this way
     */
    void requireSupported(GpuDirectSupport support) throws TransportException {
        if (way == GpuDirect.DMABUF && !support.dmaBuf()) {
            throw new TransportException(
                    "GPU driver does not export memory as a dma-buf: "
                            + setting(way)
                            + ", device="
                            + gpu.device()
                            + ".\nInstall the open GPU kernel modules, or set peermem or off.");
        }
        if (way == GpuDirect.PEERMEM && !support.peerMemory()) {
            throw new TransportException(
                    "GPU does not let a network card pin its memory: "
                            + setting(way)
                            + ", device="
                            + gpu.device()
                            + ".\nUse a data center GPU, or set dmabuf or off.");
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
                        "Cannot allocate device memory for a ring: lengthBytes=%d, cause=%s\nLower %s, or raise %s."
                                .formatted(
                                        lengthBytes,
                                        e.getMessage(),
                                        GpuJoinOptions.RING_SLOTS.key(),
                                        GpuJoinOptions.GPU_DEVICE_MEMORY.key()),
                        e);
            }
        }

        @Override
        public void close() {
            rings.close();
        }
    }
}
