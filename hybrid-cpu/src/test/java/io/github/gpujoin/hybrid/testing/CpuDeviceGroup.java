// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/**
 * A device group of CPU engines, each with memory of its own, that cannot access the memory of each
 * other: a table is on one member, or on all of them as a whole. The first member joins for all.
 */
public final class CpuDeviceGroup implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final transient List<Allocator> members;

    public CpuDeviceGroup(List<Allocator> members) {
        this.members = members;
    }

    @Override
    public String engineName() {
        return "group";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        List<CpuJoinEngine> engines = new ArrayList<>();
        members.forEach(member -> engines.add(new CpuJoinEngine(spec, member)));
        return together(engines);
    }

    private static ForkableJoinEngine together(List<CpuJoinEngine> engines) {
        return (ForkableJoinEngine)
                Proxy.newProxyInstance(
                        CpuDeviceGroup.class.getClassLoader(),
                        new Class<?>[] {ForkableJoinEngine.class},
                        (proxy, method, arguments) -> call(engines, method, arguments));
    }

    private static Object call(List<CpuJoinEngine> engines, Method method, Object[] arguments)
            throws Throwable {
        switch (method.getName()) {
            case "submitBuild" -> {
                engines.forEach(e -> e.submitBuild((int) arguments[0], (Chunk) arguments[1]));
                return null;
            }
            case "buildStep" -> {
                boolean areComplete = true;
                for (CpuJoinEngine engine : engines) {
                    areComplete &=
                            engine.state() == EngineState.JOINING
                                    || engine.buildStep((long) arguments[0]);
                }
                return areComplete;
            }
            case "state" -> {
                boolean isBuilding =
                        engines.stream().anyMatch(e -> e.state() == EngineState.BUILDING);
                return isBuilding ? EngineState.BUILDING : engines.get(0).state();
            }
            case "forkLoading" -> {
                int dimension = (int) arguments[0];
                if (arguments.length == 2) {
                    return engines.get((int) arguments[1]).forkLoading(dimension);
                }
                List<CpuJoinEngine> forks = new ArrayList<>();
                engines.forEach(engine -> forks.add(engine.forkLoading(dimension)));
                return together(forks);
            }
            case "tableMemory" -> {
                List<Long> bytes = new ArrayList<>();
                engines.forEach(e -> bytes.addAll(e.tableMemory().availableBytes()));
                return new TableMemory(bytes, true, false);
            }
            case "capacityBytes" -> {
                long sum = 0;
                for (CpuJoinEngine member : engines) {
                    long bytes = member.capacityBytes();
                    sum = bytes > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + bytes;
                }
                return sum;
            }
            case "stats" -> {
                EngineStats first = engines.get(0).stats();
                return new EngineStats(
                        first.buildRows(),
                        first.buildBytes(),
                        engines.stream().mapToLong(e -> e.stats().tableBytes()).sum(),
                        first.probeRows(),
                        first.resultRows());
            }
            case "close" -> {
                engines.forEach(CpuJoinEngine::close);
                return null;
            }
            default -> {
                try {
                    return method.invoke(engines.get(0), arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
    }
}
