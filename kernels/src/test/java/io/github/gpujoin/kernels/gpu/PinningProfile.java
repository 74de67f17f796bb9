// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures how fast memory is pinned: by the driver, and after threads have touched its pages. The
 * first round uses memory that the machine may not have used before, the others use it again.
 * Arguments: GiB, rounds.
 */
public final class PinningProfile {

    /** As long as the slabs of runs that leave the device. */
    private static final long SLAB_BYTES = 48L << 20;

    private static final int[] THREADS = {0, 1, 4, 8, 16};

    private PinningProfile() {}

    public static void main(String[] args) {
        long bytes = (args.length > 0 ? Long.parseLong(args[0]) : 4) << 30;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        try (CudaDriver driver = CudaDrivers.open(0)) {
            for (int round = 0; round < rounds; round++) {
                for (int threads : THREADS) {
                    try (BulkThreads touching = new BulkThreads(threads)) {
                        print(driver, bytes, round, threads, touching);
                    }
                }
                print(driver, bytes, round, 0, null);
            }
        }
    }

    /**
     * @param touching null if the driver allocates the memory
     */
    private static void print(
            CudaDriver driver, long bytes, int round, int threads, BulkThreads touching) {
        long[] touchNs = new long[1];
        List<Long> slabs = new ArrayList<>();
        long startNs = System.nanoTime();
        for (long done = 0; done < bytes; done += SLAB_BYTES) {
            slabs.add(
                    touching == null
                            ? driver.allocatePinned(SLAB_BYTES)
                            : driver.allocatePinned(
                                    SLAB_BYTES,
                                    (address, length) -> {
                                        long touchStartNs = System.nanoTime();
                                        touching.touch(address, length);
                                        touchNs[0] += System.nanoTime() - touchStartNs;
                                    }));
        }
        long pinNs = System.nanoTime() - startNs;
        slabs.forEach(driver::freePinned);
        long freeNs = System.nanoTime() - startNs - pinNs;
        double pinned = (double) SLAB_BYTES * slabs.size();
        System.out.printf(
                "round=%d by=%s threads=%d all_gb_s=%.2f touch_gb_s=%.2f register_gb_s=%.2f free_gb_s=%.2f%n",
                round,
                touching == null ? "driver" : "touch",
                threads,
                pinned / pinNs,
                pinned / touchNs[0],
                pinned / (pinNs - touchNs[0]),
                pinned / freeNs);
    }
}
