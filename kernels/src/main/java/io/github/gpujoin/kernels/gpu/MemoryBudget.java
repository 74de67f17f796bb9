// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import java.io.Serializable;
import java.lang.management.ManagementFactory;

/**
 * Limits on the memory that all engines of a class loader use together on one device, and on the
 * host memory that they use with all devices. If an allocation would raise the total above the
 * budget of its engine, the engine throws {@link
 * io.github.gpujoin.kernels.binding.GpuUnavailableException} with {@code OUT_OF_DEVICE_MEMORY}.
 *
 * <p>A process has one class loader of this library if the jar is in Flink's lib/, or else one for
 * each job. Two of them never use the same device, but each has its own budget of host memory.
 *
 * @param deviceBytes limit of device memory; {@link #BY_MACHINE} means 90 % of what is free when
 *     the device is opened
 * @param pinnedBytes limit of host memory, pinned or with variable-width columns of build rows;
 *     {@link #BY_MACHINE} means a quarter of the memory of the machine or its container
 * @param keptBytes pinned memory of ended bulk joins that a device keeps for the next ones, in
 *     addition to {@code pinnedBytes}, until no join uses the device
 */
public record MemoryBudget(long deviceBytes, long pinnedBytes, long keptBytes)
        implements Serializable {

    /** Derives a limit from the memory of the device or of the machine. */
    public static final long BY_MACHINE = -1;

    /** The buffers between chunks and the bus of one bulk join, as far as they are of use. */
    public static final long DEFAULT_KEPT_BYTES = 64L << 20;

    private static final long serialVersionUID = 2L;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if a limit is negative and not {@link #BY_MACHINE}
     */
    public MemoryBudget {
        requireBudget("deviceBytes", deviceBytes);
        requireBudget("pinnedBytes", pinnedBytes);
        if (keptBytes < 0) {
            throw new IllegalArgumentException(
                    "Kept memory is negative: keptBytes=" + keptBytes + ". Use 0 to keep none.");
        }
    }

    /** Creates a budget that keeps {@link #DEFAULT_KEPT_BYTES}. */
    public MemoryBudget(long deviceBytes, long pinnedBytes) {
        this(deviceBytes, pinnedBytes, DEFAULT_KEPT_BYTES);
    }

    /** Returns a budget that keeps another amount of pinned memory. */
    public MemoryBudget withKeptBytes(long keptBytes) {
        return new MemoryBudget(deviceBytes, pinnedBytes, keptBytes);
    }

    private static void requireBudget(String name, long bytes) {
        if (bytes < BY_MACHINE) {
            throw new IllegalArgumentException(
                    "Invalid memory budget: "
                            + name
                            + "="
                            + bytes
                            + ". Use 0 or more bytes, or -1 to follow the machine.");
        }
    }

    /** Returns a budget that derives both limits. */
    public static MemoryBudget byMachine() {
        return new MemoryBudget(BY_MACHINE, BY_MACHINE);
    }

    /** Returns what {@link #BY_MACHINE} means for a device in its current state. */
    static MemoryBudget of(CudaDriver driver) {
        long freeBytes = driver.freeBytes();
        var machine =
                ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        return new MemoryBudget(freeBytes - freeBytes / 10, machine.getTotalMemorySize() / 4);
    }

    /** Returns this budget with {@link #BY_MACHINE} replaced by the values of another one. */
    MemoryBudget orElse(MemoryBudget machine) {
        return new MemoryBudget(
                deviceBytes == BY_MACHINE ? machine.deviceBytes : deviceBytes,
                pinnedBytes == BY_MACHINE ? machine.pinnedBytes : pinnedBytes,
                keptBytes);
    }
}
