// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.MatchIndexFactory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/**
 * A device for symmetric joins that the CPU emulates: memory is host memory, and CPU threads run
 * the kernels of {@code symmetric.cu}, compiled for the CPU. Each index has a device of its own.
 */
public final class HostMatchDevice implements MatchIndexFactory {

    private static final long serialVersionUID = 1L;

    private final transient List<RefusingDriver> memories = new ArrayList<>();
    private final int matchCapacity;

    /** Driver calls until all of them fail. */
    private int callsLeft = Integer.MAX_VALUE;

    private int calls;

    private HostMatchDevice(int matchCapacity) {
        this.matchCapacity = matchCapacity;
    }

    /**
     * Compiles the kernels. Skips the test without a C++ compiler.
     *
     * @param matchCapacity matches that a device returns at once, so that few test pieces
     */
    public static HostMatchDevice open(int matchCapacity) throws Exception {
        HostKernels.load();
        return new HostMatchDevice(matchCapacity);
    }

    /** Makes all driver calls fail after a number of further calls. */
    public void loseAfter(int furtherCalls) {
        callsLeft = furtherCalls;
    }

    /** Returns the number of driver calls of all indexes, polls excepted. */
    public int calls() {
        return calls;
    }

    /** Returns the bytes of device memory and pinned memory in use. */
    public long usedBytes() {
        return memories.stream()
                .mapToLong(memory -> memory.deviceBytes() + memory.pinnedBytes())
                .sum();
    }

    /** Frees memory that lost devices keep. Call it once the indexes are closed. */
    public void endProcess() {
        memories.forEach(RefusingDriver::endProcess);
    }

    private Object call(RefusingDriver memory, Method method, Object[] arguments) throws Throwable {
        // The number of polls depends on timing.
        if (!method.getName().equals("isIdle")) {
            calls++;
            if (callsLeft-- <= 0) {
                memory.loseDevice();
            }
        }
        try {
            Object result = method.invoke(memory, arguments);
            if (method.getName().equals("launch")) {
                String kernel = (String) arguments[0];
                if (!HostKernels.launch(
                        0, kernel, (int) arguments[1], (int) arguments[2], (long[]) arguments[3])) {
                    throw new IllegalArgumentException("no such kernel: " + kernel);
                }
            }
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public String deviceName() {
        return "gpu";
    }

    @Override
    public MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
        RefusingDriver memory = new RefusingDriver();
        memories.add(memory);
        CudaDriver driver =
                (CudaDriver)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CudaDriver.class},
                                (proxy, method, arguments) -> call(memory, method, arguments));
        GpuOptions options = GpuOptions.defaults();
        return GpuMatchIndexFactory.create(
                new DeviceLease(driver, options), options, removesRows, hostMemory, matchCapacity);
    }

    @Override
    public EngineUnavailableException multiJoinUnsupported(int inputs) {
        return new GpuMatchIndexFactory(GpuOptions.defaults()).multiJoinUnsupported(inputs);
    }
}
