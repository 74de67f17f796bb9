// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.runtime.JoinScenario;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RegionLeakExtension.class)
class SharedTablesEngineTest {

    private final SharedTables.Scope scope = new SharedTables.Scope(new JobID(), new OperatorID());
    private final JoinEngineFactory factory =
            SharedTablesEngine.factory(
                    new CpuJoinEngineFactory(), scope, MemoryReservations.unlimited());

    private JoinEngine loaded(List<Chunk> chunks) {
        return loaded(factory, chunks);
    }

    private static JoinEngine loaded(JoinEngineFactory factory, List<Chunk> chunks) {
        JoinEngine engine = factory.create(JoinScenario.spec());
        chunks.forEach(chunk -> engine.submitBuild(0, chunk));
        return engine;
    }

    private static List<String> join(JoinEngine engine, JoinScenario scenario) {
        List<String> results = new ArrayList<>();
        for (Chunk chunk : scenario.factChunks()) {
            assertThat(engine.submitProbe(chunk, 0)).isTrue();
            while (engine.inFlightCount() > 0) {
                ResultBatch batch = engine.poll();
                for (int row = 0; batch != null && row < batch.rowCount(); row++) {
                    long number = batch.chunk().getLong(1, batch.probeRow(row));
                    results.add(number + "|" + batch.getLong(0, 0, row));
                }
            }
        }
        return results;
    }

    @Test
    void shouldHoldReplicatedTablesOnce() {
        JoinScenario scenario = new JoinScenario(false);
        for (int key = 0; key < 100_000; key++) {
            scenario.buildRow(key, key);
        }
        scenario.fact(5, 1).fact(99_999, 2).fact(100_000, 3);
        List<Chunk> chunks = scenario.buildChunks();
        try (JoinEngine first = loaded(chunks);
                JoinEngine second = loaded(reversed(chunks))) {
            first.finishBuild();
            long afterFirst = Region.openBytes();
            second.finishBuild();
            long growth = Region.openBytes() - afterFirst;
            long tableBytes = second.stats().tableBytes();
            // What it has of its own is room for results.
            assertThat(growth).isLessThan(tableBytes / 2);
            first.close();
            assertThat(join(second, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @NeedsGpu
    @Test
    void shouldHoldReplicatedTablesOnceOnADevice() {
        JoinScenario scenario = JoinScenario.random(17, false);
        for (int key = 1_000; key < 100_000; key++) {
            scenario.buildRow(key, key);
        }
        // Buffers for facts and results are small beside the tables.
        GpuOptions few = GpuOptions.defaults().withSlots(4, 1024);
        JoinEngineFactory device =
                SharedTablesEngine.factory(
                        new GpuJoinEngineFactory(few), scope, MemoryReservations.unlimited());
        List<Chunk> chunks = scenario.buildChunks();
        try (JoinEngine first = loaded(device, chunks);
                JoinEngine second = loaded(device, reversed(chunks))) {
            first.finishBuild();
            long afterFirst = deviceBytes(first);
            second.finishBuild();
            assertThat(deviceBytes(second) - afterFirst)
                    .isLessThan(second.stats().tableBytes() / 2);
            assertThat(join(first, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
            first.close();
            assertThat(join(second, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    private static JoinEngine inner(JoinEngine engine) {
        return ((SharedTablesEngine) engine).current();
    }

    private static long deviceBytes(JoinEngine engine) {
        return ((GpuJoinEngine) inner(engine)).memoryUse().deviceBytes();
    }

    @Test
    void shouldBuildItsOwnTablesOfPartitionedRows() {
        JoinScenario scenario = JoinScenario.random(16, true);
        List<Chunk> chunks = scenario.buildChunks();
        try (JoinEngine engine = loaded(chunks)) {
            // They are in the engine already, not kept until the build side is complete.
            assertThat(Region.openCount()).isPositive();
            engine.finishBuild();
            assertThat(join(engine, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldNotShareTablesOfOtherRows() {
        JoinScenario scenario = JoinScenario.random(12, false);
        JoinScenario other = JoinScenario.random(13, false);
        try (JoinEngine first = loaded(scenario.buildChunks());
                JoinEngine second = loaded(other.buildChunks())) {
            first.finishBuild();
            second.finishBuild();
            assertThat(join(first, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
            assertThat(join(second, other)).containsExactlyInAnyOrderElementsOf(other.results());
        }
    }

    @Test
    void shouldNotShareTablesOfAnotherDevice() {
        JoinScenario scenario = JoinScenario.random(15, false);
        List<Chunk> chunks = scenario.buildChunks();
        JoinEngineFactory device =
                SharedTablesEngine.factory(
                        new FailingEngines(Integer.MAX_VALUE),
                        scope,
                        MemoryReservations.unlimited());
        try (JoinEngine onDevice = loaded(device, chunks);
                JoinEngine onCpu = loaded(chunks)) {
            onDevice.finishBuild();
            onCpu.finishBuild();
            assertThat(inner(onDevice)).isNotInstanceOf(CpuJoinEngine.class);
            assertThat(inner(onCpu)).isInstanceOf(CpuJoinEngine.class);
            assertThat(join(onCpu, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldGiveEveryThreadTheSameAnswer() throws Exception {
        JoinScenario scenario = JoinScenario.random(14, false);
        List<Chunk> chunks = scenario.buildChunks();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<List<String>>> subtasks =
                    Collections.nCopies(
                            12,
                            () -> {
                                try (JoinEngine engine = loaded(chunks)) {
                                    engine.finishBuild();
                                    return join(engine, scenario);
                                }
                            });
            for (Future<List<String>> results : threads.invokeAll(subtasks)) {
                assertThat(results.get()).containsExactlyInAnyOrderElementsOf(scenario.results());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void shouldPollWhileAnotherSubtaskBuilds() {
        JoinScenario scenario = JoinScenario.random(18, false);
        List<Chunk> chunks = scenario.buildChunks();
        try (JoinEngine builder = loaded(chunks);
                JoinEngine waiting = loaded(reversed(chunks))) {
            assertThat(builder.buildStep(1)).isFalse();
            for (int i = 0; i < 3; i++) {
                assertThat(waiting.buildStep(1)).isFalse();
                assertThat(waiting.state()).isEqualTo(EngineState.BUILDING);
            }
            builder.finishBuild();
            assertThat(waiting.buildStep(1)).isTrue();
            assertThat(join(waiting, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldBuildInPlaceOfASubtaskThatIsClosedBefore() {
        JoinScenario scenario = JoinScenario.random(19, false);
        List<Chunk> chunks = scenario.buildChunks();
        try (JoinEngine first = loaded(chunks);
                JoinEngine second = loaded(chunks)) {
            assertThat(first.buildStep(1)).isFalse();
            assertThat(second.buildStep(1)).isFalse();
            first.close();
            second.finishBuild();
            assertThat(join(second, scenario))
                    .containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldLetTheNextSubtaskBuildWhereTheFirstOneFails() {
        SharedTables.Key key = new SharedTables.Key(scope, "here", 1, 1, 1);
        try (ForkableJoinEngine failing = new CpuJoinEngine(JoinScenario.spec());
                ForkableJoinEngine next = new CpuJoinEngine(JoinScenario.spec());
                SharedTables first = SharedTables.use(key);
                SharedTables second = SharedTables.use(key)) {
            assertThat(second).isSameAs(first);
            assertThat(first.claim(failing)).isTrue();
            assertThat(second.claim(next)).isFalse();
            first.abandon(failing);
            assertThat(second.claim(next)).isTrue();
            assertThat(first.claim(failing)).isFalse();
            assertThat(second.built()).isNull();
            next.finishBuild();
            second.complete(next);
            assertThat(first.claim(failing)).isFalse();
            try (JoinEngine fork = first.built().fork()) {
                assertThat(fork.inFlightCount()).isZero();
            }
        }
    }

    @Test
    void shouldGiveUpWaitingWhenTheTaskIsCancelled() {
        List<Chunk> chunks = JoinScenario.random(20, false).buildChunks();
        try (JoinEngine builder = loaded(chunks);
                JoinEngine waiting = loaded(chunks)) {
            assertThat(builder.buildStep(1)).isFalse();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> waiting.buildStep(1)).isInstanceOf(CancelTaskException.class);
        } finally {
            Thread.interrupted();
        }
    }

    private static List<Chunk> reversed(List<Chunk> chunks) {
        List<Chunk> reversed = new ArrayList<>(chunks);
        Collections.reverse(reversed);
        return reversed;
    }
}
