// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** Engines that return at most an allowed number of batches, and the facts submitted to them. */
final class ThrottledEngines implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final JoinEngineFactory inner;
    private final List<Chunk> submitted = new ArrayList<>();
    private long allowedBatches;

    ThrottledEngines(JoinEngineFactory inner, long allowedBatches) {
        this.inner = inner;
        this.allowedBatches = allowedBatches;
    }

    /** Returns the facts submitted to any of the engines, in order. */
    List<Chunk> submitted() {
        return submitted;
    }

    void allow(long batches) {
        allowedBatches = batches;
    }

    @Override
    public String engineName() {
        return "throttled " + inner.engineName();
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        JoinEngine engine = inner.create(spec);
        return (JoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {JoinEngine.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("poll")
                                    && engine.inFlightCount() > 0
                                    && allowedBatches-- <= 0) {
                                return null;
                            }
                            if (method.getName().equals("submitProbe")) {
                                submitted.add((Chunk) arguments[0]);
                            }
                            try {
                                return method.invoke(engine, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }
}
