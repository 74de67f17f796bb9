// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GpuOptionsTest {

    @Test
    void shouldChangeEachOptionAlone() {
        MemoryBudget memory = MemoryBudget.byMachine();
        GpuOptions changed =
                GpuOptions.defaults()
                        .withDevice(3)
                        .withSlots(5, 700)
                        .withRingMemory(RingMemory.DEVICE)
                        .withMemory(memory)
                        .withStallTimeoutNs(TimeUnit.SECONDS.toNanos(1))
                        .withGridMode(GridMode.STATIC)
                        .withEncodeSegments(true)
                        .withPackResults(false)
                        .withSpread(TableSpread.SHARDED)
                        .withPeerAccess(false)
                        .withBulkThreads(3)
                        .withVirtualDevices(2);
        assertThat(changed)
                .isEqualTo(
                        new GpuOptions(
                                List.of(3),
                                5,
                                700,
                                RingMemory.DEVICE,
                                memory,
                                TimeUnit.SECONDS.toNanos(1),
                                GridMode.STATIC,
                                true,
                                false,
                                TableSpread.SHARDED,
                                false,
                                JoinShare.OF_ENGINE,
                                3,
                                2));
    }

    @Test
    void shouldRejectSizesOutOfRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GpuOptions.defaults().withSlots(0, 1))
                .withMessageContaining("Slot count out of range");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GpuOptions.defaults().withSlots(1, (1 << 20) + 1))
                .withMessageContaining("Segment rows out of range");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GpuOptions.defaults().withBulkThreads(65))
                .withMessageContaining("Bulk threads out of range 0 to 64: bulkThreads=65");
    }

    @Test
    void shouldSortDevicesAndRejectOneNamedTwice() {
        assertThat(GpuOptions.defaults().withDevices(List.of(2, 0)).devices())
                .containsExactly(0, 2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GpuOptions.defaults().withDevices(List.of(1, 1)))
                .withMessageContaining("devices=[1, 1]");
    }
}
