// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.HybridOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Function;

/**
 * Creates hybrid engines for build sides of one partition, with a log in memory.
 *
 * @param device null if there is none
 */
public record LoggedHybrid(
        Function<JoinSpec, JoinEngine> device, Function<JoinSpec, JoinEngine> host)
        implements JoinEngineFactory {

    @Override
    public String engineName() {
        return "hybrid";
    }

    /** A factory defined by a test. */
    public static JoinEngineFactory factory(Function<JoinSpec, JoinEngine> engines) {
        return engines == null
                ? null
                : new JoinEngineFactory() {
                    @Override
                    public String engineName() {
                        return "test";
                    }

                    @Override
                    public JoinEngine create(JoinSpec spec) {
                        return engines.apply(spec);
                    }
                };
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        int dimension = MemoryLog.partitionedDimension(spec);
        MemoryLog log = new MemoryLog(dimension);
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        spec,
                        new HybridOptions(dimension, 0, 1, 0),
                        factory(device),
                        factory(host),
                        log,
                        lost -> {});
        return (JoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {JoinEngine.class},
                        (proxy, method, arguments) -> {
                            try {
                                Object result = method.invoke(engine, arguments);
                                if (method.getName().equals("submitBuild")) {
                                    log.add((int) arguments[0], (Chunk) arguments[1]);
                                }
                                return result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }
}
