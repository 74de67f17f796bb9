// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.CollectorOutput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(RegionLeakExtension.class)
class RowPumpTest {

    /** Rows with no match, with some, and with more than a batch holds. */
    private static JoinScenario scenario() {
        JoinScenario scenario = new JoinScenario(false);
        for (int i = 0; i < 2_500; i++) {
            scenario.buildRow(7, i);
        }
        for (int i = 0; i < 300; i++) {
            scenario.buildRow(9, 10_000 + i);
        }
        for (int i = 0; i < 38; i++) {
            scenario.fact(new int[] {8, 9, 7, 9, 9, 7}[i % 6], i);
        }
        return scenario;
    }

    static Stream<Arguments> engines() {
        JoinEngineFactory cpu = new CpuJoinEngineFactory();
        JoinEngineFactory reference = new ReferenceJoinEngineFactory();
        return Stream.of(
                Arguments.of("cpu", "cpu", cpu, cpu),
                Arguments.of("reference", "cpu", reference, cpu),
                Arguments.of("cpu", "reference", cpu, reference));
    }

    private static final class Run implements AutoCloseable {
        final JoinEngine engine;
        final List<StreamElement> output = new ArrayList<>();
        final FanOutMonitor fanOut = JoinScenario.fanOutWatch();
        final TimerGauge idle = new TimerGauge();
        final RowPump<String> pump;
        int completedChunks;
        boolean cancelled;

        Run(JoinEngineFactory factory, JoinScenario scenario) {
            this(factory, scenario, new TextEmitter());
        }

        Run(JoinEngineFactory factory, JoinScenario scenario, ResultEmitter<String> emitter) {
            engine = factory.create(JoinScenario.spec());
            scenario.buildChunks().forEach(chunk -> engine.submitBuild(0, chunk));
            engine.finishBuild();
            pump =
                    new RowPump<>(
                            new EnginePolls(engine, idle),
                            emitter,
                            new CollectorOutput<>(output),
                            chunk -> completedChunks++,
                            fanOut,
                            this::checkNotCancelled);
        }

        private void checkNotCancelled() {
            if (cancelled) {
                throw new CancelTaskException();
            }
        }

        @Override
        public void close() {
            engine.close();
        }
    }

    @ParameterizedTest(name = "{0} then {1}")
    @MethodSource("engines")
    void shouldSayAfterEveryTurnExactlyWhatWasEmitted(
            String before, String after, JoinEngineFactory first, JoinEngineFactory second)
            throws Exception {
        JoinScenario scenario = scenario();
        List<String> expected = scenario.results().stream().sorted().toList();
        int stoppedInside = 0;
        for (int turns = 0; ; turns++) {
            List<StreamElement> results;
            List<InFlightProbe> pending;
            boolean done;
            try (Run run = new Run(first, scenario)) {
                for (Chunk chunk : scenario.factChunks()) {
                    run.engine.submitProbe(chunk, 0);
                }
                for (int i = 0; i < turns; i++) {
                    run.pump.emitNext();
                }
                results = run.output;
                pending = run.engine.snapshot();
                done = run.engine.inFlightCount() == 0;
                assertThat(run.completedChunks).isEqualTo(done ? 1 : 0);
            }
            stoppedInside += done || results.isEmpty() ? 0 : 1;
            try (Run run = new Run(second, scenario)) {
                run.engine.restore(pending);
                while (run.pump.emitNext()) {
                    // until nothing is left
                }
                results.addAll(run.output);
            }
            assertThat(sorted(results)).isEqualTo(expected);
            if (done) {
                break;
            }
        }
        assertThat(stoppedInside).isGreaterThan(3);
    }

    private static final int SLICE = 7;

    /** Emits a few rows at once, as behind a slow output. */
    private static final class SlicingEmitter implements ResultEmitter<String> {
        private final TextEmitter rows = new TextEmitter();

        @Override
        public void emit(
                ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
            rows.emit(batch, fromRow, toRow, output);
        }

        @Override
        public int sliceRows() {
            return SLICE;
        }
    }

    @ParameterizedTest(name = "{0} then {1}")
    @MethodSource("engines")
    void shouldSayHowFarABatchIsEmittedInSlices(
            String before, String after, JoinEngineFactory first, JoinEngineFactory second)
            throws Exception {
        JoinScenario scenario = new JoinScenario(false);
        for (int i = 0; i < 90; i++) {
            scenario.buildRow(i % 30, i).fact(i % 45, i);
        }
        List<String> expected = scenario.results().stream().sorted().toList();
        int cuts = 0;
        for (int turns = 0; ; turns++) {
            List<StreamElement> results;
            List<InFlightProbe> pending;
            boolean done;
            try (Run run = new Run(first, scenario, new SlicingEmitter())) {
                for (Chunk chunk : scenario.factChunks()) {
                    run.engine.submitProbe(chunk, 0);
                }
                for (int i = 0; i < turns; i++) {
                    int emitted = run.output.size();
                    run.pump.emitNext();
                    assertThat(run.output.size() - emitted).isLessThan(SLICE + 3);
                }
                results = run.output;
                pending = run.pump.emitted(run.engine.snapshot());
                cuts += run.pump.holdsBatch() ? 1 : 0;
                done = run.engine.inFlightCount() == 0 && !run.pump.holdsBatch();
            }
            try (Run run = new Run(second, scenario)) {
                run.engine.restore(pending);
                while (run.pump.emitNext()) {
                    // until nothing is left
                }
                results.addAll(run.output);
            }
            assertThat(sorted(results)).isEqualTo(expected);
            if (done) {
                break;
            }
        }
        assertThat(cuts).isGreaterThan(10);
    }

    @Test
    void shouldNotWaitForTheRestOfARowOnceTheTaskIsCancelled() {
        JoinScenario scenario = scenario();
        JoinEngineFactory oneBatch = new ThrottledEngines(new CpuJoinEngineFactory(), 1);
        try (Run run = new Run(oneBatch, scenario)) {
            scenario.factChunks().forEach(chunk -> run.engine.submitProbe(chunk, 0));
            run.cancelled = true;
            assertThatExceptionOfType(CancelTaskException.class)
                    .isThrownBy(
                            () -> {
                                for (int i = 0; i < 3; i++) {
                                    run.pump.emitNext();
                                }
                            });
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("engines")
    void shouldCountTheResultsOfAFactWithMoreThanABatchHolds(
            String name, String other, JoinEngineFactory engine, JoinEngineFactory unused)
            throws Exception {
        JoinScenario scenario = scenario();
        try (Run run = new Run(engine, scenario)) {
            for (Chunk chunk : scenario.factChunks()) {
                run.engine.submitProbe(chunk, 0);
            }
            while (run.pump.emitNext()) {
                // until nothing is left
            }
            assertThat(run.fanOut.maxFanOut()).isEqualTo(2_500);
        }
    }

    private static List<String> sorted(List<StreamElement> results) {
        return results.stream().map(e -> e.<String>asRecord().getValue()).sorted().toList();
    }
}
