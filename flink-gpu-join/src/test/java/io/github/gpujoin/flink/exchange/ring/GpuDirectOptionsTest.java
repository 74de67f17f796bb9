// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.SlotState;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.GpuJoinOptions.GpuDirect;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GpuTestDevice;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.disni.GpuTargets;
import java.io.IOException;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Conditions of rings in GPU memory, and messages if they do not hold. */
class GpuDirectOptionsTest {

    private static RingOptions options(String way, String transport) {
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.RDMA_GPU_DIRECT.key(), way);
        config.setString(GpuJoinOptions.TRANSPORT.key(), transport);
        config.set(GpuJoinOptions.GPU_DEVICES, "3");
        return RingOptions.of(config, "join", 1);
    }

    @Test
    void shouldAllocateRingsInHostMemoryByDefault() {
        assertThat(options("off", "disni").gpuDirect()).isNull();
        assertThat(options("off", "disni").description()).isEqualTo("disni");
        assertThat(RingOptions.of(new Configuration(), "join", 1).gpuDirect()).isNull();
    }

    @Test
    void shouldRejectRingsInGpuMemoryThatSubtasksShare() {
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.RDMA_GPU_DIRECT.key(), "dmabuf");
        config.setString(GpuJoinOptions.TRANSPORT.key(), "disni");
        config.setString(GpuJoinOptions.RING_SHARING.key(), "auto");
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> RingOptions.of(config, "join", 1))
                .withMessageContaining("Subtasks cannot share rings in GPU memory")
                .withMessageContaining(
                        "gpu-join.ring.sharing=AUTO, gpu-join.rdma.gpu-direct=DMABUF");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flink", "shm"})
    void shouldRejectTransportsWithoutANetworkCard(String transport) {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> options("dmabuf", transport))
                .withMessage(
                        "Transport cannot write GPU memory:"
                                + " gpu-join.rdma.gpu-direct=dmabuf, gpu-join.transport="
                                + transport
                                + ". Set the transport to disni, or gpu-join.rdma.gpu-direct: off.");
    }

    @Test
    void shouldNameTheKnownTransportsIfTheTransportIsUnknown() {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> options("off", "tcp"))
                .withMessageMatching(
                        "Unknown transport: gpu-join\\.transport=tcp\\. Use flink or one of disni, .*shm.*\\.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dmabuf", "peermem"})
    void shouldExplainThatGpuDirectIsUntested(String way) {
        assertThat(options(way, "disni").description())
                .isEqualTo(
                        "disni, rings in GPU memory by GPUDirect, untested on hardware,"
                                + " gpu-join.rdma.gpu-direct="
                                + way);
    }

    @Test
    void shouldUseTheDeviceOfTheSubtask() {
        RingOptions assigned = options("dmabuf", "disni").onDevice(configured -> configured + 1);
        assertThat(assigned.gpuDirect().gpu().device()).isEqualTo(4);
        assertThat(assigned.gpuDirect().way()).isEqualTo(GpuDirect.DMABUF);
        RingOptions off = options("off", "disni");
        assertThat(off.onDevice(configured -> 4)).isSameAs(off);
    }

    @ParameterizedTest
    @CsvSource({
        "DMABUF, false, true, GPU driver does not export memory as a dma-buf",
        "PEERMEM, true, false, GPU does not let a network card pin its memory"
    })
    void shouldRejectADeviceWithoutGpuDirect(
            GpuDirect way, boolean dmaBuf, boolean peerMemory, String fault) {
        GpuDirectOptions options = new GpuDirectOptions(way, GpuOptions.defaults().withDevice(2));
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(
                        () ->
                                options.requireSupported(
                                        new GpuDirectSupport(dmaBuf, peerMemory, 100, 1)))
                .withMessageStartingWith(fault)
                .withMessageContaining(way.name().toLowerCase() + ", device=2.\n");
        assertThatCode(
                        () ->
                                options.requireSupported(
                                        new GpuDirectSupport(!dmaBuf, !peerMemory, 100, 1)))
                .doesNotThrowAnyException();
    }

    /** Needs a GPU whose driver supports GPUDirect. A slot that no card has written is empty. */
    @Test
    void shouldAllocateEmptyRingsOnAGpu() throws Exception {
        assumeThat(GpuTestDevice.isThere()).as("there is a GPU").isTrue();
        GpuDirectOptions options = new GpuDirectOptions(GpuDirect.DMABUF, GpuOptions.defaults());
        RingGeometry geometry = RingGeometry.forPayload(4, 1 << 20);
        GpuTargets targets = options.open(geometry.slotBytes());
        try (DeviceRing ring = targets.rings().allocate(geometry.lengthBytes())) {
            RingReader reader = new RingReader(ring, geometry, 1, 0);
            assertThat(reader.poll()).isEqualTo(SlotState.EMPTY);
        } finally {
            targets.rings().close();
        }
    }

    /** There is no silent fallback to host memory. */
    @ParameterizedTest
    @ValueSource(strings = {"dmabuf", "peermem"})
    void shouldFailAReceiverWithoutAGpu(String way) {
        assumeThat(GpuTestDevice.isThere()).as("there is a GPU").isFalse();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(
                        () ->
                                RingReceiver.open(
                                        options(way, "disni"),
                                        Map.of(JoinSide.PROBE, RingFixture.writers(1)),
                                        RingFixture.task(new JobID(), 0, 0, new Configuration()),
                                        event -> {},
                                        RingFixture.UNLIMITED))
                .withMessageStartingWith(
                        "No GPU for rings in GPU memory:"
                                + " gpu-join.rdma.gpu-direct="
                                + way
                                + ", device=3, cause=");
    }
}
