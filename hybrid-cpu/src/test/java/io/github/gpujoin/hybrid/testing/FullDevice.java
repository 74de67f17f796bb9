// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * A device whose engines need their groups drained before their first batch, like a GPU whose first
 * segment has too many groups.
 */
public final class FullDevice implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String engineName() {
        return "full";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        return wrap(new CpuJoinEngine(spec));
    }

    private static ForkableJoinEngine wrap(ForkableJoinEngine inner) {
        boolean[] drained = {false};
        return (ForkableJoinEngine)
                Proxy.newProxyInstance(
                        FullDevice.class.getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> {
                            boolean full = !drained[0] && inner.inFlightCount() > 0;
                            switch (method.getName()) {
                                case "poll" -> {
                                    if (full) {
                                        return null;
                                    }
                                }
                                case "awaitsDrain" -> {
                                    if (full) {
                                        return true;
                                    }
                                }
                                case "drainGroups" -> {
                                    if (full) {
                                        drained[0] = true;
                                        return new GroupRows(
                                                inner.spec().aggregation(), new long[0]);
                                    }
                                }
                                default -> {}
                            }
                            try {
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
