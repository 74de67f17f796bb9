// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.gpu.FailingDevice;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import io.github.gpujoin.kernels.gpu.NeedsTwoGpus;
import io.github.gpujoin.kernels.gpu.RingMemory;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The operator loses and repeats no row, whichever call to the driver is the first to fail. */
@ExtendWith(RegionLeakExtension.class)
class GpuFailureOperatorTest {

    /** Few rows a segment, so that fact rows are begun in one batch and whole in another. */
    private static final GpuOptions OPTIONS =
            GpuOptions.defaults()
                    .withSlots(4, 16)
                    .withStallTimeoutNs(TimeUnit.MILLISECONDS.toNanos(20));

    /** More than one run makes. */
    private static final int MOST_CALLS = 500;

    @ParameterizedTest(name = "with {0}, ring in {1} memory, without a device")
    @CsvSource({
        "DEVICE_LOST, HOST",
        "OUT_OF_DEVICE_MEMORY, HOST",
        "KERNEL_STALLED, HOST",
        "DEVICE_LOST, DEVICE",
        "OUT_OF_DEVICE_MEMORY, DEVICE"
    })
    void shouldGoOnFromAnyCallOfAFakeDriver(GpuFailure failure, RingMemory ringMemory)
            throws Exception {
        GpuOptions options = OPTIONS.withRingMemory(ringMemory);
        // With no failure told, the join stalls, since a fake kernel does nothing.
        assertThat(runUntilNoneFails(n -> FailingDevice.fake(options, n, failure)))
                .isBetween(20, MOST_CALLS);
    }

    /** The group fails with its second member, and the CPU continues. */
    @ParameterizedTest
    @EnumSource(
            value = GpuFailure.class,
            names = {"DEVICE_LOST", "OUT_OF_DEVICE_MEMORY", "KERNEL_STALLED"})
    void shouldGoOnFromAnyCallOfTheSecondOfTwoFakeDrivers(GpuFailure failure) throws Exception {
        GpuOptions options = OPTIONS.withDevices(List.of(0, 1));
        assertThat(runUntilNoneFails(n -> FailingDevice.fake(options, n, failure)))
                .isBetween(20, MOST_CALLS);
    }

    @NeedsGpu
    @ParameterizedTest(name = "with {0}, on a device")
    @EnumSource(names = {"DEVICE_LOST", "KERNEL_STALLED"})
    void shouldGoOnFromAnyCallOfARealDriver(GpuFailure failure) throws Exception {
        GpuOptions options = OPTIONS.withStallTimeoutNs(TimeUnit.SECONDS.toNanos(10));
        assertThat(runUntilNoneFails(n -> FailingDevice.real(options, n, failure)))
                .isBetween(20, MOST_CALLS);
    }

    @NeedsTwoGpus
    @ParameterizedTest(name = "with {0}, tables {1} on two devices")
    @CsvSource({"DEVICE_LOST, SHARDED", "KERNEL_STALLED, REPLICATED"})
    void shouldGoOnFromAnyCallOfTheSecondOfTwoRealDrivers(GpuFailure failure, TableSpread spread)
            throws Exception {
        GpuOptions options =
                OPTIONS.withStallTimeoutNs(TimeUnit.SECONDS.toNanos(10))
                        .withDevices(List.of(0, 1))
                        .withSpread(spread);
        assertThat(runUntilNoneFails(n -> FailingDevice.real(options, n, failure)))
                .isBetween(20, MOST_CALLS);
    }

    @NeedsGpu
    @Test
    void shouldGoOnWhereTheKernelEnds() throws Exception {
        JoinScenario scenario = JoinScenario.random(5, true);
        GpuOptions options = OPTIONS.withStallTimeoutNs(TimeUnit.SECONDS.toNanos(10));
        List<Chunk> facts = scenario.factChunks();
        try (FailingDevice device =
                        FailingDevice.real(options, Integer.MAX_VALUE, GpuFailure.DEVICE_LOST);
                JoinHarness harness =
                        open(
                                new EngineSelection(
                                        context -> device, true, new CpuJoinEngineFactory()),
                                true,
                                null)) {
            load(harness, scenario.buildChunks(), List.of());
            for (int i = 0; i < facts.size(); i++) {
                if (i == facts.size() / 2) {
                    device.stopKernel();
                }
                harness.probe(facts.get(i));
            }
            harness.endProbe();
            harness.finish();
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    /** Lets each call in turn be the first to fail; returns the number of runs. */
    private static int runUntilNoneFails(IntFunction<FailingDevice> devices) throws Exception {
        int goodCalls = 0;
        FailingDevice device;
        do {
            device = devices.apply(goodCalls);
            run(device, goodCalls++);
        } while (device.hasFailed() && goodCalls <= MOST_CALLS);
        return goodCalls;
    }

    /** Joins with a snapshot and a restore in the middle. */
    private static void run(FailingDevice device, int goodCalls) throws Exception {
        boolean partitioned = goodCalls % 2 == 0;
        JoinScenario scenario = JoinScenario.random(goodCalls, partitioned);
        scenario.buildRow(7, 1);
        for (int i = 0; i < 100; i++) {
            scenario.buildRow(7, 2_000_000 + i);
        }
        EngineSelection engines =
                new EngineSelection(context -> device, true, new CpuJoinEngineFactory());
        List<Chunk> build = scenario.buildChunks();
        List<Chunk> facts = scenario.factChunks();
        List<String> results = new ArrayList<>();
        OperatorSubtaskState state;
        try (device) {
            try (JoinHarness before = open(engines, partitioned, null)) {
                load(before, build, facts.subList(0, facts.size() / 3));
                for (Chunk chunk : facts.subList(facts.size() / 3, facts.size() / 2)) {
                    before.probe(chunk);
                }
                state = before.snapshot(1, 1);
                results.addAll(before.results());
            }
            try (JoinHarness after = open(engines, partitioned, state)) {
                if (!partitioned) {
                    for (Chunk chunk : build) {
                        after.build(chunk);
                    }
                    after.completeBuild();
                }
                after.endBuild();
                for (Chunk chunk : facts.subList(facts.size() / 2, facts.size())) {
                    after.probe(chunk);
                }
                after.endProbe();
                after.finish();
                results.addAll(after.results());
            }
        }
        assertThat(results)
                .as("goodCalls=%d", goodCalls)
                .containsExactlyInAnyOrderElementsOf(scenario.results());
    }

    private static JoinHarness open(
            EngineSelection engines, boolean partitioned, OperatorSubtaskState state)
            throws Exception {
        StarJoinOperatorFactory<String> operator =
                partitioned
                        ? JoinScenario.operator(engines)
                        : JoinScenario.replayedOperator(engines);
        JoinHarness harness = new JoinHarness(operator, JoinScenario.MAX_PARALLELISM, 1, 0);
        if (state == null) {
            harness.initializeEmptyState();
        } else {
            harness.initializeState(state);
        }
        harness.open();
        return harness;
    }

    private static void load(JoinHarness harness, List<Chunk> build, List<Chunk> waiting)
            throws Exception {
        for (Chunk chunk : waiting) {
            harness.probe(chunk);
        }
        for (Chunk chunk : build) {
            harness.build(chunk);
        }
        harness.completeBuild();
        harness.endBuild();
        harness.runMails(3);
    }
}
