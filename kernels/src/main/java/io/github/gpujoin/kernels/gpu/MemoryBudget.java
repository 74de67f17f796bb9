package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import java.io.Serializable;
import java.lang.management.ManagementFactory;

/**
 * Limits on what all engines of a process take together of one device and of the host memory taken
 * for it. An engine is refused what would bring the total over its own budget.
 *
 * @param deviceBytes most device memory, {@link #BY_MACHINE}: nine tenths of what is free when the
 *     device is opened
 * @param pinnedBytes most host memory, page-locked or with the carried bytes of build rows, {@link
 *     #BY_MACHINE}: a quarter of the machine's memory (of its container's, where it is in one)
 */
public record MemoryBudget(long deviceBytes, long pinnedBytes) implements Serializable {

    public static final long BY_MACHINE = -1;

    private static final long serialVersionUID = 1L;

    public MemoryBudget {
        requireBudget("deviceBytes", deviceBytes);
        requireBudget("pinnedBytes", pinnedBytes);
    }

    private static void requireBudget(String name, long bytes) {
        if (bytes < BY_MACHINE) {
            throw new IllegalArgumentException(
                    "a memory budget is not negative, or -1 to go by the machine: "
                            + name
                            + "="
                            + bytes);
        }
    }

    public static MemoryBudget byMachine() {
        return new MemoryBudget(BY_MACHINE, BY_MACHINE);
    }

    /** What {@link #BY_MACHINE} means for a device as it is now. */
    static MemoryBudget of(CudaDriver driver) {
        long freeBytes = driver.freeBytes();
        var machine =
                ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        return new MemoryBudget(freeBytes - freeBytes / 10, machine.getTotalMemorySize() / 4);
    }

    /** This budget, with a machine's figures where it goes by the machine. */
    MemoryBudget orElse(MemoryBudget machine) {
        return new MemoryBudget(
                deviceBytes == BY_MACHINE ? machine.deviceBytes : deviceBytes,
                pinnedBytes == BY_MACHINE ? machine.pinnedBytes : pinnedBytes);
    }
}
