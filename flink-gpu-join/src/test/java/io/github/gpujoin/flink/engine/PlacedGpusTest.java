// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.MemoryTier;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.gpu.FailingDevice;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import io.github.gpujoin.kernels.gpu.NeedsTwoGpus;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Partition groups on two GPUs and on the host. */
@NeedsTwoGpus
class PlacedGpusTest extends HybridScenario {

    private static final int KEYS_OF_BOTH = 64 * KEYS;

    private static GpuOptions options(long deviceMiB, boolean hasPeerAccess) {
        return GpuOptions.defaults()
                .withSlots(4, 4096)
                .withDevices(List.of(0, 1))
                .withPeerAccess(hasPeerAccess)
                .withMemory(new MemoryBudget(deviceMiB << 20, MemoryBudget.BY_MACHINE));
    }

    private HybridJoinEngine engine(PartitionedStar star, JoinEngineFactory devices) {
        return engine(star, 16, devices, hostMemory.within(Long.MAX_VALUE));
    }

    @ParameterizedTest(name = "{0} MiB of each device, peer access: {1}, {2}")
    @CsvSource({
        "20, false, INNER",
        "20, true, LEFT",
        "40, false, LEFT",
        "40, true, SEMI",
        "400, true, ANTI",
        "400, false, INNER"
    })
    void shouldJoinWithTablesBeyondTheBudgetOfADevice(
            long deviceMiB, boolean hasPeerAccess, JoinKind kind) throws Exception {
        PartitionedStar star =
                new PartitionedStar(deviceMiB, KEYS_OF_BOTH, kind, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        GpuOptions options = options(deviceMiB, hasPeerAccess);
        try (HybridJoinEngine engine = engine(star, new GpuJoinEngineFactory(options))) {
            star.load(engine);
            assertThat(engine.tiers()).contains(MemoryTier.DEVICE);
            assertJoins(star, engine);
        }
        assertThat(hostMemory.usedBytes()).isZero();
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest(name = "peer access: {0}")
    @ValueSource(booleans = {false, true})
    void shouldContinueOnTheHostIfADeviceFailsAmidFacts(boolean hasPeerAccess) throws Exception {
        PartitionedStar star =
                new PartitionedStar(1, 16 * KEYS, JoinKind.INNER, false)
                        .probe(360, 0, PartitionedStar.PARTITIONS);
        try (FailingDevice devices =
                        FailingDevice.real(
                                options(100, hasPeerAccess)
                                        .withStallTimeoutNs(TimeUnit.SECONDS.toNanos(1)),
                                Integer.MAX_VALUE,
                                GpuFailure.DEVICE_LOST);
                HybridJoinEngine engine = engine(star, devices)) {
            star.load(engine);
            assertThat(engine.tiers()).contains(MemoryTier.DEVICE);
            EngineRun run = new EngineRun(engine);
            star.probes().subList(0, 100).forEach(probe -> run.submit(probe, 0));
            while (run.unfinished().size() > 10) {
                run.poll();
            }
            devices.failNow();
            star.probes().subList(100, 360).forEach(probe -> run.submit(probe, 0));
            run.drain();
            assertThat(run.results()).isEqualTo(star.expected());
            assertThat(lost).hasSize(1);
            assertThat(Set.copyOf(engine.tiers())).doesNotContain(MemoryTier.DEVICE);
        }
    }
}
