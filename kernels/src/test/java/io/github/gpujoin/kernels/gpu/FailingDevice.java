// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * GPU engines on devices of which one fails: after a number of successful calls, its driver fails
 * every call. The engines of one job share the devices, as in a TaskManager. Closing them frees
 * what the engines could not free, so that the next test starts with unused devices.
 */
public final class FailingDevice implements JoinEngineFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;
    private static final long PARK_NS = 10_000;

    private final transient List<Member> members = new ArrayList<>();
    private final GpuOptions options;
    private volatile int goodCalls;
    private final GpuFailure failure;
    private transient DeviceGroup group;
    private int calls;

    /** A device. */
    private final class Member {

        private final CudaDriver driver;
        private final boolean fails;
        private final Map<Long, Boolean> memory = new LinkedHashMap<>();
        private boolean askedIfIdle;
        private long control;
        private long launch;

        Member(CudaDriver driver, boolean fails) {
            this.driver = driver;
            this.fails = fails;
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
            if (fails) {
                countCall(method);
            }
            try {
                Object result = method.invoke(driver, arguments);
                remember(method.getName(), arguments, result);
                return result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private void countCall(Method method) {
            boolean asksAgain = method.getName().equals("isIdle") && askedIfIdle;
            askedIfIdle = method.getName().equals("isIdle");
            // The number of polls for the end of the kernel depends on timing, so they count as
            // one call.
            if (!asksAgain) {
                calls++;
            }
            if (calls > goodCalls) {
                throw new GpuUnavailableException(
                        failure,
                        "told to fail: goodCalls=" + goodCalls + ", call=" + method.getName());
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

        private void stopKernel() {
            if (control != 0) {
                Memory.putInt(control + StepDescriptor.CONTROL_STOP_OFFSET, (int) launch);
            }
        }

        private void close() {
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

    private FailingDevice(GpuOptions options, int goodCalls, GpuFailure failure) {
        this.options = options;
        this.goodCalls = goodCalls;
        this.failure = failure;
    }

    /**
     * Uses no device: memory is host memory, and kernels do nothing, so all joins stall. The last
     * of the options' devices fails.
     */
    public static FailingDevice fake(GpuOptions options, int goodCalls, GpuFailure failure) {
        return of(options, goodCalls, failure, device -> new RefusingDriver());
    }

    /** Uses the options' devices, of which the last one fails. */
    public static FailingDevice real(GpuOptions options, int goodCalls, GpuFailure failure) {
        return of(options, goodCalls, failure, CudaDrivers::open);
    }

    private static FailingDevice of(
            GpuOptions options, int goodCalls, GpuFailure failure, IntFunction<CudaDriver> open) {
        FailingDevice devices = new FailingDevice(options, goodCalls, failure);
        int last = options.devices().get(options.devices().size() - 1);
        for (int device : options.devices()) {
            devices.members.add(devices.new Member(open.apply(device), device == last));
        }
        return devices;
    }

    public boolean hasFailed() {
        return calls > goodCalls;
    }

    /** Ends the serving kernel of the last device, whose driver fails all further calls. */
    public void failNow() {
        goodCalls = 0;
        members.get(members.size() - 1).stopKernel();
    }

    /** Ends the serving kernel without a request of an engine. */
    public void stopKernel() {
        members.forEach(Member::stopKernel);
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        if (group == null) {
            group = open();
        }
        for (DeviceLease lease : group.members()) {
            if (lease.isLost()) {
                throw DeviceClaim.lost(lease.device());
            }
        }
        group.retain();
        return new GpuJoinEngine(spec, options, MemoryReservations.unlimited(), group, null);
    }

    private DeviceGroup open() {
        List<DeviceLease> leases = new ArrayList<>();
        try {
            for (int i = 0; i < members.size(); i++) {
                leases.add(
                        new DeviceLease(
                                members.get(i).counted(),
                                options.withDevice(options.devices().get(i))));
            }
            return DeviceGroup.of(leases, options);
        } catch (Throwable e) {
            leases.forEach(DeviceLease::release);
            throw e;
        }
    }

    @Override
    public void close() {
        if (group != null) {
            group.release();
        }
        members.forEach(Member::close);
    }
}
