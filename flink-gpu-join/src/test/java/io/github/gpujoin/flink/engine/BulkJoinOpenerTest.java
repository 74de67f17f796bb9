// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuBulkJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.List;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.util.MockStreamingRuntimeContext;
import org.junit.jupiter.api.Test;

class BulkJoinOpenerTest {

    private static final BulkJoinFactory GPU = new GpuBulkJoinFactory(GpuOptions.defaults());
    private static final BulkJoinFactory CPU = new CpuRadixJoinFactory(1);

    private static BulkJoinOpener opener(BulkJoinFactory... factories) {
        return new BulkJoinOpener(List.of(factories), true, Long.MAX_VALUE);
    }

    @Test
    void shouldTryGpuInFirstAttemptOnly() {
        BulkJoinOpener opener = opener(GPU, CPU);
        assertThat(opener.usable(0)).containsExactly(GPU, CPU);
        assertThat(opener.usable(1)).containsExactly(CPU);
    }

    @Test
    void shouldTryGpuAgainIfThereIsNoOtherImplementation() {
        assertThat(opener(GPU).usable(3)).containsExactly(GPU);
    }

    private static List<Integer> devices(int parallelism, ExternalResourceInfoProvider resources)
            throws Exception {
        try (MockEnvironment environment =
                        new MockEnvironmentBuilder()
                                .setExternalResourceInfoProvider(resources)
                                .build();
                AssignedGpu assigned =
                        new AssignedGpu(
                                new MockStreamingRuntimeContext(parallelism, 0, environment))) {
            BulkJoinFactory group =
                    new GpuBulkJoinFactory(GpuOptions.defaults().withDevices(List.of(4, 5)));
            BulkJoinFactory placed = BulkJoinOpener.placed(group, assigned, parallelism);
            return ((GpuBulkJoinFactory) placed).options().devices();
        }
    }

    @Test
    void shouldUseAllDevicesForAnOnlySubtask() throws Exception {
        assertThat(devices(1, TestGpus.numbered("0", "1"))).containsExactly(0, 1);
        assertThat(devices(1, ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES))
                .containsExactly(4, 5);
    }

    @Test
    void shouldUseOneDeviceForEachOfSeveralSubtasks() throws Exception {
        assertThat(devices(2, TestGpus.numbered("0", "1"))).containsExactly(0);
        assertThat(devices(2, ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES))
                .containsExactly(4);
    }
}
