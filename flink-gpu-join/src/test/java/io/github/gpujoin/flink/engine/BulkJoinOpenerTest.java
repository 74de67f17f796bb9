// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.engine.BulkJoinOpener.Usable;
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

    private static BulkJoinOpener requested(BulkJoinFactory... factories) {
        return new BulkJoinOpener(List.of(factories), true, 0, Long.MAX_VALUE);
    }

    private static BulkJoinOpener automatic(int allowedFailures) {
        return new BulkJoinOpener(List.of(GPU, CPU), false, allowedFailures, Long.MAX_VALUE);
    }

    @Test
    void shouldTryGpuInFirstAttemptOnly() {
        BulkJoinOpener opener = requested(GPU, CPU);
        assertThat(opener.usable(0, 4)).isEqualTo(new Usable(List.of(GPU, CPU), null));
        assertThat(opener.usable(1, 4))
                .isEqualTo(new Usable(List.of(CPU), ReasonCode.EARLIER_ATTEMPT));
    }

    @Test
    void shouldTryGpuAgainIfThereIsNoOtherImplementation() {
        assertThat(requested(GPU).usable(3, 1)).isEqualTo(new Usable(List.of(GPU), null));
    }

    @Test
    void shouldTryUnrequestedGpuIfAllSubtasksMayFail() {
        assertThat(automatic(4).usable(0, 4).factories()).containsExactly(GPU, CPU);
        assertThat(automatic(4).usable(1, 4).refusal()).isEqualTo(ReasonCode.EARLIER_ATTEMPT);
        for (int allowedFailures : new int[] {0, 3}) {
            assertThat(automatic(allowedFailures).usable(0, 4))
                    .isEqualTo(new Usable(List.of(CPU), ReasonCode.FEW_RESTARTS));
        }
    }

    @Test
    void shouldNameNoReasonWithoutGpu() {
        assertThat(requested(CPU).usable(1, 1)).isEqualTo(new Usable(List.of(CPU), null));
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
