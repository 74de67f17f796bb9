// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a subtask does while its tables are made. */
@ExtendWith(RegionLeakExtension.class)
class TableBuildTest {

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    private final JoinScenario scenario = JoinScenario.random(21, true);
    private final SlowToBuild slow = new SlowToBuild();

    /** Engines that do not complete their tables until they are told to. */
    static final class SlowToBuild implements JoinEngineFactory {
        private static final long serialVersionUID = 1L;

        boolean mayComplete;
        private ThrowingRunnable<Exception> onStep = () -> {};

        @Override
        public String engineName() {
            return "slow to build";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            JoinEngine engine = CPU.create(spec);
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {JoinEngine.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("buildStep") && !mayComplete) {
                                    onStep.run();
                                    return false;
                                }
                                try {
                                    return method.invoke(engine, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }
    }

    private JoinHarness loaded() throws Exception {
        JoinHarness harness =
                new JoinHarness(JoinScenario.operator(slow), JoinScenario.MAX_PARALLELISM, 1, 0);
        harness.initializeEmptyState();
        harness.open();
        harness.leaveTablesToMails();
        for (Chunk chunk : scenario.buildChunks()) {
            harness.build(chunk);
        }
        harness.endBuild();
        harness.runMails(3);
        return harness;
    }

    @Test
    void shouldKeepFactsInStateUntilTheTablesAreComplete() throws Exception {
        try (JoinHarness harness = loaded()) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
                harness.runMails(1);
            }
            assertThat(harness.isBuilding()).isTrue();
            assertThat(harness.results()).isEmpty();
            slow.mayComplete = true;
            harness.runMails(10_000);
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldRestoreASnapshotTakenInTheMiddleOfTheBuild() throws Exception {
        OperatorSubtaskState state;
        try (JoinHarness harness = loaded()) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.barrier(1);
            state = harness.snapshot(1, 1);
            assertThat(harness.isBuilding()).isTrue();
        }
        try (JoinHarness restored =
                new JoinHarness(JoinScenario.operator(CPU), JoinScenario.MAX_PARALLELISM, 1, 0)) {
            restored.initializeState(state);
            restored.open();
            restored.endBuild(); // comes again
            restored.runMails(10_000);
            assertThat(restored.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldCompleteTheTablesBeforeItFinishes() throws Exception {
        try (JoinHarness harness = loaded()) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.endProbe();
            assertThat(harness.results()).isEmpty();
            slow.mayComplete = true;
            harness.finish();
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    @Timeout(20)
    void shouldEndBeforeTheTablesAreCompleteWhenCancelled() throws Exception {
        try (JoinHarness harness = loaded()) {
            harness.endProbe();
            slow.onStep =
                    () -> {
                        harness.cancel();
                        // The timeout can interrupt a build that continues.
                        TimeUnit.MILLISECONDS.sleep(1);
                    };
            assertThatExceptionOfType(CancelTaskException.class).isThrownBy(harness::finish);
            assertThat(harness.isBuilding()).isTrue();
            assertThat(harness.results()).isEmpty();
        }
    }
}
