// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accounts for the memory of one device and for the host memory used with it: pinned memory,
 * allocated through {@link Buffers}, and unpinned memory for variable-width columns. The budget of
 * host memory limits all devices of a class loader together, see {@link MemoryBudget}. Thread-safe.
 */
final class DeviceMemory {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceMemory.class);

    /** Host memory used with all devices of this class loader. */
    private static final Account HOST = new Account("pinned");

    private final CudaDriver driver;
    private final MemoryBudget machineBudget;
    private final Account device = new Account("device");
    private final Account pinned = new Account("pinned");
    private final KeptSlabs kept;
    private volatile boolean lost;

    /** Whether the driver has not yet refused pages that it could allocate itself. */
    private volatile boolean pinsTouchedPages = true;

    /** Used and peak bytes of one kind of memory. */
    private static final class Account {
        private final String kind;
        private long usedBytes;
        private long peakBytes;

        Account(String kind) {
            this.kind = kind;
        }

        /** Allocates within the budget; takes no lock meanwhile. */
        long allocate(long lengthBytes, long budgetBytes, LongUnaryOperator allocation) {
            reserve(lengthBytes, budgetBytes);
            try {
                long address = allocation.applyAsLong(lengthBytes);
                updatePeak();
                return address;
            } catch (Throwable e) {
                release(lengthBytes);
                throw e;
            }
        }

        private synchronized void reserve(long lengthBytes, long budgetBytes) {
            if (lengthBytes > budgetBytes - usedBytes) {
                throw new GpuUnavailableException(
                        GpuFailure.OUT_OF_DEVICE_MEMORY,
                        "Allocation exceeds the %s memory budget: budgetBytes=%d, usedBytes=%d, lengthBytes=%d. Raise the budget."
                                .formatted(kind, budgetBytes, usedBytes, lengthBytes));
            }
            usedBytes += lengthBytes;
        }

        private synchronized void updatePeak() {
            peakBytes = Math.max(peakBytes, usedBytes);
        }

        synchronized void release(long lengthBytes) {
            usedBytes -= lengthBytes;
        }

        synchronized long usedBytes() {
            return usedBytes;
        }

        synchronized long peakBytes() {
            return peakBytes;
        }
    }

    DeviceMemory(CudaDriver driver) {
        this.driver = driver;
        this.machineBudget = MemoryBudget.of(driver);
        this.kept = new KeptSlabs(driver);
    }

    /** Returns an owner of memory within a budget. */
    Buffers buffers(MemoryBudget budget) {
        return buffers(MemoryLimits.of(budget));
    }

    /** Returns an owner of memory within the limits of an engine. */
    Buffers buffers(MemoryLimits limits) {
        return new Buffers(this, limits.withBudget(limits.budget().orElse(machineBudget)));
    }

    /**
     * Marks the device as lost. Memory released from now on is reclaimed when the process exits.
     */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }

    /** Returns the device memory in bytes that is left in the budget. */
    long availableDeviceBytes(MemoryBudget budget) {
        return Math.max(0, capacityBytes(budget) - device.usedBytes());
    }

    /** Returns the device memory in bytes that the budget allows in all. */
    long capacityBytes(MemoryBudget budget) {
        return budget.orElse(machineBudget).deviceBytes();
    }

    MemoryUse use() {
        return new MemoryUse(
                device.usedBytes(), device.peakBytes(), pinned.usedBytes(), pinned.peakBytes());
    }

    /**
     * Allocates device memory with unspecified content.
     *
     * @throws GpuUnavailableException with OUT_OF_DEVICE_MEMORY if the budget or the device has no
     *     room
     */
    long allocateDevice(long lengthBytes, MemoryBudget budget) {
        return device.allocate(lengthBytes, budget.deviceBytes(), driver::allocateDevice);
    }

    /** As {@link #allocateDevice}, but mapped host memory. */
    long allocatePinned(long lengthBytes, MemoryLimits limits) {
        return allocateHost(
                lengthBytes,
                limits.budget().pinnedBytes(),
                limits,
                bytes -> orWithoutKept(() -> driver.allocatePinned(bytes), Runnable::run));
    }

    /** Tries again without kept memory if the driver has none. */
    private long orWithoutKept(LongSupplier allocation, Consumer<Runnable> whileStopped) {
        try {
            return allocation.getAsLong();
        } catch (GpuUnavailableException e) {
            if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY || kept.keptBytes() == 0) {
                throw e;
            }
            whileStopped.accept(() -> kept.freeBeyond(0));
            return allocation.getAsLong();
        }
    }

    /** How a slab is pinned. */
    interface Pinning {

        /** Writes to each page of new memory, while streaming joins continue. */
        void touch(Region pages);

        /** Runs calls of the driver while the serving kernel is stopped. */
        void whileStopped(Runnable calls);
    }

    /**
     * As {@link #allocatePinned}, but kept memory of ended joins, or else memory whose pages the
     * caller touches. The driver pins its own if it cannot pin these. Called while the serving
     * kernel runs.
     *
     * @return at least the length
     */
    KeptSlabs.Slab allocateSlab(long lengthBytes, MemoryLimits limits, Pinning pinning) {
        KeptSlabs.Slab slab = kept.remove(lengthBytes);
        if (slab == null) {
            long address =
                    allocateHost(
                            lengthBytes,
                            limits.budget().pinnedBytes(),
                            limits,
                            bytes ->
                                    orWithoutKept(
                                            () -> pin(bytes, pinning), pinning::whileStopped));
            return new KeptSlabs.Slab(address, lengthBytes);
        }
        try {
            allocateHost(
                    slab.lengthBytes(),
                    limits.budget().pinnedBytes(),
                    limits,
                    bytes -> slab.address());
        } catch (GpuUnavailableException e) {
            pinning.whileStopped(() -> kept.keep(slab, limits.budget().keptBytes()));
            throw e;
        }
        return slab;
    }

    private long pin(long lengthBytes, Pinning pinning) {
        if (pinsTouchedPages) {
            try {
                return pinTouched(lengthBytes, pinning);
            } catch (GpuUnavailableException e) {
                long address = pinByDriver(lengthBytes, pinning);
                pinsTouchedPages = false;
                LOG.warn(
                        "The driver cannot pin pages that threads have touched, and pins its own from now on, which takes longer: lengthBytes={}",
                        lengthBytes,
                        e);
                return address;
            }
        }
        return pinByDriver(lengthBytes, pinning);
    }

    private long pinTouched(long lengthBytes, Pinning pinning) {
        // a page is registered once, and so belongs to one region
        Region region = hostRegion((lengthBytes + Region.PAGE_BYTES - 1) & -Region.PAGE_BYTES);
        try {
            pinning.touch(region);
            pinning.whileStopped(() -> driver.pin(region));
        } catch (Throwable e) {
            region.close();
            throw e;
        }
        return region.address();
    }

    private long pinByDriver(long lengthBytes, Pinning pinning) {
        long[] address = new long[1];
        pinning.whileStopped(() -> address[0] = driver.allocatePinned(lengthBytes));
        return address[0];
    }

    /** Keeps a slab for other joins, within the limits. */
    void freeSlab(KeptSlabs.Slab slab, MemoryLimits limits) {
        releasePinned(slab.lengthBytes(), limits);
        kept.keep(slab, limits.budget().keptBytes());
    }

    /** Returns the pinned memory that no join uses, in bytes. */
    long keptBytes() {
        return kept.keptBytes();
    }

    /** Frees kept memory, when the serving kernel has ended; as {@link Buffers#close}. */
    void freeKept() {
        try {
            kept.freeBeyond(0);
        } catch (GpuUnavailableException e) {
            lose(); // the operating system frees it when the process exits
        }
    }

    private long allocateHost(
            long lengthBytes, long budgetBytes, MemoryLimits limits, LongUnaryOperator allocation) {
        return HOST.allocate(
                lengthBytes,
                budgetBytes,
                bytes ->
                        pinned.allocate(
                                bytes, Long.MAX_VALUE, own -> reserved(own, limits, allocation)));
    }

    private static long reserved(
            long lengthBytes, MemoryLimits limits, LongUnaryOperator allocation) {
        limits.reserveHost(lengthBytes);
        try {
            return allocation.applyAsLong(lengthBytes);
        } catch (Throwable e) {
            limits.hostMemory().release(lengthBytes);
            throw e;
        }
    }

    /**
     * Returns an allocator of unpinned host memory that counts against the limits of pinned memory.
     */
    Allocator hostWithin(MemoryLimits limits) {
        long limitBytes = limits.budget().orElse(machineBudget).pinnedBytes();
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return allocateUnpinned(lengthBytes, limitBytes, limits);
            }

            @Override
            public long availableBytes() {
                long inBudget = Math.max(0, limitBytes - HOST.usedBytes());
                return Math.min(inBudget, limits.hostMemory().availableBytes());
            }
        };
    }

    private Region allocateUnpinned(long lengthBytes, long limitBytes, MemoryLimits limits) {
        Region[] region = new Region[1];
        allocateHost(
                lengthBytes,
                limitBytes,
                limits,
                bytes -> {
                    region[0] = hostRegion(bytes, () -> releasePinned(bytes, limits));
                    return region[0].address();
                });
        return region[0];
    }

    private static Region hostRegion(long lengthBytes) {
        return hostRegion(lengthBytes, () -> {});
    }

    private static Region hostRegion(long lengthBytes, Runnable released) {
        try {
            return Region.allocate(lengthBytes, released);
        } catch (OutOfMemoryError e) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "Host memory exhausted: lengthBytes=" + lengthBytes,
                    e);
        }
    }

    void freeDevice(long address, long lengthBytes) {
        device.release(lengthBytes);
        driver.freeDevice(address);
    }

    void freePinned(long address, long lengthBytes, MemoryLimits limits) {
        releasePinned(lengthBytes, limits);
        driver.freePinned(address);
    }

    private void releasePinned(long lengthBytes, MemoryLimits limits) {
        pinned.release(lengthBytes);
        HOST.release(lengthBytes);
        limits.hostMemory().release(lengthBytes);
    }

    /** Stops counting device memory that is not freed because its device is lost. */
    void abandonDevice(long lengthBytes) {
        device.release(lengthBytes);
    }

    /** As {@link #abandonDevice}, but pinned memory. */
    void abandonPinned(long lengthBytes, MemoryLimits limits) {
        releasePinned(lengthBytes, limits);
    }
}
