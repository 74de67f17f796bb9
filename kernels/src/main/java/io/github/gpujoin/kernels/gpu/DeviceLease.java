package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_BYTES;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_HEARTBEAT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_STOP_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.TICKETS_HELD_OFFSET;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
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

    static final int MAX_PLANS = 64;
    static final int SERVE_THREADS = 1024;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 1;
    private static final long NO_TICKET = -1;
    private static final long PARK_NS = 5_000;

    private static final Map<Integer, DeviceLease> SHARED = new HashMap<>();

    private final CudaDriver driver;
    private final DeviceMemory memory;
    private final Buffers buffers;
    private final int blocks;
    private final long control;
    private final long ringAddress;
    private final StepRing ring;
    private final long tickets;
    private final long ticketsBytes;
    private final long plans;
    private final BitSet takenPlans = new BitSet(MAX_PLANS);
    private final AtomicLong epochs = new AtomicLong();
    private final AtomicInteger waiting = new AtomicInteger();
    private int holders = 1;
    private volatile long pauses;
    private long launches;
    private boolean running;
    private boolean lost;

    /** Null where the driver was given. */
    private DeviceClaim claim;

    /** Guards the control words against being read after they are freed. */
    private final Object controlLock = new Object();

    private boolean controlFreed;

    /**
     * The lease of a device, made by the first who asks; each asker releases it once.
     *
     * @param budget for the memory of the lease itself, where it is made
     */
    static DeviceLease acquire(int device, MemoryBudget budget) {
        synchronized (SHARED) {
            DeviceLease lease = SHARED.get(device);
            if (lease == null) {
                lease = open(device, budget);
                SHARED.put(device, lease);
            } else if (lease.isLost()) {
                throw DeviceClaim.lost(device);
            } else {
                lease.retain();
            }
            return lease;
        }
    }

    private static DeviceLease open(int device, MemoryBudget budget) {
        DeviceClaim claim = DeviceClaim.take(device);
        try {
            DeviceLease lease = new DeviceLease(CudaDrivers.open(device), budget);
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
    DeviceLease(CudaDriver driver, MemoryBudget budget) {
        this(driver, budget, BLOCKS_PER_MULTIPROCESSOR);
    }

    /**
     * @param blocksPerMultiprocessor blocks of the serving kernel; all of them must fit at once
     */
    DeviceLease(CudaDriver driver, MemoryBudget budget, int blocksPerMultiprocessor) {
        this.driver = driver;
        try {
            this.memory = new DeviceMemory(driver);
        } catch (Throwable e) {
            driver.close();
            throw e;
        }
        this.buffers = memory.buffers(budget);
        try {
            this.blocks = driver.multiprocessors() * blocksPerMultiprocessor;
            this.control = buffers.pinned(CONTROL_BYTES);
            this.ringAddress = buffers.pinned(StepRing.LENGTH_BYTES);
            this.ticketsBytes = TICKETS_HELD_OFFSET + (long) Long.BYTES * blocks;
            this.tickets = buffers.device(ticketsBytes);
            this.plans = buffers.device((long) MAX_PLANS * PlanDescriptor.PLAN_BYTES);
            Memory.fill(null, control, CONTROL_BYTES, (byte) 0);
            Memory.fill(null, ringAddress, StepRing.LENGTH_BYTES, (byte) 0);
            this.ring = new StepRing(ringAddress);
            writeTickets();
        } catch (Throwable e) {
            buffers.close();
            driver.close();
            throw e;
        }
    }

    /** The next ticket is 0, and no block holds one. */
    private void writeTickets() {
        try (Region region = Region.allocate(ticketsBytes)) {
            Memory.fill(null, region.address(), ticketsBytes, (byte) NO_TICKET);
            Memory.fill(null, region.address(), TICKETS_HELD_OFFSET, (byte) 0);
            driver.copyToDevice(tickets, region.address(), ticketsBytes);
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
        return OrderedMemory.getLongAcquire(control + CONTROL_HEARTBEAT_OFFSET);
    }

    /** As {@link #heartbeat}, for any thread at any time; 0 where the device is closed. */
    long heartbeatIfOpen() {
        synchronized (controlLock) {
            return controlFreed ? 0 : heartbeat();
        }
    }

    /** Gives the device up: its kernel no longer gets on. */
    synchronized void lose() {
        lost = true;
        running = false;
    }

    /** How often the kernel stood still; steps did not move in between. */
    long pauses() {
        return pauses;
    }

    synchronized boolean isLost() {
        return lost;
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
                lost |= e.failure() == GpuFailure.DEVICE_LOST;
                throw e;
            } finally {
                pauses++;
                // Who waits for this lock starts the kernel, rather than stop it once more.
                if (!takenPlans.isEmpty() && !lost && waiting.get() == 0) {
                    start();
                }
            }
        }
    }

    private void start() {
        launches++;
        guarded(
                () ->
                        driver.launch(
                                "gpujoin_serve",
                                blocks,
                                SERVE_THREADS,
                                control,
                                ringAddress,
                                tickets,
                                plans,
                                StepRing.ENTRIES - 1,
                                launches));
        running = true;
    }

    private void stop(long timeoutNs) {
        requireNotLost();
        if (running) {
            OrderedMemory.putLongRelease(control + CONTROL_STOP_OFFSET, launches);
            awaitIdle(timeoutNs);
            running = false;
        }
    }

    /** Waits for launched kernels to end. */
    synchronized void awaitIdle(long timeoutNs) {
        long deadline = System.nanoTime() + timeoutNs;
        guarded(
                () -> {
                    while (!driver.isIdle()) {
                        if (System.nanoTime() - deadline > 0) {
                            throw new GpuUnavailableException(
                                    GpuFailure.KERNEL_STALLED,
                                    "kernels end when asked to: timeoutNs=" + timeoutNs);
                        }
                        LockSupport.parkNanos(PARK_NS);
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

    private void requireNotLost() {
        if (lost) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST, "the device failed before: device=" + this);
        }
    }

    /** What the driver refuses here is not to be had again. */
    private void guarded(Runnable calls) {
        try {
            calls.run();
        } catch (GpuUnavailableException e) {
            lost = true;
            running = false;
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
        if (lost) {
            buffers.abandon();
        } else {
            synchronized (controlLock) {
                controlFreed = true;
                buffers.close();
            }
            driver.close();
        }
        if (claim != null) {
            if (lost) {
                claim.keepAsLost();
            } else {
                claim.release();
            }
        }
    }

    @Override
    public String toString() {
        return "DeviceLease[blocks=" + blocks + ", running=" + running + ", lost=" + lost + "]";
    }
}
