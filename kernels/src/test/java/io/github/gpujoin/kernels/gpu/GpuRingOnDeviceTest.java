// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.core.ring.SlotState;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A ring in the memory of a device while its kernel runs. The copy engine of the driver writes its
 * slots in place of a network card.
 */
@NeedsGpu
class GpuRingOnDeviceTest {

    private static final RingGeometry GEOMETRY = RingGeometry.forPayload(8, 200 << 10);
    private static final GpuOptions OPTIONS = GpuOptions.defaults();
    private static final int PAYLOADS = 200;
    private static final long SEED = 4;

    @Test
    void shouldReadEveryPayloadWhileAKernelRuns() {
        DeviceLease lease = DeviceLease.acquire(OPTIONS);
        Buffers buffers = lease.memory().buffers(OPTIONS.memory());
        long[] image = new long[1];
        int[] plan = new int[1];
        try (GpuRings rings = new GpuRings(OPTIONS)) {
            System.out.println("GPUDirect: " + rings.support());
            lease.whileStopped(
                    OPTIONS.stallTimeoutNs(),
                    () -> {
                        image[0] = buffers.pinned(GEOMETRY.lengthBytes());
                        plan[0] = lease.plans().reserve();
                    });
            try (DeviceRing ring = rings.allocate(GEOMETRY.lengthBytes(), GEOMETRY.slotBytes())) {
                bringAll(lease.driver(), image[0], ring);
                lease.requireRunning();
            }
        } finally {
            lease.whileStopped(
                    OPTIONS.stallTimeoutNs(),
                    () -> {
                        buffers.close();
                        lease.plans().free(plan[0]);
                    });
            lease.release();
        }
    }

    private static void bringAll(CudaDriver driver, long image, DeviceRing ring) {
        RingWriter writer = new RingWriter(null, image, GEOMETRY, 1);
        RingReader reader = new RingReader(ring, GEOMETRY, 1, 0);
        Random random = new Random(SEED);
        long startNs = System.nanoTime();
        for (int i = 0; i < PAYLOADS; i++) {
            byte[] payload =
                    new byte[8 * (1 + random.nextInt(GEOMETRY.payloadCapacityBytes() / 8))];
            random.nextBytes(payload);
            assertThat(reader.peek()).isEqualTo(SlotState.EMPTY);
            assertThat(writer.tryWrite(payload, Memory.BYTES, payload.length)).isTrue();
            long slot = GEOMETRY.slotOffset(i + 1);
            long copy =
                    driver.startCopyToDevice(
                            ring.address() + slot, image + slot, GEOMETRY.slotBytes());
            while (!driver.hasCopied(copy)) {
                Thread.onSpinWait();
            }
            assertThat(reader.peek()).isEqualTo(SlotState.READY);
            byte[] read = new byte[reader.lengthBytes()];
            assertThat(reader.copyTo(read)).isTrue();
            assertThat(read).isEqualTo(payload);
            reader.release();
            writer.acknowledge(reader.releasedSequence());
        }
        System.out.printf(
                "GPUDirect: %d payloads in %d us%n",
                PAYLOADS, (System.nanoTime() - startNs) / 1000);
    }
}
