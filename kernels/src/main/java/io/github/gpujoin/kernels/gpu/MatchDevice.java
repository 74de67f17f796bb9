// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/** Launches kernels of a symmetric join, and counts them, so that a wait for their end is rare. */
final class MatchDevice {

    static final int THREADS = 256;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 16;

    private final BulkDevice device;
    private long launches;
    private long endedLaunches;

    MatchDevice(BulkDevice device) {
        this.device = device;
    }

    BulkMemory newMemory() {
        return device.newMemory();
    }

    /**
     * Queues a kernel with a thread for each item.
     *
     * @return number of the launch, for {@link #await}
     */
    long launch(String kernel, long items, long... arguments) {
        device.launch(() -> launchNow(kernel, items, arguments));
        return ++launches;
    }

    /** Does the same while the serving kernel is stopped. */
    void launchNow(String kernel, long items, long... arguments) {
        if (items > 0) {
            long blocks = (items + THREADS - 1) / THREADS;
            long most = (long) device.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
            device.driver().launch(kernel, (int) Math.min(blocks, most), THREADS, arguments);
        }
    }

    /** Queues several kernels, and returns the number of the launch. */
    long launch(Runnable kernels) {
        device.launch(kernels);
        return ++launches;
    }

    /** Waits for the end of a launch, and all before it. */
    void await(long launch) {
        if (launch > endedLaunches) {
            long now = launches;
            device.awaitKernels();
            endedLaunches = now;
        }
    }

    /** Fills device memory with zeros after all launched kernels. */
    void clear(long deviceAddress, long lengthBytes) {
        device.launch(() -> clearNow(deviceAddress, lengthBytes));
    }

    /** Does the same while the serving kernel is stopped. */
    void clearNow(long deviceAddress, long lengthBytes) {
        device.driver().fillDevice(deviceAddress, (byte) 0, lengthBytes);
    }

    /** Copies words to the device after all launched kernels. */
    void write(long deviceAddress, long... words) {
        try (Region region = Region.allocate((long) Long.BYTES * words.length)) {
            for (int i = 0; i < words.length; i++) {
                Memory.putLong(region.address() + (long) Long.BYTES * i, words[i]);
            }
            device.launch(
                    () ->
                            device.driver()
                                    .copyToDevice(
                                            deviceAddress, region.address(), region.lengthBytes()));
        }
    }

    /** Reads a word of the device after all launched kernels. */
    long read(long deviceAddress) {
        try (Region region = Region.allocate(Long.BYTES)) {
            device.launch(
                    () -> device.driver().copyToHost(region.address(), deviceAddress, Long.BYTES));
            return Memory.getLong(region.address());
        }
    }

    long memoryBytes() {
        return device.memoryBytes();
    }

    void close() {
        device.close();
    }
}
