// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A device for bulk joins that the CPU emulates, see {@link BulkKernelsOnHost}. Thread-safe. */
final class HostBulkDevice {

    private final RefusingDriver memory = new RefusingDriver();

    /** Driver calls until all of them fail. */
    private int callsLeft = Integer.MAX_VALUE;

    private int calls;
    private boolean refusesNext;
    private @Nullable Thread refusedThread;
    private boolean refusesDevice;
    private boolean refusesPinned;
    private boolean refusesPinnedWhenDividing;
    private boolean divides;
    private int blockSharedBytes = BulkDevice.SHARED_BYTES;
    private final Set<String> launched = new HashSet<>();
    private final List<String> copyThreads = new ArrayList<>();

    /** Opens the device for one join, which closes it. */
    BulkDevices open(GpuOptions options) {
        return group(options, this);
    }

    /** Opens devices that join together, in the order of their numbers. */
    static BulkDevices group(GpuOptions options, HostBulkDevice... devices) {
        return BulkDevices.of(leases(options, devices), options, MemoryReservations.unlimited());
    }

    /** Opens devices that the caller releases. */
    static DeviceGroup leases(GpuOptions options, HostBulkDevice... devices) {
        List<DeviceLease> leases = new ArrayList<>();
        try {
            for (HostBulkDevice device : devices) {
                leases.add(device.lease(options.withDevice(leases.size())));
            }
            return DeviceGroup.of(leases, options);
        } catch (Throwable e) {
            leases.forEach(DeviceLease::release);
            throw e;
        }
    }

    private DeviceLease lease(GpuOptions options) {
        CudaDriver driver =
                (CudaDriver)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CudaDriver.class},
                                (proxy, method, arguments) -> call(method, arguments));
        return new DeviceLease(driver, options);
    }

    /** Refuses the next allocation of device memory. */
    synchronized void refuseNextDeviceAllocation() {
        refusesNext = true;
    }

    /** Refuses the next allocation of device memory by a thread. */
    synchronized void refuseNextDeviceAllocationOf(Thread thread) {
        refusedThread = thread;
    }

    /** Refuses device memory from now on. */
    synchronized void refuseDevice() {
        refusesDevice = true;
    }

    /** Sets the shared memory of a block, in bytes. */
    synchronized void hasBlockSharedBytes(int bytes) {
        blockSharedBytes = bytes;
    }

    /** Refuses pinned memory from now on. */
    synchronized void refusePinned() {
        refusesPinned = true;
    }

    /** Refuses pinned memory once rows are divided by partition. */
    synchronized void refusePinnedWhenDividing() {
        refusesPinnedWhenDividing = true;
    }

    private void refuse(Object lengthBytes) {
        throw new GpuUnavailableException(
                GpuFailure.OUT_OF_DEVICE_MEMORY, "told to refuse: lengthBytes=" + lengthBytes);
    }

    /** One call at a time, as a stream runs one kernel at a time. */
    private synchronized Object call(Method method, Object[] arguments) throws Throwable {
        boolean isPoll = method.getName().equals("isIdle");
        if (!isPoll && calls++ >= callsLeft) {
            memory.loseDevice();
        }
        if (method.getName().equals("blockSharedBytes")) {
            return blockSharedBytes;
        }
        boolean isRefused = refusesNext || refusesDevice || refusedThread == Thread.currentThread();
        if (isRefused && method.getName().equals("allocateDevice")) {
            refusesNext = false;
            refusedThread = null;
            refuse(arguments[0]);
        }
        boolean pins = Set.of("allocatePinned", "pin").contains(method.getName());
        if (pins && (refusesPinned || (refusesPinnedWhenDividing && divides))) {
            refuse(arguments[0]);
        }
        if (method.getName().equals("startCopyToDevice")) {
            copyThreads.add(Thread.currentThread().getName());
        }
        try {
            Object result = method.invoke(memory, arguments);
            if (method.getName().startsWith("launch")) {
                launched.add((String) arguments[0]);
            }
            if (method.getName().equals("launch")) {
                long[] words = (long[]) arguments[3];
                long[][] parameters =
                        Arrays.stream(words)
                                .mapToObj(word -> new long[] {word})
                                .toArray(long[][]::new);
                BulkKernelsOnHost.run((String) arguments[0], parameters);
            } else if (method.getName().equals("launchWithSharedMemory")) {
                divides |= ((String) arguments[0]).startsWith("gpujoin_bulk_count");
                BulkKernelsOnHost.run((String) arguments[0], (long[][]) arguments[4]);
            }
            return result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Makes all driver calls fail after this number of calls. */
    synchronized void failAfter(int calls) {
        callsLeft = calls;
    }

    synchronized void refuseAllocationsAfter(int allocations) {
        memory.refuseAllocationsAfter(allocations);
    }

    /** Whether rows were divided by partition. */
    synchronized boolean hasDivided() {
        return divides;
    }

    /** Returns whether a kernel was launched, by the name between module and width. */
    synchronized boolean launched(String kernel) {
        return launched.stream().anyMatch(name -> name.startsWith("gpujoin_" + kernel));
    }

    synchronized int calls() {
        return calls;
    }

    synchronized int allocations() {
        return memory.allocations();
    }

    /** Returns the bytes of device memory and pinned memory in use. */
    synchronized long usedBytes() {
        return memory.deviceBytes() + memory.pinnedBytes();
    }

    /** Returns the name of the thread of each copy to the device. */
    synchronized List<String> copyThreads() {
        return List.copyOf(copyThreads);
    }

    /** Frees what a join dropped on a lost device. */
    synchronized void endProcess() {
        memory.endProcess();
    }
}
