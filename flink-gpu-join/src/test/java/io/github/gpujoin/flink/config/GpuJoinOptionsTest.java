package io.github.gpujoin.flink.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuJoinOptionsTest {

    private static Configuration config(String... keysAndValues) {
        Configuration config = new Configuration();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.setString(keysAndValues[i], keysAndValues[i + 1]);
        }
        return config;
    }

    @Test
    void shouldGoByTheMachineUnlessToldOtherwise() {
        assertThat(GpuJoinOptions.gpuOptions(new Configuration())).isEqualTo(GpuOptions.defaults());
    }

    @Test
    void shouldPassEveryGpuOptionOn() {
        GpuOptions options =
                GpuJoinOptions.gpuOptions(
                        config(
                                "gpu-join.gpu.device", "3",
                                "gpu-join.gpu.device-memory", "40g",
                                "gpu-join.gpu.pinned-memory", "512m",
                                "gpu-join.gpu.stall-timeout", "2 s"));
        assertThat(options.device()).isEqualTo(3);
        assertThat(options.memory()).isEqualTo(new MemoryBudget(40L << 30, 512L << 20));
        assertThat(options.stallTimeoutNs()).isEqualTo(Duration.ofSeconds(2).toNanos());
    }

    @ParameterizedTest
    @CsvSource({
        "gpu-join.gpu.device, -1, gpu-join.gpu.device=-1",
        "gpu-join.gpu.stall-timeout, 0 ms, gpu-join.gpu.stall-timeout=0 ms"
    })
    void shouldRefuseWhatIsOutOfBounds(String key, String value, String message) {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> GpuJoinOptions.gpuOptions(config(key, value)))
                .withMessageContaining(message);
    }
}
