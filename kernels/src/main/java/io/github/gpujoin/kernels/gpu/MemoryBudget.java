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
 */
public record MemoryBudget(long deviceBytes, long pinnedBytes) implements Serializable {

    /** Derives a limit from the memory of the device or of the machine. */
    public static final long BY_MACHINE = -1;

    private static final long serialVersionUID = 1L;

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException if a limit is negative and not {@link #BY_MACHINE}
     */
    public MemoryBudget {
        requireBudget("deviceBytes", deviceBytes);
        requireBudget("pinnedBytes", pinnedBytes);
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
                pinnedBytes == BY_MACHINE ? machine.pinnedBytes : pinnedBytes);
    }
}
