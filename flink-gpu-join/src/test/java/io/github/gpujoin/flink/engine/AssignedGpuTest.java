// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.util.MockStreamingRuntimeContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AssignedGpuTest {

    private final List<AssignedGpu> open = new ArrayList<>();

    private static RuntimeContext context(
            int subtask, int parallelism, ExternalResourceInfoProvider resources) throws Exception {
        try (MockEnvironment environment =
                new MockEnvironmentBuilder()
                        .setExternalResourceInfoProvider(resources)
                        .setParallelism(parallelism)
                        .setMaxParallelism(parallelism)
                        .setSubtaskIndex(subtask)
                        .build()) {
            return new MockStreamingRuntimeContext(parallelism, subtask, environment);
        }
    }

    private AssignedGpu gpu(int subtask, ExternalResourceInfoProvider resources) throws Exception {
        AssignedGpu gpu = new AssignedGpu(context(subtask, 5, resources));
        open.add(gpu);
        return gpu;
    }

    @AfterEach
    void closeAll() {
        open.forEach(AssignedGpu::close);
    }

    @Test
    void shouldTakeTheConfiguredDeviceWhereFlinkAssignsNone() throws Exception {
        AssignedGpu gpu = gpu(1, ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES);
        assertThat(gpu.numberOr(5)).isEqualTo(5);
        assertThat(gpu.numberOr(6)).isEqualTo(6);
    }

    @Test
    void shouldTakeTheDeviceThatFlinkAssigns() throws Exception {
        assertThat(gpu(1, TestGpus.numbered("3")).numberOr(5)).isEqualTo(3);
    }

    @Test
    void shouldUseAllDevicesWhicheverSubtasksAProcessHas() throws Exception {
        ExternalResourceInfoProvider resources = TestGpus.numbered("0", "1");
        assertThat(gpu(0, resources).numberOr(5)).isZero();
        assertThat(gpu(2, resources).numberOr(5)).isEqualTo(1);
    }

    @Test
    void shouldTakeTheDeviceThatTheFewestHave() throws Exception {
        ExternalResourceInfoProvider resources = TestGpus.numbered("10", "2", "7");
        List<Integer> taken = new ArrayList<>();
        for (int subtask = 0; subtask < 5; subtask++) {
            taken.add(gpu(subtask, resources).numberOr(5));
        }
        assertThat(taken).containsExactly(2, 7, 10, 2, 7);
        open.get(1).close();
        open.get(4).close();
        open.get(4).close();
        assertThat(gpu(0, resources).numberOr(5)).isEqualTo(7);
        assertThat(gpu(0, resources).numberOr(5)).as("one each of 7 and 10").isEqualTo(7);
    }

    @Test
    void shouldGiveASubtaskOneDeviceForAllThatItDoes() throws Exception {
        ExternalResourceInfoProvider resources = TestGpus.numbered("0", "1");
        AssignedGpu first = gpu(0, resources);
        assertThat(first.numberOr(5)).isZero();
        assertThat(first.numberOr(6)).isZero();
        assertThat(gpu(0, resources).numberOr(5)).isEqualTo(1);
        assertThat(gpu(0, resources).numberOr(5)).as("the first one counts once").isZero();
    }

    @Test
    void shouldReturnAllDevicesOfTheResource() throws Exception {
        assertThat(gpu(0, TestGpus.numbered("10", "2")).allOr(List.of(5))).containsExactly(2, 10);
        assertThat(gpu(0, ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES).allOr(List.of(5)))
                .containsExactly(5);
    }

    @Test
    void shouldRefuseADeviceWithoutANumber() throws Exception {
        AssignedGpu named = gpu(0, TestGpus.numbered("first"));
        assertThatIllegalStateException()
                .isThrownBy(() -> named.numberOr(0))
                .withMessageContaining("property=index")
                .withMessageContaining("value=first");
        AssignedGpu nameless = gpu(0, TestGpus.with("uuid", "0"));
        assertThatIllegalStateException()
                .isThrownBy(() -> nameless.numberOr(0))
                .withMessageContaining("value=null");
    }
}
