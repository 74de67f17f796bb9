// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * GPU engines on devices that the CPU emulates: memory is host memory, which all devices can
 * access, and CPU threads run the kernels of {@code engine.cu}, compiled for the CPU. One object is
 * open at a time in a process.
 */
public final class HostDevice implements JoinEngineFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;

    /** Blocks of two lanes, in grid modes that have several. */
    private static final int BLOCKS_OF_LANES = 4;

    private final transient List<RefusingDriver> memories = new ArrayList<>();
    private final transient GpuOptions options;
    private final transient DeviceGroup group;

    /** Driver calls of a device until all of them fail. */
    private final transient AtomicIntegerArray callsLeft =
            new AtomicIntegerArray(HostKernels.DEVICES);

    private HostDevice(GpuOptions options) {
        this.options = options;
        for (int device = 0; device < callsLeft.length(); device++) {
            callsLeft.set(device, Integer.MAX_VALUE);
        }
        List<DeviceLease> leases = new ArrayList<>();
        for (int device : options.devices()) {
            RefusingDriver memory = new RefusingDriver();
            memories.add(memory);
            leases.add(
                    new DeviceLease(
                            (CudaDriver)
                                    Proxy.newProxyInstance(
                                            getClass().getClassLoader(),
                                            new Class<?>[] {CudaDriver.class},
                                            (proxy, method, arguments) ->
                                                    hasLanes(method)
                                                            ? BLOCKS_OF_LANES
                                                            : call(
                                                                    device, memory, method,
                                                                    arguments)),
                            options.withDevice(device)));
        }
        this.group = DeviceGroup.of(leases, options);
    }

    /** Opens one device for each of the options. Skips the test without a C++ compiler. */
    public static HostDevice open(GpuOptions options) throws Exception {
        HostKernels.load();
        return new HostDevice(options);
    }

    private boolean hasLanes(Method method) {
        return method.getName().equals("multiprocessors")
                && options.gridMode() != GridMode.ADAPTIVE;
    }

    private Object call(int device, RefusingDriver memory, Method method, Object[] arguments)
            throws Throwable {
        // The number of polls depends on timing.
        boolean isPoll = method.getName().equals("isIdle");
        if (!isPoll && callsLeft.getAndDecrement(device) <= 0) {
            memory.loseDevice();
        }
        switch (method.getName()) {
            case "launch" -> {
                String kernel = (String) arguments[0];
                memory.awaitCopies();
                if (!HostKernels.launch(
                        device,
                        kernel,
                        (int) arguments[1],
                        (int) arguments[2],
                        (long[]) arguments[3])) {
                    throw new IllegalArgumentException("no such kernel: " + kernel);
                }
                return null;
            }
            case "isIdle" -> {
                return HostKernels.haveEnded(device);
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
        return memories.stream()
                .mapToLong(memory -> memory.deviceBytes() + memory.pinnedBytes())
                .sum();
    }

    /** Returns the bytes that the driver of one device has not freed. */
    long usedBytes(int member) {
        return memories.get(member).deviceBytes() + memories.get(member).pinnedBytes();
    }

    /** Returns the number of regions of others that the devices read. */
    int registeredCount() {
        return memories.stream().mapToInt(RefusingDriver::registeredCount).sum();
    }

    /** Makes the devices refuse to read memory of others from now on. */
    void refuseRegistrations() {
        memories.forEach(RefusingDriver::refuseRegistrations);
    }

    /** Returns the number of steps that a device has joined. */
    public long steps(int member) {
        return group.members().get(member).ring().laneLoads().stream()
                .mapToLong(LaneLoad::steps)
                .sum();
    }

    /** Makes all further driver calls of a device fail. */
    public void loseDevice(int member) {
        loseDeviceAfter(member, 0);
    }

    /** Makes all driver calls of a device fail after a number of successful ones. */
    void loseDeviceAfter(int member, int calls) {
        callsLeft.set(options.devices().get(member), calls);
    }

    /** Frees memory that lost devices keep. Call it once the devices are closed. */
    public void endProcess() {
        memories.forEach(RefusingDriver::endProcess);
    }

    /** Returns the lease of the first device, for parts of an engine. */
    DeviceLease lease() {
        return group.first();
    }

    /** Returns the devices, for parts of an engine. */
    DeviceGroup group() {
        return group;
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        group.retain();
        return new GpuJoinEngine(spec, options, MemoryReservations.unlimited(), group, null);
    }

    @Override
    public void close() {
        group.release();
    }
}
