// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * CPU engines of a tier that never has room for a partition group, but for some build chunks of a
 * partition.
 */
public final class CrampedEngines {

    private final int maxChunks;
    private final AtomicInteger forks;

    private CrampedEngines(int maxChunks, AtomicInteger forks) {
        this.maxChunks = maxChunks;
        this.forks = forks;
    }

    /**
     * Creates an engine whose first fork is refused; each later fork accepts {@code maxChunks}
     * chunks.
     */
    public static JoinEngine create(JoinSpec spec, int maxChunks) {
        return create(spec, maxChunks, new AtomicInteger());
    }

    /**
     * @param forks counts the forks
     */
    public static JoinEngine create(JoinSpec spec, int maxChunks, AtomicInteger forks) {
        CrampedEngines tier = new CrampedEngines(maxChunks, forks);
        return tier.wrap(new CpuJoinEngine(spec), Integer.MAX_VALUE);
    }

    private ForkableJoinEngine wrap(ForkableJoinEngine inner, int room) {
        int[] left = {room};
        return (ForkableJoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> {
                            String name = method.getName();
                            if (name.equals("forkLoading")) {
                                requireRoom(forks.getAndIncrement() > 0);
                            } else if (name.equals("submitBuild")) {
                                requireRoom(left[0]-- > 0);
                            }
                            try {
                                Object result = method.invoke(inner, arguments);
                                return name.equals("forkLoading")
                                        ? wrap((ForkableJoinEngine) result, maxChunks)
                                        : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private static void requireRoom(boolean room) {
        if (!room) {
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.NO_MEMORY, "told to have no room", null);
        }
    }
}
