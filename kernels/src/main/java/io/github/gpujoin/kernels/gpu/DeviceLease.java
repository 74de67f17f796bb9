// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_HEARTBEAT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_STOP_OFFSET;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A device and its one serving kernel, shared by all engines of the process that use the device.
 *
 * <p>The kernel runs while at least one plan is registered. Memory is allocated and freed only
 * while the kernel is stopped ({@link #whileStopped}), because the driver may wait for running
 * kernels. A restarted kernel continues where it stopped, since all its state is in memory.
 * Thread-safe.
 */
final class DeviceLease {

    static final int SERVE_THREADS = 1024;

    /** After this launch number the next one is 1. */
    private static final long LAST_LAUNCH = 0xFFFF_FFFFL;

    private static final int BLOCKS_PER_MULTIPROCESSOR = 1;
    private static final long CLOSE_TIMEOUT_NS = 30_000_000_000L;

    private static final Map<DevicePart, DeviceLease> SHARED = new HashMap<>();

    private final DevicePart device;
    private final CudaDriver driver;
    private final DeviceMemory memory;
    private final Buffers buffers;
    private final GridMode mode;
    private final int blocks;
    private final long control;
    private final long ringAddress;
    private final StepRing ring;
    private final long grid;
    private final long laneOf;
    private final long queues;
    private final int lanes;
    private final PlanEntries plans;
    private final AtomicLong epochs = new AtomicLong();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final HostRegistrations registrations = new HostRegistrations(this);
    private int holderCount = 1;
    private volatile long stopCount;

    /** Number of the last launch, from 1; the stop word holds its 32 bits. */
    long launch;

    private boolean running;
    private boolean isClosed;

    /** Calls of {@link #whileStopped} in progress; their thread holds the lock. */
    private int stopDepth;

    private final DeviceLinks links = new DeviceLinks(this);

    /** Null if the driver was passed in. */
    private @Nullable DeviceClaim claim;

    /** Ensures that the control words are not read after they are freed. */
    private final Object controlLock = new Object();

    private boolean controlFreed;

    /**
     * Returns the lease of a device and opens the device on first use. Each caller releases the
     * lease once.
     *
     * @param options the first device, the grid mode and, when the device is opened, the budget for
     *     the memory of the lease itself
     */
    static DeviceLease acquire(GpuOptions options) {
        return acquire(new DevicePart(options.device(), 0), options);
    }

    /** Does the same for another device than the first of the options. */
    static DeviceLease acquire(DevicePart device, GpuOptions options) {
        synchronized (SHARED) {
            DeviceLease lease = SHARED.get(device);
            if (lease == null) {
                lease = open(device, options, CudaDrivers::open);
                SHARED.put(device, lease);
            } else if (lease.isLost()) {
                throw DeviceClaim.lost(device);
            } else {
                lease.requireMode(options.gridMode());
                lease.retain();
            }
            return lease;
        }
    }

    /**
     * Opens a device that this process does not use.
     *
     * @param drivers opens the driver of a device by its number
     */
    static DeviceLease open(
            DevicePart device, GpuOptions options, IntFunction<CudaDriver> drivers) {
        DeviceClaim claim = DeviceClaim.acquire(device);
        try {
            DeviceLease lease = new DeviceLease(drivers.apply(device.device()), device, options);
            lease.claim = claim;
            return lease;
        } catch (Throwable e) {
            claim.release();
            throw e;
        }
    }

    /**
     * @param driver of the first device of the options; closed with the last release, or here if
     *     the constructor fails
     */
    DeviceLease(CudaDriver driver, GpuOptions options) {
        this(driver, new DevicePart(options.device(), 0), options);
    }

    private DeviceLease(CudaDriver driver, DevicePart device, GpuOptions options) {
        this.device = device;
        this.mode = options.gridMode();
        this.driver = driver;
        try {
            this.memory = new DeviceMemory(driver);
        } catch (Throwable e) {
            driver.close();
            throw e;
        }
        this.buffers = memory.buffers(options.memory());
        try {
            this.blocks =
                    driver.multiprocessors() / options.virtualDevices() * BLOCKS_PER_MULTIPROCESSOR;
            long controlBytes = GridAllotment.controlBytes(blocks);
            this.control = buffers.pinned(controlBytes);
            this.ringAddress = buffers.pinned(StepRing.LENGTH_BYTES);
            this.grid = buffers.device(StepDescriptor.GRID_BYTES);
            this.laneOf = buffers.device(controlBytes - StepDescriptor.CONTROL_LANE_OF_OFFSET);
            this.plans =
                    new PlanEntries(
                            buffers.device(PlanEntries.LENGTH_BYTES),
                            new DecodingMemory(memory.buffers(options.memory()), blocks));
            Memory.fill(null, control, controlBytes, (byte) 0);
            Memory.fill(null, ringAddress, StepRing.LENGTH_BYTES, (byte) 0);
            GridAllotment allotment = new GridAllotment(mode, blocks, control);
            this.ring = new StepRing(control, ringAddress, allotment);
            this.lanes = allotment.lanes();
            this.queues = buffers.device((long) lanes * StepRing.ENTRIES * Long.BYTES);
            // no step is dispatched yet; blocks read the allotment before the first one
            driver.fillDevice(grid, (byte) 0, StepDescriptor.GRID_BYTES);
            driver.fillDevice(
                    laneOf, (byte) 0, controlBytes - StepDescriptor.CONTROL_LANE_OF_OFFSET);
        } catch (Throwable e) {
            buffers.close();
            driver.close();
            throw e;
        }
    }

    /** Checks that an engine uses the grid mode of the running kernel, which all engines share. */
    void requireMode(GridMode asked) {
        if (asked != mode) {
            throw new IllegalArgumentException(
                    "Grid modes of engines on one device differ: gridMode=%s, running=%s. Close the running engines first, or use their mode."
                            .formatted(asked, mode));
        }
    }

    DevicePart device() {
        return device;
    }

    CudaDriver driver() {
        return driver;
    }

    /**
     * Lets the kernels of this device and of another one access each other's memory.
     *
     * @return false if the hardware does not connect them
     * @throws GpuUnavailableException if a kernel does not stop, or a device is lost
     */
    boolean openPeerAccess(DeviceLease peer, long timeoutNs) {
        synchronized (SHARED) {
            return links.open(peer, timeoutNs);
        }
    }

    /** Returns the devices whose kernels stop together with the one of this device. */
    DeviceLinks links() {
        return links;
    }

    DeviceMemory memory() {
        return memory;
    }

    /** Returns the host memory of others that the device reads. */
    HostRegistrations registrations() {
        return registrations;
    }

    /** Returns the number of thread blocks of the serving kernel. */
    int blocks() {
        return blocks;
    }

    StepRing ring() {
        return ring;
    }

    /** Returns the plans of all engines; the kernel runs while there is one. */
    PlanEntries plans() {
        return plans;
    }

    /** Returns an epoch that no other engine of the device has. */
    long nextEpoch() {
        return epochs.incrementAndGet();
    }

    /** Returns the heartbeat, which increases while the kernel waits for work. */
    long heartbeat() {
        return Memory.getLongAcquire(null, control + CONTROL_HEARTBEAT_OFFSET);
    }

    /** Returns the heartbeat, or 0 if the device is closed. Callable by any thread at any time. */
    long heartbeatIfOpen() {
        synchronized (controlLock) {
            return controlFreed ? 0 : heartbeat();
        }
    }

    /** Marks the device as lost after a failure. */
    synchronized void lose() {
        memory.lose();
        running = false;
    }

    /**
     * Marks the device as lost because its kernel does not stop, and with it those whose memory the
     * kernel may still access: the driver would wait for it when they allocate.
     */
    void loseStalled() {
        lose();
        links.together().forEach(lease -> lease.memory.lose());
    }

    /** Returns how often the kernel has been stopped; steps make no progress while it is. */
    long stopCount() {
        return stopCount;
    }

    boolean isLost() {
        return memory.isLost();
    }

    /**
     * Stops the kernel, and those of devices with access to this one, runs an action and starts
     * them again. Claimed steps are completed first; steps posted meanwhile wait.
     *
     * @throws GpuUnavailableException if a kernel does not stop within the timeout, or a device is
     *     lost
     */
    void whileStopped(long timeoutNs, Runnable action) {
        DeviceLinks.whileStopped(List.of(this), timeoutNs, action);
    }

    /**
     * Stops the kernel of this device alone. {@link DeviceLinks} calls it in the order of locks;
     * the action of another caller stops no other device.
     *
     * @param isAlone whether only this device can have failed if the action reports a lost one
     * @param isRequired whether to fail if this device is lost
     */
    void whileThisStopped(boolean isAlone, boolean isRequired, long timeoutNs, Runnable action) {
        waitingCount.incrementAndGet();
        synchronized (this) {
            waitingCount.decrementAndGet();
            if (!isRequired && isLost()) {
                action.run();
                return;
            }
            stop(timeoutNs);
            stopDepth++;
            try {
                action.run();
            } catch (GpuUnavailableException e) {
                if (e.failure() == GpuFailure.DEVICE_LOST) {
                    if (isAlone) {
                        lose();
                    } else {
                        loseUnlessItResponds();
                    }
                }
                throw e;
            } finally {
                stopDepth--;
                stopCount++;
                // A thread that waits for this lock would stop the kernel at once; it starts the
                // kernel itself.
                if (stopDepth == 0
                        && !isClosed
                        && !plans.isEmpty()
                        && !isLost()
                        && waitingCount.get() == 0) {
                    start();
                }
            }
        }
    }

    /** Marks the device as lost if its driver fails, after a failure of one of several devices. */
    void loseUnlessItResponds() {
        try {
            driver.isIdle();
        } catch (GpuUnavailableException e) {
            lose();
        }
    }

    private void start() {
        // never 0, the initial value of the stop word
        launch = launch % LAST_LAUNCH + 1;
        guarded(
                () ->
                        driver.launch(
                                "gpujoin_serve",
                                blocks,
                                SERVE_THREADS,
                                control,
                                ringAddress,
                                grid,
                                laneOf,
                                queues,
                                plans.address(),
                                StepRing.ENTRIES - 1,
                                lanes,
                                launch));
        running = true;
    }

    private void stop(long timeoutNs) {
        requireNotLost();
        if (running) {
            Memory.putIntRelease(null, control + CONTROL_STOP_OFFSET, (int) launch);
            awaitIdle(timeoutNs);
            running = false;
        }
    }

    /**
     * Waits until all launched kernels have ended.
     *
     * @throws GpuUnavailableException with KERNEL_STALLED after the timeout
     */
    synchronized void awaitIdle(long timeoutNs) {
        long start = System.nanoTime();
        guarded(
                () -> {
                    while (!driver.isIdle()) {
                        long waitedNs = System.nanoTime() - start;
                        if (waitedNs > timeoutNs) {
                            throw new GpuUnavailableException(
                                    GpuFailure.KERNEL_STALLED,
                                    "Kernels did not stop in time: timeoutNs=" + timeoutNs);
                        }
                        Backoff.pause(waitedNs);
                    }
                });
    }

    /**
     * Checks that the serving kernel has not ended by itself.
     *
     * @throws GpuUnavailableException with DEVICE_LOST if it has
     */
    synchronized void requireRunning() {
        requireNotLost();
        guarded(
                () -> {
                    if (running && driver.isIdle()) {
                        throw new GpuUnavailableException(
                                GpuFailure.DEVICE_LOST,
                                "Serving kernel ended without a stop request: heartbeat="
                                        + heartbeat());
                    }
                });
    }

    /**
     * Checks that the device is not lost.
     *
     * @throws GpuUnavailableException with DEVICE_LOST if it is
     */
    void requireNotLost() {
        if (isLost()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "Device failed earlier: device=" + this);
        }
    }

    /** Runs driver calls and marks the device as lost if one fails. */
    private void guarded(Runnable calls) {
        try {
            calls.run();
        } catch (GpuUnavailableException e) {
            if (e.failure() == GpuFailure.KERNEL_STALLED) {
                loseStalled();
            } else {
                lose();
            }
            throw e;
        }
    }

    /** Adds a holder, which must call {@link #release}. */
    void retain() {
        synchronized (SHARED) {
            holderCount++;
        }
    }

    /** Removes a holder; the last one closes the device. */
    void release() {
        synchronized (SHARED) {
            if (--holderCount == 0) {
                SHARED.values().remove(this);
                links.close(CLOSE_TIMEOUT_NS, this::close);
            }
        }
    }

    /**
     * Frees the device, all of it if a part fails. A lost device is abandoned, because the driver
     * might never return.
     */
    private synchronized void close() {
        isClosed = true;
        if (!isLost()) {
            loseUnlessItResponds();
        }
        boolean wasLost = isLost();
        try {
            plans.close();
            if (wasLost) {
                registrations.abandon();
                buffers.abandon();
            } else {
                free();
            }
        } finally {
            if (claim != null && wasLost) {
                claim.keepAsLost();
            } else if (claim != null) {
                claim.release();
            }
        }
    }

    private void free() {
        try (driver) {
            registrations.close();
            synchronized (controlLock) {
                controlFreed = true;
                buffers.close();
                memory.freeKept();
            }
        }
    }

    @Override
    public String toString() {
        return "DeviceLease[blocks=" + blocks + ", running=" + running + ", lost=" + isLost() + "]";
    }
}
