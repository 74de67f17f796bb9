// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GridMode;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import io.github.gpujoin.kernels.gpu.RingMemory;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JoinConfigTest {

    private static Configuration config(String... keysAndValues) {
        Configuration config = new Configuration();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.setString(keysAndValues[i], keysAndValues[i + 1]);
        }
        return config;
    }

    @Test
    void shouldGoByTheMachineUnlessToldOtherwise() {
        assertThat(JoinConfig.gpuOptions(new Configuration()))
                .isEqualTo(GpuOptions.defaults().withDevices(GpuOptions.ALL_DEVICES));
    }

    @Test
    void shouldPassEveryGpuOptionOn() {
        GpuOptions options =
                JoinConfig.gpuOptions(
                        config(
                                "gpu-join.gpu.devices", "3, 1",
                                "gpu-join.gpu.device-memory", "40g",
                                "gpu-join.gpu.pinned-memory", "512m",
                                "gpu-join.gpu.kept-memory", "1g",
                                "gpu-join.gpu.bulk-threads", "5",
                                "gpu-join.gpu.ring-memory", "device",
                                "gpu-join.gpu.grid", "histogram",
                                "gpu-join.gpu.spread", "sharded",
                                "gpu-join.gpu.weight", "2.5",
                                "gpu-join.gpu.stall-timeout", "2 s"));
        assertThat(options.devices()).containsExactly(1, 3);
        assertThat(options.memory()).isEqualTo(new MemoryBudget(40L << 30, 512L << 20, 1L << 30));
        assertThat(options.bulkThreads()).isEqualTo(5);
        assertThat(options.ringMemory()).isEqualTo(RingMemory.DEVICE);
        assertThat(options.gridMode()).isEqualTo(GridMode.HISTOGRAM);
        assertThat(options.spread()).isEqualTo(TableSpread.SHARDED);
        assertThat(options.share().weight()).isEqualTo(2.5);
        assertThat(options.stallTimeoutNs()).isEqualTo(Duration.ofSeconds(2).toNanos());
    }

    @Test
    void shouldCountTheFailuresThatARestartStrategyAllows() {
        String type = "restart-strategy.type";
        assertThat(JoinConfig.allowedFailures(new Configuration())).isZero();
        assertThat(JoinConfig.allowedFailures(config(type, "disable"))).isZero();
        assertThat(JoinConfig.allowedFailures(config(type, "fixed-delay"))).isOne();
        assertThat(
                        JoinConfig.allowedFailures(
                                config(
                                        type,
                                        "FixedDelay",
                                        "restart-strategy.fixed-delay.attempts",
                                        "7")))
                .isEqualTo(7);
        assertThat(
                        JoinConfig.allowedFailures(
                                config(
                                        type,
                                        "failure-rate",
                                        "restart-strategy.failure-rate.max-failures-per-interval",
                                        "4")))
                .isEqualTo(4);
        assertThat(JoinConfig.allowedFailures(config(type, "exponential-delay")))
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void shouldReadWhatConfigYamlSays(@TempDir Path directory) throws IOException {
        Files.writeString(
                directory.resolve("config.yaml"),
                """
                gpu-join:
                  engine: reference
                  chunk-bytes: 64 kb
                  gpu.devices: 2
                """);
        Configuration config = GlobalConfiguration.loadConfiguration(directory.toString());
        assertThat(config.get(GpuJoinOptions.ENGINE)).isEqualTo(GpuJoinOptions.Engine.REFERENCE);
        assertThat(JoinConfig.chunkBytes(config)).isEqualTo(64 << 10);
        assertThat(JoinConfig.gpuOptions(config).devices()).containsExactly(2);
    }

    @ParameterizedTest
    @CsvSource({
        "gpu-join.chunk-bytes, 17 mb, Option out of range: gpu-join.chunk-bytes=17 mb. Set at least 1 bytes and at most 16 mb.",
        "gpu-join.flush-interval, 0 ms, gpu-join.flush-interval=0 ms. Set at least 1 ms and at most 1 h.",
        "gpu-join.gpu.bulk-threads, 65, gpu-join.gpu.bulk-threads=65. Set at least 0 and at most 64.",
        "gpu-join.gpu.stall-timeout, 0 ms, gpu-join.gpu.stall-timeout=0 ms",
        "gpu-join.ring.slots, 1025, gpu-join.ring.slots=1025. Set at least 1 and at most 1024.",
        "gpu-join.ring.peer-timeout, 59 ms, gpu-join.ring.peer-timeout=59 ms. Set at least 60 ms and at most 1 h.",
        "gpu-join.ring.open-timeout, 61 min, gpu-join.ring.open-timeout=61 min. Set at least 0 ms and at most 1 h."
    })
    void shouldRefuseWhatIsOutOfBounds(String key, String value, String message) {
        Configuration config = config(key, value);
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(
                        () -> {
                            JoinConfig.chunkBytes(config);
                            JoinConfig.flushIntervalMs(config);
                            JoinConfig.gpuOptions(config);
                            JoinConfig.ringSlots(config);
                            JoinConfig.ringPeerTimeoutMs(config);
                            JoinConfig.ringOpenTimeoutMs(config);
                        })
                .withMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"all", "ALL", " All "})
    void shouldJoinOnAllDevices(String devices) {
        assertThat(JoinConfig.gpuOptions(config("gpu-join.gpu.devices", devices)).devices())
                .isEqualTo(GpuOptions.ALL_DEVICES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "0,0", "first", "0,", ""})
    void shouldRefuseDevicesThatAreNoDistinctNumbers(String devices) {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> JoinConfig.gpuOptions(config("gpu-join.gpu.devices", devices)))
                .withMessageContaining("gpu-join.gpu.devices=" + devices);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gpu-join.enigne | cpu | Unknown option: gpu-join.enigne. Did you mean gpu-join.engine?",
                "gpu-join.spil-delay | 1 s | Unknown option: gpu-join.spil-delay. Did you mean gpu-join.spill-delay?",
                "gpu-join.colour-of-rows | red | Unknown option: gpu-join.colour-of-rows. See docs/options.md.",
                "gpu-join.engine | cuda | Wrong value: gpu-join.engine=cuda. Use one of auto, gpu, cpu, reference.",
                "gpu-join.late-dimension-rows | keep | Wrong value: gpu-join.late-dimension-rows=keep. Use one of ",
                "gpu-join.bad-records | drop | Wrong value: gpu-join.bad-records=drop. Use one of fail, skip.",
                "gpu-join.gpu.ring-memory | hbm | Wrong value: gpu-join.gpu.ring-memory=hbm. Use one of ",
                "gpu-join.metrics | some | Wrong value: gpu-join.metrics=some. Use one of ",
                "gpu-join.rdma.gpu-direct | on | Wrong value: gpu-join.rdma.gpu-direct=on. Use one of ",
                "gpu-join.ring.slots | many | Wrong value: gpu-join.ring.slots=many. Use a number such as 8.",
                "gpu-join.chunk-bytes | big | Wrong value: gpu-join.chunk-bytes=big. Use a size such as 128 kb.",
                "gpu-join.flush-interval | soon | Wrong value: gpu-join.flush-interval=soon. Use a duration such as 100 ms.",
                "gpu-join.fact-filters | on | Wrong value: gpu-join.fact-filters=on. Use true or false.",
                "gpu-join.gpu.weight | much | Wrong value: gpu-join.gpu.weight=much. Use a number such as 1.0."
            })
    void shouldNameWhatIsMisspelt(String key, String value, String message) {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> JoinConfig.check(config(key, value)))
                .withMessageStartingWith(message)
                .withNoCause();
    }

    @Test
    void shouldAcceptEveryOptionAndThoseOfOthers() {
        Configuration config = config("gpu-join.engine", "CPU", "pipeline.name", "test");
        JoinConfig.check(config);
        assertThat(GpuJoinOptions.all()).allMatch(option -> GpuJoinOptions.isKnown(option.key()));
    }
}
