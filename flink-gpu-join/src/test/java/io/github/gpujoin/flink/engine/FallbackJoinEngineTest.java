// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.runtime.JoinScenario;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class FallbackJoinEngineTest {

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    /** Two chunks. */
    private static final int FACTS = 48;

    private final List<GpuFailure> fallbacks = new ArrayList<>();

    /** Rows with no match, with some, and with more than a batch holds. */
    private static JoinScenario scenario() {
        JoinScenario scenario = new JoinScenario(false);
        for (int i = 0; i < 2_500; i++) {
            scenario.buildRow(7, i);
        }
        for (int i = 0; i < 300; i++) {
            scenario.buildRow(9, 10_000 + i);
        }
        // Equal rows are as many results, not one.
        for (int i = 0; i < 700; i++) {
            scenario.buildRow(11, 5);
        }
        for (int i = 0; i < FACTS; i++) {
            scenario.fact(new int[] {8, 9, 7, 11, 8, 8, 8, 8, 8, 9, 8}[i % 11], i);
        }
        return scenario;
    }

    private FallbackJoinEngine engine(
            JoinScenario scenario, JoinEngineFactory preferred, JoinEngineFactory standby) {
        List<Chunk> log = new ArrayList<>();
        FallbackJoinEngine engine =
                new FallbackJoinEngine(
                        JoinScenario.spec(),
                        preferred,
                        standby,
                        () -> reader(log),
                        e -> fallbacks.add(e.failure()));
        for (Chunk chunk : scenario.buildChunks()) {
            log.add(chunk);
            engine.submitBuild(0, chunk);
        }
        engine.finishBuild();
        return engine;
    }

    static FallbackJoinEngine.ChunkReader reader(List<Chunk> log) {
        Iterator<Chunk> chunks = log.iterator();
        return () -> chunks.hasNext() ? chunks.next() : null;
    }

    static IntStream turns() {
        return IntStream.rangeClosed(1, 12);
    }

    @ParameterizedTest(name = "snapshot after {0} turns")
    @MethodSource("turns")
    void shouldGiveEveryResultOnceWhereverTheFirstEngineFails(int turns) throws Exception {
        JoinScenario scenario = scenario();
        List<String> expected = scenario.results().stream().sorted().toList();
        int buildCalls = scenario.buildChunks().size() + 2;
        boolean failed = true;
        for (int goodCalls = 0; failed; goodCalls += goodCalls < buildCalls - 3 ? 29 : 1) {
            fallbacks.clear();
            FailingEngines failing = new FailingEngines(goodCalls);
            List<StreamElement> output = new ArrayList<>();
            List<InFlightProbe> pending =
                    scenario.factChunks().stream()
                            .map(chunk -> new InFlightProbe(chunk, 0))
                            .toList();
            pending = join(scenario, failing, pending, turns, output);
            failed = failing.hasFailed();
            assertThat(fallbacks).isEqualTo(failed ? List.of(GpuFailure.DEVICE_LOST) : List.of());
            pending = join(scenario, null, pending, Integer.MAX_VALUE, output);
            assertThat(pending).isEmpty();
            List<String> results =
                    output.stream().map(e -> e.<String>asRecord().getValue()).sorted().toList();
            assertThat(results).as("goodCalls=%d", goodCalls).isEqualTo(expected);
        }
    }

    /** Joins for so many turns at most; returns what is pending then. */
    private List<InFlightProbe> join(
            JoinScenario scenario,
            JoinEngineFactory preferred,
            List<InFlightProbe> pending,
            int turns,
            List<StreamElement> output)
            throws Exception {
        try (FallbackJoinEngine engine = engine(scenario, preferred, CPU)) {
            ThrowingRunnable<Exception> pump = JoinScenario.pump(engine, output);
            for (InFlightProbe probe : pending) {
                assertThat(engine.submitProbe(probe.chunk(), probe.firstRow())).isTrue();
            }
            for (int i = 0; i < turns && engine.inFlightCount() > 0; i++) {
                pump.run();
            }
            return engine.snapshot();
        }
    }

    @Test
    void shouldCountRowsOverBothEngines() throws Exception {
        JoinScenario scenario = scenario();
        int calls = scenario.buildChunks().size() + 12;
        FailingEngines failing = new FailingEngines(calls);
        try (FallbackJoinEngine engine = engine(scenario, failing, CPU)) {
            for (Chunk chunk : scenario.factChunks()) {
                engine.submitProbe(chunk, 0);
            }
            while (engine.inFlightCount() > 0) {
                engine.poll();
            }
            assertThat(failing.hasFailed()).isTrue();
            assertThat(engine.stats().probeRows()).isEqualTo(FACTS);
            assertThat(engine.stats().resultRows()).isEqualTo(scenario.results().size());
            assertThat(engine.stats().buildRows()).isEqualTo(3_500);
            assertThat(engine.engineName()).isEqualTo("cpu");
            assertThat(engine.reason()).isEqualTo(ReasonCode.DEVICE_LOST);
        }
    }

    @Test
    void shouldNotCatchWhatAStandbyThrows() {
        JoinScenario scenario = scenario();
        JoinEngineFactory standby = new FailingEngines(scenario.buildChunks().size() + 2);
        try (FallbackJoinEngine engine = engine(scenario, null, standby)) {
            assertThatThrownBy(engine::poll).isInstanceOf(GpuUnavailableException.class);
        }
        assertThat(fallbacks).isEmpty();
    }

    @ParameterizedTest(name = "fails after {0} batches")
    @ValueSource(ints = {0, 1})
    void shouldStartOverWhereGroupsAreLost(int batches) throws Exception {
        JoinSpec rows = JoinScenario.spec();
        JoinSpec spec =
                new JoinSpec(
                        rows.factSchema(),
                        rows.dimensions(),
                        List.of(),
                        new Aggregation(List.of(), List.of(new Aggregate(List.of()))));
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 10).fact(1, 0).fact(2, 0);
        Chunk build = scenario.buildChunks().get(0);
        // create, submitBuild, finishBuild, submitProbe
        FailingEngines failing = new FailingEngines(4 + batches);
        try (FallbackJoinEngine engine =
                new FallbackJoinEngine(spec, failing, CPU, () -> reader(List.of(build)), e -> {})) {
            engine.submitBuild(0, build);
            engine.finishBuild();
            engine.submitProbe(scenario.factChunks().get(0), 0);
            while (engine.inFlightCount() > 0) {
                engine.poll();
            }
            if (batches == 0) {
                assertThat(engine.drainGroups().rowCount()).isEqualTo(1);
            } else {
                assertThatIllegalStateException()
                        .isThrownBy(engine::drainGroups)
                        .withMessageContaining("from the last checkpoint");
            }
            assertThat(failing.hasFailed()).isTrue();
        }
    }

    /** As a device that stops in the middle of its first fact, and is gone when it is asked why. */
    @Test
    void shouldGoOnWhereTheFirstEngineFailsBeforeAFactIsInItsGroupsAsAWhole() throws Exception {
        JoinSpec rows = JoinScenario.spec();
        JoinSpec spec =
                new JoinSpec(
                        rows.factSchema(),
                        rows.dimensions(),
                        List.of(),
                        new Aggregation(
                                List.of(JoinColumn.ofFact(0)),
                                List.of(Aggregate.count(), Aggregate.sum(new JoinColumn(0, 1))),
                                1));
        JoinScenario scenario =
                new JoinScenario(false).buildRow(1, 10).buildRow(1, 11).buildRow(2, 7);
        scenario.fact(1, 0).fact(2, 1).fact(1, 2);
        Chunk build = scenario.buildChunks().get(0);
        // create, submitBuild, finishBuild, submitProbe, two polls
        FailingEngines failing = new FailingEngines(6);
        try (FallbackJoinEngine engine =
                new FallbackJoinEngine(spec, failing, CPU, () -> reader(List.of(build)), e -> {})) {
            engine.submitBuild(0, build);
            engine.finishBuild();
            EngineRun run = new EngineRun(engine);
            run.submit(scenario.factChunks().get(0), 0);
            assertThat(run.poll()).isTrue();
            assertThat(engine.poll()).isNull();
            assertThat(engine.awaitsDrain()).isTrue();
            run.drainGroups();
            assertThat(failing.failedCalls()).isEqualTo(1);
            assertThat(run.groups()).as("those of the first engine come again").isEmpty();
            run.drain();
            run.drainGroups();
            assertThat(run.groups())
                    .isEqualTo(Map.of(List.of(1L), List.of(4L, 42L), List.of(2L), List.of(1L, 7L)));
        }
    }
}
