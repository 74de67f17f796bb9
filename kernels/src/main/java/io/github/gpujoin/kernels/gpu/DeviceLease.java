package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_HEARTBEAT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_STOP_OFFSET;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A device and its one serving kernel, shared by all engines of the process that use it.
 *
 * <p>The kernel runs while there is a plan to serve. Memory is only allocated and freed while it
 * stands still ({@link #whileStopped}), because the driver may wait for running kernels there; the
 * kernel then goes on where it was, since all its state is in memory. Thread-safe.
 */
final class DeviceLease {

    static final int MAX_PLANS = 256;
    static final int SERVE_THREADS = 1024;

    /** The next one has number 1 again. */
    private static final long LAST_LAUNCH = 0xFFFF_FFFFL;

    private static final int BLOCKS_PER_MULTIPROCESSOR = 1;
    private static final long PARK_NS = 5_000;

    /** How long to look again at once: a park takes ten times as long as it says. */
    private static final long SPIN_NS = 100_000;

    private static final Map<Integer, DeviceLease> SHARED = new HashMap<>();

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
    private final long plans;
    private final BitSet takenPlans = new BitSet(MAX_PLANS);
    private final AtomicLong epochs = new AtomicLong();
    private final AtomicInteger waiting = new AtomicInteger();
    private int holders = 1;
    private volatile long pauses;

    /** Number of the last launch, from 1; the stop word has its 32 bits. */
    long launch;

    private boolean running;

    /** Null where the driver was given. */
    private DeviceClaim claim;

    /** Guards the control words against being read after they are freed. */
    private final Object controlLock = new Object();

    private boolean controlFreed;

    /**
     * The lease of a device, made by the first who asks; each asker releases it once.
     *
     * @param options of the engine that asks: device and grid mode, and where the lease is made the
     *     budget for its own memory
     */
    static DeviceLease acquire(GpuOptions options) {
        int device = options.device();
        synchronized (SHARED) {
            DeviceLease lease = SHARED.get(device);
            if (lease == null) {
                lease = open(options);
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

    private static DeviceLease open(GpuOptions options) {
        DeviceClaim claim = DeviceClaim.take(options.device());
        try {
            DeviceLease lease = new DeviceLease(CudaDrivers.open(options.device()), options);
            lease.claim = claim;
            return lease;
        } catch (Throwable e) {
            claim.release();
            throw e;
        }
    }

    /**
     * @param driver closed with the last release, or here where the device refuses
     */
    DeviceLease(CudaDriver driver, GpuOptions options) {
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
            this.blocks = driver.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
            long controlBytes = GridAllotment.controlBytes(blocks);
            this.control = buffers.pinned(controlBytes);
            this.ringAddress = buffers.pinned(StepRing.LENGTH_BYTES);
            this.grid = buffers.device(StepDescriptor.GRID_BYTES);
            this.laneOf = buffers.device(controlBytes - StepDescriptor.CONTROL_LANE_OF_OFFSET);
            this.plans = buffers.device((long) MAX_PLANS * PlanDescriptor.PLAN_BYTES);
            Memory.fill(null, control, controlBytes, (byte) 0);
            Memory.fill(null, ringAddress, StepRing.LENGTH_BYTES, (byte) 0);
            GridAllotment allotment = new GridAllotment(mode, blocks, control);
            this.ring = new StepRing(control, ringAddress, allotment);
            this.lanes = allotment.lanes();
            this.queues = buffers.device((long) lanes * StepRing.ENTRIES * Long.BYTES);
            // no step is dispatched, and blocks take over the allotment before the first one is
            driver.fillDevice(grid, (byte) 0, StepDescriptor.GRID_BYTES);
            driver.fillDevice(
                    laneOf, (byte) 0, controlBytes - StepDescriptor.CONTROL_LANE_OF_OFFSET);
        } catch (Throwable e) {
            buffers.close();
            driver.close();
            throw e;
        }
    }

    /** The kernel that runs for one engine runs for all. */
    void requireMode(GridMode asked) {
        if (asked != mode) {
            throw new IllegalArgumentException(
                    "engines that share a device have one grid mode: gridMode="
                            + asked
                            + ", running="
                            + mode);
        }
    }

    CudaDriver driver() {
        return driver;
    }

    DeviceMemory memory() {
        return memory;
    }

    /** Blocks of the serving kernel. */
    int blocks() {
        return blocks;
    }

    StepRing ring() {
        return ring;
    }

    /** Different for every engine of the device. */
    long nextEpoch() {
        return epochs.incrementAndGet();
    }

    /** Counts up while the kernel waits for work. */
    long heartbeat() {
        return Memory.getLongAcquire(null, control + CONTROL_HEARTBEAT_OFFSET);
    }

    /** As {@link #heartbeat}, for any thread at any time; 0 where the device is closed. */
    long heartbeatIfOpen() {
        synchronized (controlLock) {
            return controlFreed ? 0 : heartbeat();
        }
    }

    /** Gives the device up: its kernel no longer gets on. */
    synchronized void lose() {
        memory.lose();
        running = false;
    }

    /** How often the kernel stood still; steps did not move in between. */
    long pauses() {
        return pauses;
    }

    boolean isLost() {
        return memory.isLost();
    }

    /** A place for a plan; to be called while stopped. */
    synchronized int takePlan() {
        int plan = takenPlans.nextClearBit(0);
        if (plan >= MAX_PLANS) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "a device serves a limited number of engines: maxEngines=" + MAX_PLANS);
        }
        takenPlans.set(plan);
        return plan;
    }

    synchronized void freePlan(int plan) {
        takenPlans.clear(plan);
    }

    long planAddress(int plan) {
        return plans + (long) plan * PlanDescriptor.PLAN_BYTES;
    }

    /**
     * Runs an action with the device to itself: steps under way are finished first, steps asked for
     * meanwhile wait.
     *
     * @throws GpuUnavailableException where the kernel does not stop in time, or is lost
     */
    void whileStopped(long timeoutNs, Runnable action) {
        waiting.incrementAndGet();
        synchronized (this) {
            waiting.decrementAndGet();
            stop(timeoutNs);
            try {
                action.run();
            } catch (GpuUnavailableException e) {
                if (e.failure() == GpuFailure.DEVICE_LOST) {
                    lose();
                }
                throw e;
            } finally {
                pauses++;
                // Who waits for this lock starts the kernel, rather than stop it once more.
                if (!takenPlans.isEmpty() && !isLost() && waiting.get() == 0) {
                    start();
                }
            }
        }
    }

    private void start() {
        // never 0, which is the stop word before it is written
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
                                plans,
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

    /** Waits for launched kernels to end. */
    synchronized void awaitIdle(long timeoutNs) {
        long start = System.nanoTime();
        guarded(
                () -> {
                    while (!driver.isIdle()) {
                        long waitedNs = System.nanoTime() - start;
                        if (waitedNs > timeoutNs) {
                            throw new GpuUnavailableException(
                                    GpuFailure.KERNEL_STALLED,
                                    "kernels end when asked to: timeoutNs=" + timeoutNs);
                        }
                        if (waitedNs > SPIN_NS) {
                            LockSupport.parkNanos(PARK_NS);
                        } else {
                            Thread.onSpinWait();
                        }
                    }
                });
    }

    /**
     * Checks that the kernel runs.
     *
     * @throws GpuUnavailableException with DEVICE_LOST where it does not
     */
    synchronized void requireRunning() {
        requireNotLost();
        guarded(
                () -> {
                    if (running && driver.isIdle()) {
                        throw new GpuUnavailableException(
                                GpuFailure.DEVICE_LOST,
                                "the serving kernel ends only when asked to: heartbeat="
                                        + heartbeat());
                    }
                });
    }

    /**
     * @throws GpuUnavailableException with DEVICE_LOST
     */
    void requireNotLost() {
        if (isLost()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "the device failed before: device=" + this);
        }
    }

    /** What the driver refuses here is not to be had again. */
    private void guarded(Runnable calls) {
        try {
            calls.run();
        } catch (GpuUnavailableException e) {
            lose();
            throw e;
        }
    }

    /** One more holder, who releases too. */
    void retain() {
        synchronized (SHARED) {
            holders++;
        }
    }

    /** Gives the lease back; the last one to do so closes the device. */
    void release() {
        synchronized (SHARED) {
            if (--holders == 0) {
                SHARED.values().remove(this);
                close();
            }
        }
    }

    /** A lost device is left alone: the driver might wait for its kernel for ever. */
    private synchronized void close() {
        if (isLost()) {
            buffers.abandon();
        } else {
            synchronized (controlLock) {
                controlFreed = true;
                buffers.close();
            }
            driver.close();
        }
        if (claim != null) {
            if (isLost()) {
                claim.keepAsLost();
            } else {
                claim.release();
            }
        }
    }

    @Override
    public String toString() {
        return "DeviceLease[blocks=" + blocks + ", running=" + running + ", lost=" + isLost() + "]";
    }
}
