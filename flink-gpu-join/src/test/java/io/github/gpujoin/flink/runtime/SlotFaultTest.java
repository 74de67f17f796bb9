// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.rdma.session.SessionException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A payload that is read in place faults, wherever the join reads it. */
@ExtendWith(RegionLeakExtension.class)
class SlotFaultTest {

    /** Fails in a method of the engine, or in the emitter. */
    private record Faulting(String method) implements JoinEngineFactory, ResultEmitter<String> {

        @Override
        public String engineName() {
            return "faulting";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            JoinEngine engine = new CpuJoinEngineFactory().create(spec);
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {JoinEngine.class},
                            (proxy, called, arguments) -> {
                                if (called.getName().equals("close")) {
                                    engine.close();
                                    return null;
                                }
                                faultIn(called.getName());
                                try {
                                    return called.invoke(engine, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }

        @Override
        public void emit(
                ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
            faultIn("emit");
        }

        private void faultIn(String called) {
            if (called.equals(method)) {
                throw new InternalError("a fault occurred in an unsafe memory access operation");
            }
        }
    }

    /** Flink would end the process on the error of the JVM. */
    @ParameterizedTest(name = "in {0}")
    @ValueSource(strings = {"submitProbe", "poll", "emit"})
    void shouldFailTheTaskInsteadOfTheProcess(String method) throws Exception {
        Faulting faulting = new Faulting(method);
        JoinScenario scenario = JoinScenario.random(1, false);
        try (JoinHarness join =
                new JoinHarness(
                        new StarJoinOperatorFactory<>(
                                JoinScenario.settings(
                                        JoinScenario.spec(), EngineSelection.only(faulting), 0),
                                context -> faulting),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0)) {
            join.initializeEmptyState();
            join.open();
            for (Chunk chunk : scenario.buildChunks()) {
                join.build(chunk);
            }
            join.endBuild();
            join.runMails(10);
            assertThatExceptionOfType(SessionException.class)
                    .isThrownBy(
                            () -> {
                                for (Chunk chunk : scenario.factChunks()) {
                                    join.probe(chunk);
                                }
                                join.runMails(10);
                            })
                    .withMessageContaining("The ring's file was truncated or its memory failed");
        }
    }
}
