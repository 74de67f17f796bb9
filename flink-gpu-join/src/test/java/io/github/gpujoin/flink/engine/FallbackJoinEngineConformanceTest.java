// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** A replaced engine behaves as one engine. */
@ParameterizedClass(name = "fails after {0} calls")
@ValueSource(ints = {2, 4, 5, 8})
class FallbackJoinEngineConformanceTest extends JoinEngineConformance {

    @Parameter private int goodCalls;

    @Override
    protected JoinEngineFactory factory() {
        return new LoggedFallback(goodCalls);
    }

    /** Keeps the log that the operator would keep. */
    private record LoggedFallback(int goodCalls) implements JoinEngineFactory {

        @Override
        public String engineName() {
            return "fallback";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            List<Chunk> log = new ArrayList<>();
            FallbackJoinEngine engine =
                    new FallbackJoinEngine(
                            spec,
                            // Groups of an engine that fails are lost: that is not conformance.
                            new FailingEngines(spec.isAggregating() ? 0 : goodCalls),
                            new CpuJoinEngineFactory(),
                            () -> FallbackJoinEngineTest.reader(log),
                            reason -> {});
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {JoinEngine.class},
                            (proxy, method, arguments) -> {
                                boolean builds = method.getName().equals("submitBuild");
                                if (builds) {
                                    log.add((Chunk) arguments[1]);
                                }
                                try {
                                    return method.invoke(engine, arguments);
                                } catch (InvocationTargetException e) {
                                    if (builds) {
                                        log.remove(log.size() - 1);
                                    }
                                    throw e.getCause();
                                }
                            });
        }
    }
}
