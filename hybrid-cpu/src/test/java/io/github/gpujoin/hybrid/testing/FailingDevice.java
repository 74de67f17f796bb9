// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.function.Function;

/** A device whose engines fail permanently after a number of calls, counted over all engines. */
public final class FailingDevice implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private static final Set<String> CALLS =
            Set.of("create", "submitBuild", "buildStep", "forkLoading", "submitProbe", "poll");

    private final transient Function<JoinSpec, JoinEngine> engines;
    private int goodCalls;
    private boolean failed;

    public FailingDevice(int goodCalls) {
        this(goodCalls, CpuJoinEngine::new);
    }

    /**
     * @param engines creates forkable ones
     */
    public FailingDevice(int goodCalls, Function<JoinSpec, JoinEngine> engines) {
        this.goodCalls = goodCalls;
        this.engines = engines;
    }

    public boolean hasFailed() {
        return failed;
    }

    @Override
    public String engineName() {
        return new ReferenceJoinEngineFactory().engineName();
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        call("create");
        return wrap((ForkableJoinEngine) engines.apply(spec));
    }

    private void call(String name) {
        if (CALLS.contains(name) && goodCalls-- <= 0) {
            failed = true;
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.DEVICE, "told to fail: call=" + name, null);
        }
    }

    private ForkableJoinEngine wrap(ForkableJoinEngine inner) {
        return (ForkableJoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> {
                            try {
                                // All steps of a build count as one call.
                                if (inner.state() != EngineState.BUILDING) {
                                    call(method.getName());
                                }
                                Object result = method.invoke(inner, arguments);
                                return method.getName().equals("forkLoading")
                                        ? wrap((ForkableJoinEngine) result)
                                        : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }
}
