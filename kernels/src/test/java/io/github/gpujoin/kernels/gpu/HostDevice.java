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
import java.nio.file.Path;

/**
 * GPU engines on a device that the CPU emulates: memory is host memory, and CPU threads run the
 * kernels of {@code engine.cu}, compiled for the CPU. One is open at a time.
 */
final class HostDevice implements JoinEngineFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;

    private static boolean kernelsAreLoaded;

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
    static synchronized HostDevice open(GpuOptions options) throws Exception {
        if (!kernelsAreLoaded) {
            Path library = HostProgram.compileLibrary(Path.of("src/test/cuda/host_device.cpp"));
            System.load(library.toAbsolutePath().toString());
            kernelsAreLoaded = true;
        }
        return new HostDevice(options);
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "launch" -> {
                String kernel = (String) arguments[0];
                memory.awaitCopies();
                if (!launchKernel(
                        kernel, (int) arguments[1], (int) arguments[2], (long[]) arguments[3])) {
                    throw new IllegalArgumentException("no such kernel: " + kernel);
                }
                return null;
            }
            case "isIdle" -> {
                return kernelsHaveEnded();
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

    /**
     * Runs a kernel to its end, the serving kernel asynchronously. Returns false for an unknown
     * name.
     */
    private static native boolean launchKernel(
            String kernel, int blocks, int threads, long[] arguments);

    private static native boolean kernelsHaveEnded();
}
