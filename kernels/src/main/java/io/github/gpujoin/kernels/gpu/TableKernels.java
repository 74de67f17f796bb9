package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.List;

/**
 * Runs kernels over tables, one after the other, while the serving kernel stands still. Kernels
 * take addresses on the device: of tables, of build rows, and of two counters of 64 bits.
 */
final class TableKernels {

    /** Tables that kernels may be told of at once. */
    private static final int TABLES = 2;

    private static final int COUNTERS = 2;
    private static final int THREADS = 256;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final long timeoutNs;
    private final int blocks;
    private final long tables;
    private final long counters;

    /**
     * @param scratch owns some bytes of device memory for it
     * @param timeoutNs for kernels to end in
     */
    TableKernels(DeviceLease lease, Buffers scratch, long timeoutNs) {
        this.lease = lease;
        this.driver = lease.driver();
        this.timeoutNs = timeoutNs;
        this.blocks = driver.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
        this.tables = scratch.device((long) TABLES * PlanDescriptor.DIMENSION_BYTES);
        this.counters = scratch.device((long) COUNTERS * Long.BYTES);
    }

    /**
     * Tells kernels of a table, in place of the one before it.
     *
     * @param place 0 or 1
     * @return address for kernels
     */
    long describe(int place, GpuTable table) {
        long device = tables + (long) place * PlanDescriptor.DIMENSION_BYTES;
        try (Region region = Region.allocateZeroed(PlanDescriptor.DIMENSION_BYTES)) {
            table.write(region.address());
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
        return device;
    }

    /**
     * Tells kernels of the rows that a stream has brought.
     *
     * @param device of as many bytes as the descriptor of its runs has
     */
    void describe(BuildStream stream, long device) {
        List<Long> runs = stream.runs();
        BuildRunLayout layout = stream.runLayout();
        try (Region region = Region.allocateZeroed(layout.descriptorBytes(runs.size()))) {
            layout.writeDescriptor(region.address(), device, runs);
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
    }

    /** Has a kernel run behind those that were launched before it. */
    void launch(String kernel, long... arguments) {
        driver.launch(kernel, blocks, THREADS, arguments);
    }

    /** Waits until the kernels that were launched have ended. */
    void await() {
        lease.awaitIdle(timeoutNs);
    }

    /** Address of a counter, for kernels. */
    long counter(int counter) {
        return counters + (long) counter * Long.BYTES;
    }

    /** Sets all counters to 0, behind kernels that were launched. */
    void clearCounters() {
        driver.fillDevice(counters, (byte) 0, (long) COUNTERS * Long.BYTES);
    }

    /** What a counter is once the kernels that were launched have ended, which it waits for. */
    long readCounter(int counter) {
        await();
        try (Region region = Region.allocate(Long.BYTES)) {
            driver.copyToHost(region.address(), counter(counter), Long.BYTES);
            return Memory.getLong(region.address());
        }
    }
}
