// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;

/**
 * Measures how fast memory is pinned: by the driver ({@code by=driver}), after all threads have
 * touched a slab ({@code by=touch}, as joins do), and by threads of which each touches and
 * registers slabs of its own ({@code by=each}).
 *
 * <p>Only the first line is of memory that the process has not used before, and that the machine
 * may not have used: later ones use the same pages again. Arguments: GiB, rounds, and the numbers
 * of threads, separated by commas. So {@code 8 2 8} compares new and used memory for 8 threads.
 */
public final class PinningProfile {

    /** As long as the slabs of runs that leave the device. */
    private static final long SLAB_BYTES = 48L << 20;

    private static final String THREADS = "0,1,4,8,16";

    private final CudaDriver driver;
    private final int slabCount;
    private final int round;

    private PinningProfile(CudaDriver driver, long bytes, int round) {
        this.driver = driver;
        this.slabCount = (int) ((bytes + SLAB_BYTES - 1) / SLAB_BYTES);
        this.round = round;
    }

    public static void main(String[] args) throws InterruptedException {
        long bytes = (args.length > 0 ? Long.parseLong(args[0]) : 4) << 30;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        int[] counts =
                Arrays.stream((args.length > 2 ? args[2] : THREADS).split(","))
                        .mapToInt(Integer::parseInt)
                        .toArray();
        try (CudaDriver driver = CudaDrivers.open(0)) {
            for (int round = 0; round < rounds; round++) {
                PinningProfile profile = new PinningProfile(driver, bytes, round);
                for (int count : counts) {
                    try (BulkThreads threads = new BulkThreads(count)) {
                        profile.touchByAll(threads);
                        profile.pinByEach(threads);
                    }
                }
                profile.pinByDriver();
            }
        }
    }

    private void touchByAll(BulkThreads threads) {
        long touchNs = 0;
        List<Long> slabs = new ArrayList<>();
        long startNs = System.nanoTime();
        while (slabs.size() < slabCount) {
            Region region = Region.allocate(SLAB_BYTES);
            long touchStartNs = System.nanoTime();
            threads.touch(region.address(), SLAB_BYTES);
            touchNs += System.nanoTime() - touchStartNs;
            driver.pin(region);
            slabs.add(region.address());
        }
        print("touch", threads.count(), slabs, startNs, touchNs);
    }

    private void pinByEach(BulkThreads threads) throws InterruptedException {
        long startNs = System.nanoTime();
        List<Future<Long>> pinned = new ArrayList<>();
        for (int slab = 0; slab < slabCount; slab++) {
            pinned.add(threads.submit(this::pinSlab));
        }
        List<Long> slabs = new ArrayList<>();
        for (Future<Long> slab : pinned) {
            slabs.add(BulkThreads.await(slab));
        }
        print("each", threads.count(), slabs, startNs, 0);
    }

    private long pinSlab() {
        Region region = Region.allocate(SLAB_BYTES);
        BulkThreads.touchPages(region.address(), SLAB_BYTES);
        driver.pin(region);
        return region.address();
    }

    private void pinByDriver() {
        List<Long> slabs = new ArrayList<>();
        long startNs = System.nanoTime();
        while (slabs.size() < slabCount) {
            slabs.add(driver.allocatePinned(SLAB_BYTES));
        }
        print("driver", 0, slabs, startNs, 0);
    }

    /** Prints the rates until now, and frees the slabs. */
    private void print(String by, int threads, List<Long> slabs, long startNs, long touchNs) {
        long pinNs = System.nanoTime() - startNs;
        slabs.forEach(driver::freePinned);
        long freeNs = System.nanoTime() - startNs - pinNs;
        double bytes = (double) SLAB_BYTES * slabs.size();
        System.out.printf(
                "round=%d by=%s threads=%d all_gb_s=%.2f touch_gb_s=%.2f register_gb_s=%.2f free_gb_s=%.2f%n",
                round,
                by,
                threads,
                bytes / pinNs,
                bytes / touchNs,
                bytes / (pinNs - touchNs),
                bytes / freeNs);
    }
}
