package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.function.LongUnaryOperator;

/**
 * Keeps account of the memory of one device, and of the host memory taken for it: pinned memory,
 * which is taken through {@link Buffers} as the device's is, and what need not be pinned.
 * Thread-safe.
 */
final class DeviceMemory {

    private final CudaDriver driver;
    private final MemoryBudget machine;
    private final Account device = new Account("device");
    private final Account pinned = new Account("pinned");
    private volatile boolean lost;

    /** Bytes of one kind. */
    private static final class Account {
        private final String kind;
        private long usedBytes;
        private long peakBytes;

        Account(String kind) {
            this.kind = kind;
        }

        /** Counts the bytes once the allocation, which must fit the budget, has taken place. */
        synchronized long take(long lengthBytes, long budgetBytes, LongUnaryOperator allocation) {
            if (lengthBytes > budgetBytes - usedBytes) {
                throw new GpuUnavailableException(
                        GpuFailure.OUT_OF_DEVICE_MEMORY,
                        "all engines of a process keep within the "
                                + kind
                                + " memory budget: budgetBytes="
                                + budgetBytes
                                + ", usedBytes="
                                + usedBytes
                                + ", lengthBytes="
                                + lengthBytes);
            }
            long address = allocation.applyAsLong(lengthBytes);
            usedBytes += lengthBytes;
            peakBytes = Math.max(peakBytes, usedBytes);
            return address;
        }

        synchronized void giveBack(long lengthBytes) {
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
        this.machine = MemoryBudget.of(driver);
    }

    /** An owner of memory within a budget. */
    Buffers buffers(MemoryBudget budget) {
        return new Buffers(this, budget.orElse(machine));
    }

    /** The device is lost: what is given back from now on comes back with the process. */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }

    /** Device memory that may still be taken within the budget. */
    long availableDeviceBytes(MemoryBudget budget) {
        return Math.max(0, budget.orElse(machine).deviceBytes() - device.usedBytes());
    }

    MemoryUse use() {
        return new MemoryUse(
                device.usedBytes(), device.peakBytes(), pinned.usedBytes(), pinned.peakBytes());
    }

    /**
     * Device memory of unspecified content.
     *
     * @throws GpuUnavailableException with OUT_OF_DEVICE_MEMORY over the budget, or where the
     *     device has no more
     */
    long takeDevice(long lengthBytes, MemoryBudget budget) {
        return device.take(lengthBytes, budget.deviceBytes(), driver::allocateDevice);
    }

    /** As {@link #takeDevice}, of mapped host memory. */
    long takePinned(long lengthBytes, MemoryBudget budget) {
        return pinned.take(lengthBytes, budget.pinnedBytes(), driver::allocatePinned);
    }

    /** Host memory that is not page-locked, within the budget for what is. */
    Allocator hostWithin(MemoryBudget budget) {
        long limitBytes = budget.orElse(machine).pinnedBytes();
        return new Allocator() {
            @Override
            public Region allocate(long lengthBytes) {
                return takeHost(lengthBytes, limitBytes);
            }

            @Override
            public long availableBytes() {
                return Math.max(0, limitBytes - pinned.usedBytes());
            }
        };
    }

    private Region takeHost(long lengthBytes, long limitBytes) {
        Region[] region = new Region[1];
        try {
            pinned.take(
                    lengthBytes,
                    limitBytes,
                    bytes -> {
                        region[0] = Region.allocate(bytes, () -> pinned.giveBack(bytes));
                        return region[0].address();
                    });
        } catch (OutOfMemoryError e) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "the host has memory for what stays there: lengthBytes=" + lengthBytes,
                    e);
        }
        return region[0];
    }

    void freeDevice(long address, long lengthBytes) {
        device.giveBack(lengthBytes);
        driver.freeDevice(address);
    }

    void freePinned(long address, long lengthBytes) {
        pinned.giveBack(lengthBytes);
        driver.freePinned(address);
    }

    /** Counts memory out that cannot be freed, since its device is lost. */
    void abandonDevice(long lengthBytes) {
        device.giveBack(lengthBytes);
    }

    /** As {@link #abandonDevice}; the host gets it back with the end of the process. */
    void abandonPinned(long lengthBytes) {
        pinned.giveBack(lengthBytes);
    }
}
