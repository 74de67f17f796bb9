// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.List;

/**
 * Runs kernels on tables, one after the other, while the serving kernel is stopped. Owns the device
 * memory of their arguments: table descriptions and two 64-bit counters.
 */
final class TableKernels {

    /** Tables that can be described at once. */
    private static final int TABLES = 2;

    private static final int COUNTERS = 2;

    /** BUILD_THREADS of {@code engine.cu}. */
    private static final int THREADS = 256;

    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

    private final DeviceLease lease;
    private final CudaDriver driver;
    private final long timeoutNs;
    private final int blocks;
    private final long tables;
    private final long counters;

    /**
     * @param scratch owner of the device memory used here
     * @param timeoutNs time within which kernels must end
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
     * Copies the description of a table to the device and replaces the previous one.
     *
     * @param index 0 or 1
     * @return device address of the description
     */
    long describe(int index, GpuTable table) {
        long device = tables + (long) index * PlanDescriptor.DIMENSION_BYTES;
        try (Region region = Region.allocateZeroed(PlanDescriptor.DIMENSION_BYTES)) {
            table.write(region.address());
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
        return device;
    }

    /**
     * Copies the description of runs of build rows to the device.
     *
     * @param device address of memory as large as the descriptor of the runs
     */
    void describe(BuildRunLayout layout, List<Long> runs, long device) {
        try (Region region = Region.allocateZeroed(layout.descriptorBytes(runs.size()))) {
            layout.writeDescriptor(region.address(), device, runs);
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
    }

    /** Queues a kernel after those launched before. */
    void launch(String kernel, long... arguments) {
        driver.launch(kernel, blocks, THREADS, arguments);
    }

    /** Waits until all launched kernels have ended. */
    void await() {
        lease.awaitIdle(timeoutNs);
    }

    /** Returns the device address of a counter. */
    long counter(int counter) {
        return counters + (long) counter * Long.BYTES;
    }

    /** Sets all counters to 0 after all launched kernels. */
    void clearCounters() {
        driver.fillDevice(counters, (byte) 0, (long) COUNTERS * Long.BYTES);
    }

    /** Waits for all launched kernels and returns the value of a counter. */
    long readCounter(int counter) {
        await();
        try (Region region = Region.allocate(Long.BYTES)) {
            driver.copyToHost(region.address(), counter(counter), Long.BYTES);
            return Memory.getLong(region.address());
        }
    }
}
