// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.runtime.JoinHarness;
import io.github.gpujoin.flink.runtime.JoinScenario;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real pair: a GPU within a budget, and the CPU with the rest. */
@NeedsGpu
class DividedGpuTest {

    private static final int KEYS = 200_000;

    @ParameterizedTest(name = "{0} MiB of device memory")
    @ValueSource(ints = {0, 4, 16, 32, 64, 1024})
    void shouldJoinWhatDoesNotFitTheDeviceOnTheHost(int deviceMiB) throws Exception {
        GpuOptions options =
                GpuOptions.defaults()
                        .withSlots(8, 1024)
                        .withMemory(
                                new MemoryBudget((long) deviceMiB << 20, MemoryBudget.BY_MACHINE));
        JoinEngineFactory device = new GpuJoinEngineFactory(options);
        JoinScenario scenario = new JoinScenario(true);
        for (int key = 0; key < KEYS; key++) {
            scenario.buildRow(key, 1_000_000 + key);
        }
        for (int i = 0; i < 2_000; i++) {
            scenario.fact(i * 101L % (KEYS + 1_000), i);
        }
        EngineSelection engines =
                new EngineSelection(context -> device, true, new CpuJoinEngineFactory())
                        .dividing(new DimensionPartitioning(0, 16, JoinScenario.SPILL_DELAY_MS));
        try (JoinHarness harness =
                new JoinHarness(
                        JoinScenario.operator(engines), JoinScenario.MAX_PARALLELISM, 1, 0)) {
            harness.initializeEmptyState();
            harness.open();
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.endProbe();
            harness.finish();
            assertThat(harness.results())
                    .hasSize(scenario.factsWithKeyBelow(KEYS))
                    .doesNotHaveDuplicates();
        }
    }
}
