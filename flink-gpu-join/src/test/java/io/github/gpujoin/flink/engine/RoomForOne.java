// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/** CPU engines with memory for the small tables of one partition group or partition at a time. */
public final class RoomForOne implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private static final long TABLE_BYTES = 24 << 10;

    private final AtomicInteger loads = new AtomicInteger();

    /** What tables may take, besides what engines take without rows. */
    public long tableBytes() {
        return TABLE_BYTES;
    }

    /** How often tables were begun. */
    public int loads() {
        return loads.get();
    }

    @Override
    public String engineName() {
        return "cpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        long limit = emptyEnginesBytes(spec) + TABLE_BYTES;
        CpuJoinEngine engine = new CpuJoinEngine(spec, new MemoryAccount("test").within(limit));
        return (JoinEngine)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("forkLoading")) {
                                loads.incrementAndGet();
                            }
                            try {
                                return method.invoke(engine, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    /** What the shared engine and another one take without rows. */
    private static long emptyEnginesBytes(JoinSpec spec) {
        MemoryAccount account = new MemoryAccount("test");
        try (CpuJoinEngine shared = new CpuJoinEngine(spec, account.within(Long.MAX_VALUE))) {
            shared.finishBuild();
            try (CpuJoinEngine group = shared.forkLoading(0)) {
                group.finishBuild();
            }
        }
        return account.peakBytes();
    }
}
