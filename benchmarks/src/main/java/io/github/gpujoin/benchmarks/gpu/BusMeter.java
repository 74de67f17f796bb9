// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;

/**
 * What the bus copies between pinned memory and a device, in runs of a bulk join.
 *
 * @param inBytesPerS to the device, while nothing leaves it
 * @param bothBytesPerS in each direction, while both are used
 */
record BusMeter(double inBytesPerS, double bothBytesPerS) {

    /** 49,152 rows of 16 bytes. */
    private static final long RUN_BYTES = 49_152 * 16;

    /** More than the processor's cache holds. */
    private static final int RUNS = 512;

    private static final int COPIES = 8 * RUNS;

    static BusMeter measure(int device) {
        try (CudaDriver driver = CudaDrivers.open(device)) {
            long bytes = RUNS * RUN_BYTES;
            long in = driver.allocatePinned(bytes);
            long out = driver.allocatePinned(bytes);
            long target = driver.allocateDevice(bytes);
            long source = driver.allocateDevice(bytes);
            copy(driver, target, in, 0, 0); // warms up
            double inRate = copy(driver, target, in, 0, 0);
            double bothRate = copy(driver, target, in, out, source);
            driver.freeDevice(source);
            driver.freeDevice(target);
            driver.freePinned(out);
            driver.freePinned(in);
            return new BusMeter(inRate, bothRate);
        }
    }

    /**
     * Copies runs to the device and, if {@code out} is not 0, as many from it.
     *
     * @return bytes a second in each direction
     */
    private static double copy(CudaDriver driver, long target, long in, long out, long source) {
        long startNs = System.nanoTime();
        long lastIn = 0;
        long lastOut = 0;
        for (int i = 0; i < COPIES; i++) {
            long at = i % RUNS * RUN_BYTES;
            lastIn = driver.startCopyToDevice(target + at, in + at, RUN_BYTES);
            if (out != 0) {
                lastOut = driver.startCopyToHost(out + at, source + at, RUN_BYTES);
            }
        }
        while (!driver.hasCopied(lastIn) || (out != 0 && !driver.hasCopiedToHost(lastOut))) {
            Thread.onSpinWait();
        }
        return COPIES * RUN_BYTES / ((System.nanoTime() - startNs) / 1e9);
    }

    /**
     * Returns the least time of a join beyond device memory: all bytes of its inputs cross the bus
     * in and out at once, and in again.
     */
    double outOfCoreS(double inputBytes) {
        return inputBytes / bothBytesPerS + inputBytes / inBytesPerS;
    }
}
