// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * GPU engines on a device that the CPU emulates: memory is host memory, and CPU threads run the
 * kernels of {@code engine.cu}, compiled for the CPU. One is open at a time in a process.
 */
public final class HostDevice implements JoinEngineFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;

    private final transient RefusingDriver memory = new RefusingDriver();
    private final transient GpuOptions options;
    private final transient DeviceLease lease;

    private HostDevice(GpuOptions options) {
        this.options = options;
        this.lease =
                new DeviceLease(
                        (CudaDriver)
                                Proxy.newProxyInstance(
                                        getClass().getClassLoader(),
                                        new Class<?>[] {CudaDriver.class},
                                        (proxy, method, arguments) -> call(method, arguments)),
                        options);
    }

    /** Skips the test without a C++ compiler. */
    public static HostDevice open(GpuOptions options) throws Exception {
        HostKernels.load();
        return new HostDevice(options);
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "launch" -> {
                String kernel = (String) arguments[0];
                memory.awaitCopies();
                if (!HostKernels.launch(
                        kernel, (int) arguments[1], (int) arguments[2], (long[]) arguments[3])) {
                    throw new IllegalArgumentException("no such kernel: " + kernel);
                }
                return null;
            }
            case "isIdle" -> {
                return HostKernels.haveEnded();
            }
            default -> {
                try {
                    return method.invoke(memory, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
    }

    /** Returns the bytes of device memory and pinned memory in use. */
    public long usedBytes() {
        return memory.deviceBytes() + memory.pinnedBytes();
    }

    /** Returns the number of regions of others that the device reads. */
    int registeredCount() {
        return memory.registeredCount();
    }

    /** Makes the device refuse to read memory of others from now on. */
    void refuseRegistrations() {
        memory.refuseRegistrations();
    }

    /** Returns the lease of this device, for parts of an engine. */
    DeviceLease lease() {
        return lease;
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        lease.retain();
        return new GpuJoinEngine(spec, options, lease);
    }

    @Override
    public void close() {
        lease.release();
    }
}
