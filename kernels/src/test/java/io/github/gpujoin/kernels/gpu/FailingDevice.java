// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * GPU engines on a device that fails: after a number of successful calls, its driver fails every
 * call. The engines of one job share the device, as in a TaskManager. Closing it frees what the
 * engines could not free, so that the next test starts with an unused device.
 */
public final class FailingDevice implements JoinEngineFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;
    private static final long PARK_NS = 10_000;

    private final transient CudaDriver driver;
    private final transient Map<Long, Boolean> memory = new LinkedHashMap<>();
    private final GpuOptions options;
    private final int goodCalls;
    private final GpuFailure failure;
    private transient DeviceLease lease;
    private int calls;
    private boolean askedIfIdle;
    private long control;
    private long launch;

    private FailingDevice(
            CudaDriver driver, GpuOptions options, int goodCalls, GpuFailure failure) {
        this.driver = driver;
        this.options = options;
        this.goodCalls = goodCalls;
        this.failure = failure;
    }

    /** Uses no device: memory is host memory, and kernels do nothing, so all joins stall. */
    public static FailingDevice fake(GpuOptions options, int goodCalls, GpuFailure failure) {
        return new FailingDevice(new RefusingDriver(), options, goodCalls, failure);
    }

    /** Device 0. */
    public static FailingDevice real(GpuOptions options, int goodCalls, GpuFailure failure) {
        return new FailingDevice(CudaDrivers.open(0), options, goodCalls, failure);
    }

    public boolean hasFailed() {
        return calls > goodCalls;
    }

    /** Ends the serving kernel without a request of an engine. */
    public void stopKernel() {
        if (control != 0) {
            Memory.putInt(control + StepDescriptor.CONTROL_STOP_OFFSET, (int) launch);
        }
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        if (lease == null) {
            lease = new DeviceLease(counted(), options);
        }
        if (lease.isLost()) {
            throw DeviceClaim.lost(lease.device());
        }
        lease.retain();
        return new GpuJoinEngine(spec, options, lease);
    }

    private CudaDriver counted() {
        return (CudaDriver)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {CudaDriver.class},
                        (proxy, method, arguments) -> call(method, arguments));
    }

    private synchronized Object call(Method method, Object[] arguments) throws Throwable {
        if (method.getName().equals("close")) {
            return null;
        }
        boolean asksAgain = method.getName().equals("isIdle") && askedIfIdle;
        askedIfIdle = method.getName().equals("isIdle");
        // The number of polls for the end of the kernel depends on timing, so they count as one
        // call.
        if (!asksAgain) {
            calls++;
        }
        if (calls > goodCalls) {
            throw new GpuUnavailableException(
                    failure, "told to fail: goodCalls=" + goodCalls + ", call=" + method.getName());
        }
        try {
            Object result = method.invoke(driver, arguments);
            remember(method.getName(), arguments, result);
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private void remember(String method, Object[] arguments, Object result) {
        switch (method) {
            case "allocateDevice" -> memory.put((long) result, false);
            case "allocatePinned" -> memory.put((long) result, true);
            case "freeDevice", "freePinned" -> forget((long) arguments[0]);
            case "launch" -> {
                if (arguments[0].equals("gpujoin_serve")) {
                    long[] parameters = (long[]) arguments[3];
                    control = parameters[0];
                    launch = parameters[parameters.length - 1];
                }
            }
            default -> {}
        }
    }

    private void forget(long address) {
        memory.remove(address);
        control = address == control ? 0 : control;
    }

    @Override
    public void close() {
        if (lease != null) {
            lease.release();
        }
        stopKernel();
        if (control != 0) {
            while (!driver.isIdle()) {
                LockSupport.parkNanos(PARK_NS);
            }
        }
        memory.forEach(
                (address, pinned) -> {
                    if (pinned) {
                        driver.freePinned(address);
                    } else {
                        driver.freeDevice(address);
                    }
                });
        driver.close();
    }
}
