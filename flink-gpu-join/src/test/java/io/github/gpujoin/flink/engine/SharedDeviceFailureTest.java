// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.runtime.JoinScenario;
import io.github.gpujoin.kernels.binding.GpuFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Subtasks that share a device's tables, each in a thread, when the device fails. */
@ExtendWith(RegionLeakExtension.class)
class SharedDeviceFailureTest {

    private static final int SUBTASKS = 3;

    private final JoinScenario scenario = JoinScenario.random(21, false);
    private final List<Chunk> buildChunks = scenario.buildChunks();
    private final List<Chunk> factChunks = scenario.factChunks();
    private final List<String> expected = scenario.results().stream().sorted().toList();
    private final ExecutorService threads = Executors.newFixedThreadPool(SUBTASKS);

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    /** Calls until tables are built, if nothing fails. */
    private int buildCalls() {
        return SUBTASKS + buildChunks.size() + 1;
    }

    @Test
    void shouldLoseNoRowOfAnySubtaskWhereverTheDeviceFails() throws Exception {
        FailingEngines device;
        int goodCalls = 0;
        do {
            device = new FailingEngines(goodCalls);
            List<List<GpuFailure>> fallbacks = run(device);
            long failed = fallbacks.stream().filter(reasons -> !reasons.isEmpty()).count();
            assertThat(fallbacks)
                    .as("goodCalls=%d", goodCalls)
                    .allSatisfy(reasons -> assertThat(reasons).hasSizeLessThan(2));
            // None tries a device again that it saw fail.
            assertThat(device.failedCalls()).as("goodCalls=%d", goodCalls).isEqualTo((int) failed);
            if (goodCalls <= buildCalls()) {
                assertThat(failed).as("goodCalls=%d", goodCalls).isEqualTo(SUBTASKS);
            }
            goodCalls++;
        } while (device.hasFailed());
        assertThat(goodCalls).isGreaterThan(buildCalls() + SUBTASKS * factChunks.size());
    }

    @Test
    void shouldBuildTablesOnce() throws Exception {
        FailingEngines device = new FailingEngines(Integer.MAX_VALUE);
        assertThat(run(device)).containsOnly(List.of());
        assertThat(device.finishedBuilds()).isOne();
    }

    /** Joins in all subtasks; returns why each of them fell back. */
    private List<List<GpuFailure>> run(FailingEngines device) throws Exception {
        SharedTables.Scope scope = new SharedTables.Scope(new JobID(), new OperatorID());
        CyclicBarrier loaded = new CyclicBarrier(SUBTASKS);
        List<List<GpuFailure>> fallbacks = new ArrayList<>();
        List<Callable<List<String>>> subtasks = new ArrayList<>();
        for (int i = 0; i < SUBTASKS; i++) {
            List<GpuFailure> reasons = new ArrayList<>();
            fallbacks.add(reasons);
            subtasks.add(() -> join(device, scope, loaded, reasons));
        }
        for (Future<List<String>> results : threads.invokeAll(subtasks, 30, TimeUnit.SECONDS)) {
            assertThat(results.get()).isEqualTo(expected);
        }
        return fallbacks;
    }

    private List<String> join(
            JoinEngineFactory device,
            SharedTables.Scope scope,
            CyclicBarrier loaded,
            List<GpuFailure> fallbacks)
            throws Exception {
        List<StreamElement> output = new ArrayList<>();
        try (FallbackJoinEngine engine =
                new FallbackJoinEngine(
                        JoinScenario.spec(),
                        SharedTablesEngine.factory(device, scope, MemoryReservations.unlimited()),
                        SharedTablesEngine.factory(
                                new CpuJoinEngineFactory(), scope, MemoryReservations.unlimited()),
                        () -> FallbackJoinEngineTest.reader(buildChunks),
                        e -> fallbacks.add(e.failure()))) {
            buildChunks.forEach(chunk -> engine.submitBuild(0, chunk));
            loaded.await();
            engine.finishBuild();
            loaded.await(); // tables are freed with the last subtask that has them
            ThrowingRunnable<Exception> pump = JoinScenario.pump(engine, output);
            for (Chunk chunk : factChunks) {
                while (!engine.submitProbe(chunk, 0)) {
                    pump.run();
                }
            }
            while (engine.inFlightCount() > 0) {
                pump.run();
            }
            assertThat(engine.current()).isNotInstanceOf(SharedTablesEngine.class);
        }
        return output.stream().map(e -> e.<String>asRecord().getValue()).sorted().toList();
    }
}
