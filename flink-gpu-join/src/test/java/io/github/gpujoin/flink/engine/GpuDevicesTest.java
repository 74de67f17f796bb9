package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.externalresource.ExternalResourceInfoProvider;
import org.apache.flink.runtime.externalresource.StaticExternalResourceInfoProvider;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.util.MockStreamingRuntimeContext;
import org.junit.jupiter.api.Test;

class GpuDevicesTest {

    /** A device as Flink's GPU plugin describes it. */
    private record Device(String name, String value) implements ExternalResourceInfo {
        @Override
        public Optional<String> getProperty(String key) {
            return key.equals(name) ? Optional.of(value) : Optional.empty();
        }

        @Override
        public Collection<String> getKeys() {
            return List.of(name);
        }
    }

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

    private static ExternalResourceInfoProvider gpus(String... indices) {
        Set<ExternalResourceInfo> devices =
                Arrays.stream(indices)
                        .map(index -> new Device("index", index))
                        .collect(Collectors.toSet());
        return new StaticExternalResourceInfoProvider(Map.of("gpu", devices));
    }

    @Test
    void shouldTakeTheConfiguredDeviceWhereFlinkAssignsNone() throws Exception {
        RuntimeContext context = context(1, 2, ExternalResourceInfoProvider.NO_EXTERNAL_RESOURCES);
        assertThat(GpuDevices.of(context, 5)).isEqualTo(5);
    }

    @Test
    void shouldTakeTheDeviceThatFlinkAssigns() throws Exception {
        assertThat(GpuDevices.of(context(1, 2, gpus("3")), 5)).isEqualTo(3);
    }

    @Test
    void shouldLetSubtasksTakeTurnsOverTheDevices() throws Exception {
        List<Integer> taken =
                IntStream.range(0, 5)
                        .mapToObj(subtask -> deviceOf(subtask, gpus("10", "2", "7")))
                        .toList();
        assertThat(taken).containsExactly(2, 7, 10, 2, 7);
    }

    private static int deviceOf(int subtask, ExternalResourceInfoProvider resources) {
        try {
            return GpuDevices.of(context(subtask, 5, resources), 0);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldRefuseADeviceWithoutANumber() throws Exception {
        RuntimeContext named = context(0, 1, gpus("first"));
        assertThatIllegalStateException()
                .isThrownBy(() -> GpuDevices.of(named, 0))
                .withMessageContaining("property=index")
                .withMessageContaining("value=first");
        RuntimeContext nameless =
                context(
                        0,
                        1,
                        new StaticExternalResourceInfoProvider(
                                Map.of("gpu", Set.of(new Device("uuid", "0")))));
        assertThatIllegalStateException()
                .isThrownBy(() -> GpuDevices.of(nameless, 0))
                .withMessageContaining("value=null");
    }
}
