// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuDirectSupport;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.binding.KernelQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A driver without a device: memory is host memory, kernels do nothing, and calls fail on request.
 * The serving kernel "runs" until a stop is requested. Thread-safe, as a driver is.
 */
final class RefusingDriver implements CudaDriver {

    /** Behaviour of the serving kernel. */
    enum Kernel {
        /** Stops on request. */
        OBEDIENT,
        /** Never ends. */
        STUCK,
        /** Ends by itself. */
        GONE,
        /** Kernels that build tables never end; the driver waits for them when it frees memory. */
        BUILD_STUCK
    }

    /** A copy that was started. */
    record Copy(long deviceAddress, long pinnedAddress, long lengthBytes) {}

    /**
     * Content of new memory: not zero, as with a real driver, and no value that an engine waits
     * for.
     */
    private static final byte UNSPECIFIED = (byte) 0xA5;

    /** Larger memory is filled at the begin of columns only, since tests have few rows. */
    private static final int MAX_FILLED_BYTES = 1 << 20;

    /** Columns of a run begin at multiples. */
    private static final int FILL_INTERVAL_BYTES = BulkRunLayout.RUN_ROWS;

    private final Map<Long, Region> device = new HashMap<>();
    private final Map<Long, Region> pinned = new HashMap<>();
    private final Set<Long> registered = new HashSet<>();
    private final List<Copy> started = new ArrayList<>();
    private long copiesEnded;
    private final List<Copy> startedToHost = new ArrayList<>();
    private long copiesToHostEnded;
    private boolean copiesAreStuck;
    private int allocations;
    private int serveLaunches;
    private int allocationsLeft = Integer.MAX_VALUE;
    private boolean refusesRegistrations;
    private boolean keepsRegistrations;
    private boolean lost;
    private Kernel kernel = Kernel.OBEDIENT;
    private long control;
    private long launch;
    private long ring;
    private long plans;
    private long answeredSteps;
    private boolean builds;
    private boolean closed;

    synchronized void refuseAllocationsAfter(int allocations) {
        allocationsLeft = allocations;
    }

    synchronized void refuseRegistrations() {
        refusesRegistrations = true;
    }

    /** Fails to unregister memory from now on. */
    synchronized void keepRegistrations() {
        keepsRegistrations = true;
    }

    synchronized void loseDevice() {
        lost = true;
    }

    /** Makes no started copy complete. */
    synchronized void stickCopies() {
        copiesAreStuck = true;
    }

    /** Outstanding copies, oldest first. */
    synchronized List<Copy> copiesUnderWay() {
        return List.copyOf(started);
    }

    synchronized void kernelIs(Kernel kernel) {
        this.kernel = kernel;
    }

    /** Completes all posted steps without results. */
    synchronized void answerSteps() {
        long published = Memory.getLong(control + StepDescriptor.CONTROL_PUBLISHED_OFFSET);
        for (; answeredSteps < published; answeredSteps++) {
            long step = ring + answeredSteps % StepRing.ENTRIES * StepDescriptor.STEP_BYTES;
            long plan =
                    plans
                            + (long) PlanDescriptor.PLAN_BYTES
                                    * Memory.getInt(step + StepDescriptor.STEP_PLAN_OFFSET);
            int slot = Memory.getInt(step + StepDescriptor.STEP_SLOT_OFFSET);
            int buffer = Memory.getInt(step + StepDescriptor.STEP_RESULT_BUFFER_OFFSET);
            long segment =
                    Memory.getLong(plan + PlanDescriptor.PLAN_SEGMENTS_OFFSET)
                            + slot
                                    * Memory.getLong(
                                            plan + PlanDescriptor.PLAN_SEGMENT_BYTES_OFFSET);
            long completion =
                    Memory.getLong(plan + PlanDescriptor.PLAN_COMPLETIONS_OFFSET)
                            + (long) StepDescriptor.COMPLETION_BYTES
                                    * (SegmentSlots.RESULT_BUFFERS * slot + buffer);
            Memory.putInt(
                    completion + StepDescriptor.COMPLETION_STATUS_OFFSET, StepDescriptor.STATUS_OK);
            Memory.putInt(
                    completion + StepDescriptor.COMPLETION_COMPLETED_ROWS_OFFSET,
                    Memory.getInt(segment + ChunkDescriptor.ROW_COUNT_OFFSET));
            Memory.putLong(
                    completion + StepDescriptor.COMPLETION_SEQUENCE_OFFSET, answeredSteps + 1);
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Number of launches of the serving kernel. */
    synchronized int serveLaunches() {
        return serveLaunches;
    }

    /** Number of successful allocations. */
    synchronized int allocations() {
        return allocations;
    }

    synchronized long deviceBytes() {
        return lengthBytes(device);
    }

    synchronized long pinnedBytes() {
        return lengthBytes(pinned);
    }

    private static long lengthBytes(Map<Long, Region> memory) {
        return memory.values().stream().mapToLong(Region::lengthBytes).sum();
    }

    /** Frees abandoned memory. */
    synchronized void endProcess() {
        device.values().forEach(Region::close);
        pinned.values().forEach(Region::close);
        device.clear();
        pinned.clear();
    }

    private void requireDevice() {
        if (lost) {
            throw new GpuUnavailableException(GpuFailure.DEVICE_LOST, "told to be lost: lost=true");
        }
    }

    @Override
    public synchronized String deviceName() {
        return "none";
    }

    @Override
    public synchronized int multiprocessors() {
        return 2;
    }

    @Override
    public synchronized int blockSharedBytes() {
        return BulkDevice.SHARED_BYTES;
    }

    @Override
    public synchronized boolean openPeerAccess(int ordinal) {
        requireDevice();
        return true;
    }

    @Override
    public synchronized void closePeerAccess(int ordinal) {
        requireDevice();
    }

    @Override
    public synchronized long freeBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public synchronized long allocateDevice(long lengthBytes) {
        return allocate(device, lengthBytes);
    }

    @Override
    public synchronized void freeDevice(long address) {
        free(device, address);
    }

    @Override
    public synchronized long allocatePinned(long lengthBytes) {
        return allocate(pinned, lengthBytes);
    }

    @Override
    public synchronized void pin(Region region) {
        requireDevice();
        if (refusesRegistrations) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "told to refuse: lengthBytes=" + region.lengthBytes());
        }
        count(region.lengthBytes());
        pinned.put(region.address(), region);
    }

    @Override
    public synchronized void freePinned(long address) {
        free(pinned, address);
    }

    @Override
    public synchronized long registerHost(long address, long lengthBytes) {
        requireDevice();
        if (refusesRegistrations) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY, "told to refuse: lengthBytes=" + lengthBytes);
        }
        if (!registered.add(address)) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "memory is registered twice: address=" + address);
        }
        return address;
    }

    @Override
    public synchronized void unregisterHost(long address) {
        requireDevice();
        if (keepsRegistrations || !registered.remove(address)) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "memory is not registered: address=" + address);
        }
    }

    /** Number of regions of others that are registered. */
    synchronized int registeredCount() {
        return registered.size();
    }

    private long allocate(Map<Long, Region> memory, long lengthBytes) {
        requireDevice();
        count(lengthBytes);
        Region region = Region.allocate(lengthBytes);
        fill(region.address(), lengthBytes);
        memory.put(region.address(), region);
        return region.address();
    }

    private void count(long lengthBytes) {
        if (allocationsLeft-- <= 0) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY, "told to refuse: lengthBytes=" + lengthBytes);
        }
        allocations++;
    }

    private static void fill(long address, long lengthBytes) {
        boolean isLarge = lengthBytes > MAX_FILLED_BYTES;
        int interval = isLarge ? FILL_INTERVAL_BYTES : MAX_FILLED_BYTES;
        int filled = isLarge ? Region.PAGE_BYTES : MAX_FILLED_BYTES;
        for (long offset = 0; offset < lengthBytes; offset += interval) {
            Memory.fill(
                    null, address + offset, Math.min(filled, lengthBytes - offset), UNSPECIFIED);
        }
    }

    private void free(Map<Long, Region> memory, long address) {
        requireDevice();
        if (builds) {
            throw new AssertionError("waits for a kernel for ever: address=" + address);
        }
        memory.remove(address).close();
    }

    @Override
    public synchronized void copyToDevice(long deviceAddress, long hostAddress, long lengthBytes) {
        requireDevice();
        Memory.copy(null, hostAddress, null, deviceAddress, lengthBytes);
    }

    @Override
    public synchronized void copyToHost(long hostAddress, long deviceAddress, long lengthBytes) {
        copyToDevice(hostAddress, deviceAddress, lengthBytes);
    }

    @Override
    public synchronized void copyToHostBeside(
            long pinnedAddress, long deviceAddress, long lengthBytes) {
        copyToHost(pinnedAddress, deviceAddress, lengthBytes);
    }

    @Override
    public synchronized GpuDirectSupport gpuDirect() {
        return new GpuDirectSupport(true, false, 100, 1);
    }

    /** Copies as late as possible, on query, which detects buffers that are refilled too early. */
    @Override
    public synchronized long startCopyToDevice(
            long deviceAddress, long pinnedAddress, long lengthBytes) {
        requireDevice();
        requireWithinAllocation(deviceAddress, lengthBytes);
        started.add(new Copy(deviceAddress, pinnedAddress, lengthBytes));
        return copiesEnded + started.size() - 1;
    }

    /** As a real driver does, even if two allocations adjoin. */
    private void requireWithinAllocation(long address, long lengthBytes) {
        for (Region region : device.values()) {
            long offset = address - region.address();
            if (offset >= 0 && offset + lengthBytes <= region.lengthBytes()) {
                return;
            }
        }
        throw new GpuUnavailableException(
                GpuFailure.DEVICE_LOST,
                "copy is not within an allocation: address=%d, lengthBytes=%d"
                        .formatted(address, lengthBytes));
    }

    /** Completes one copy, and returns the state before it. */
    @Override
    public synchronized boolean hasCopied(long copy) {
        requireDevice();
        boolean isOver = copy < copiesEnded;
        if (!isOver && !copiesAreStuck) {
            end(started.remove(0));
        }
        return isOver;
    }

    private void end(Copy copy) {
        copyToDevice(copy.deviceAddress, copy.pinnedAddress, copy.lengthBytes);
        copiesEnded++;
    }

    @Override
    public synchronized void awaitCopies() {
        requireDevice();
        started.forEach(this::end);
        started.clear();
        startedToHost.forEach(this::endToHost);
        startedToHost.clear();
    }

    /** As late as possible, too, which detects memory of the device that is reused too early. */
    @Override
    public synchronized long startCopyToHost(
            long pinnedAddress, long deviceAddress, long lengthBytes) {
        requireDevice();
        requireWithinAllocation(deviceAddress, lengthBytes);
        startedToHost.add(new Copy(deviceAddress, pinnedAddress, lengthBytes));
        return copiesToHostEnded + startedToHost.size() - 1;
    }

    @Override
    public synchronized boolean hasCopiedToHost(long copy) {
        requireDevice();
        boolean isOver = copy < copiesToHostEnded;
        if (!isOver) {
            endToHost(startedToHost.remove(0));
        }
        return isOver;
    }

    private void endToHost(Copy copy) {
        copyToHost(copy.pinnedAddress, copy.deviceAddress, copy.lengthBytes);
        copiesToHostEnded++;
    }

    @Override
    public synchronized void fillDevice(long deviceAddress, byte value, long lengthBytes) {
        requireDevice();
        Memory.fill(null, deviceAddress, lengthBytes, value);
    }

    @Override
    public synchronized KernelQueue openQueue(boolean isUrgent) {
        throw new GpuUnavailableException(GpuFailure.DEVICE_LOST, "no queues: urgent=" + isUrgent);
    }

    @Override
    public synchronized void load(KernelImage image) {
        requireDevice();
    }

    @Override
    public synchronized void launchWithSharedMemory(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments) {
        launch(kernel, blocks, threads);
    }

    @Override
    public synchronized void launch(String kernelName, int blocks, int threads, long... arguments) {
        requireDevice();
        if (kernelName.equals("gpujoin_serve")) {
            serveLaunches++;
            control = arguments[0];
            ring = arguments[1];
            plans = arguments[5];
            launch = arguments[arguments.length - 1];
        } else {
            builds = kernel == Kernel.BUILD_STUCK;
        }
    }

    private boolean isAskedToStop() {
        int stop = Memory.getInt(control + StepDescriptor.CONTROL_STOP_OFFSET);
        return Integer.toUnsignedLong(stop) == launch;
    }

    @Override
    public synchronized boolean isIdle() {
        requireDevice();
        return switch (kernel) {
            case OBEDIENT -> control == 0 || isAskedToStop();
            case STUCK -> control == 0;
            case GONE -> true;
            case BUILD_STUCK -> !builds;
        };
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
